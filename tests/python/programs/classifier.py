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


def make_model(extra):
    torch.manual_seed(1)
    layers = [nn.Linear(FEATURES, 16), nn.BatchNorm1d(16), nn.ReLU()]
    if extra:
        layers += [nn.Linear(16, 16), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(16, CLASSES))


def make_optimizer(name, model):
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


def train(arguments, model, optimizer, data):
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 50, 0.9)
    evaluated = []
    with ako.join(arguments.file, arguments.peer, model, optimizer,
                  set=[f"training.epochs={arguments.epochs}"]) as peer:
        loader = torch.utils.data.DataLoader(
            data, 20, sampler=peer.sampler(data), num_workers=arguments.workers,
            multiprocessing_context=arguments.method if arguments.workers else None)
        for made, (x, y) in enumerate(peer.rounds(loader)):
            if made == 0:
                print("began", file=sys.stderr, flush=True)
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            scheduler.step()
            peer.loss(loss)
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
    parser.add_argument("--extra", action="store_true", help="the model has another layer")
    parser.add_argument("--sleep", type=float, default=0.002, help="seconds a round takes")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("error", UserWarning)
    data, model = Points(), make_model(arguments.extra)
    optimizer = make_optimizer(arguments.optimizer, model)
    report, evaluated = train(arguments, model, optimizer, data)
    print(json.dumps({**report.json, "evaluated": evaluated, "final_loss": test(model, data)[1],
                      "state": state_digest(model)}))


if __name__ == "__main__":
    main()
