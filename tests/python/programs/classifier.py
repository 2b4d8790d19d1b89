"""One peer that trains a torch classifier of three noisy clusters of points.

    classifier.py FILE PEER [--optimizer adamw] [--workers 2 --method fork] ..

prints one line of JSON: the report, the loss of the agreed parameters over the whole data set, and
a digest of the model's own state. Accuracies are of the evaluation with the anchor.
"""

import argparse
import hashlib
import json
import sys
import time
import warnings

import torch
from torch import nn

import ako

SAMPLES, FEATURES, CLASSES = 1200, 8, 3


class Points(torch.utils.data.Dataset):
    """Sorted by class, as folders of images are."""

    def __init__(self):
        random = torch.Generator().manual_seed(3)
        centres = torch.randn(CLASSES, FEATURES, generator=random) * 2
        self.y = torch.arange(CLASSES).repeat_interleave(SAMPLES // CLASSES)
        self.x = centres[self.y] + torch.randn(SAMPLES, FEATURES, generator=random)

    def __len__(self):
        return SAMPLES

    def __getitem__(self, index):
        return self.x[index], self.y[index]


def make_model(extra, seed):
    torch.manual_seed(seed)
    layers = [nn.Linear(FEATURES, 16), nn.BatchNorm1d(16), nn.ReLU()]
    if extra:
        layers += [nn.Linear(16, 16), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(16, CLASSES))


def make_optimizer(name, model):
    if name == "recipe":  # biases and normalisation do not decay
        return torch.optim.AdamW(
            [{"params": [it for it in model.parameters() if it.dim() > 1], "weight_decay": 0.1},
             {"params": [it for it in model.parameters() if it.dim() <= 1], "weight_decay": 0}],
            lr=0.01)
    if name == "adamw":
        return torch.optim.AdamW(model.parameters(), lr=0.01)
    return torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)


def test(model, data):
    """Accuracy and loss over the whole data set."""
    model.eval()
    with torch.no_grad():
        scores = model(data.x)
        loss = nn.functional.cross_entropy(scores, data.y).item()
        accuracy = (scores.argmax(1) == data.y).float().mean().item()
    model.train()
    return accuracy, loss


def state_digest(model):
    """Of what is exchanged: all of the state but the counts of batches."""
    digest = hashlib.sha256()
    for name, value in model.state_dict().items():
        if value.dtype == torch.float32:
            digest.update(name.encode() + value.numpy().tobytes())
    return digest.hexdigest()


def make_scheduler(recipe, peer, optimizer):
    if recipe:
        return torch.optim.lr_scheduler.LambdaLR(optimizer, lambda _: 1 - 0.9 * peer.progress)
    return torch.optim.lr_scheduler.StepLR(optimizer, 50, 0.9)


def step_with_recipe(model, optimizer, scheduler, batch, steps):
    """Half of a step: autocast, two batches to a gradient, which is clipped; the loss."""
    x, y = batch
    with torch.autocast("cpu", torch.bfloat16):
        loss = nn.functional.cross_entropy(model(x).float(), y)
    (loss / 2).backward()
    if steps % 2 == 1:
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        scheduler.step()
    return loss


def step(model, optimizer, scheduler, batch, _):
    x, y = batch
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    scheduler.step()
    return loss


def train(arguments, model, optimizer, data):
    recipe = arguments.optimizer == "recipe"
    make_step = step_with_recipe if recipe else step
    evaluated = []
    with ako.join(arguments.file, arguments.peer, model, optimizer,
                  initial=arguments.initial, samples_per_round=40 if recipe else None,
                  set=[f"training.epochs={arguments.epochs}"]) as peer:
        scheduler = make_scheduler(recipe, peer, optimizer)
        loader = torch.utils.data.DataLoader(
            data, 20, sampler=peer.sampler(data), num_workers=arguments.workers,
            multiprocessing_context=arguments.method if arguments.workers else None)
        for made, batch in enumerate(peer.rounds(loader)):
            if made == 0:
                print("began", file=sys.stderr, flush=True)
            peer.loss(make_step(model, optimizer, scheduler, batch, made))
            if made % 20 == 10 and peer.evaluates:
                with peer.anchor():
                    evaluated.append(test(model, data)[0])
                peer.announce(evaluated[-1])
            time.sleep(arguments.sleep)
        report = peer.finish(lambda: test(model, data))
    return report, evaluated


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("peer")
    parser.add_argument("--epochs", type=float, default=8)
    parser.add_argument("--optimizer", default="sgd")
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--method", default="fork")
    parser.add_argument("--seed", type=int, default=1, help="of the model")
    parser.add_argument("--initial", default="same", help="see ako.join")
    parser.add_argument("--extra", action="store_true", help="the model has another layer")
    parser.add_argument("--sleep", type=float, default=0.002, help="seconds a round takes")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("error", UserWarning)
    data, model = Points(), make_model(arguments.extra, arguments.seed)
    optimizer = make_optimizer(arguments.optimizer, model)
    report, evaluated = train(arguments, model, optimizer, data)
    print(json.dumps({**report.json, "evaluated": evaluated, "final_loss": test(model, data)[1],
                      "state": state_digest(model)}))


if __name__ == "__main__":
    main()
