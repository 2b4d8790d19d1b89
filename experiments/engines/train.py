"""One peer of a PyTorch program under an engine, which keeps its own checkpoint: what the peers
agree on, now and then. Started again, as after a time limit, all go on from that.

    ako submit experiments/engines/program.yaml --engine slurm --requeue-always --time 10 \\
        -- python3 experiments/engines/train.py {name} /shared/checkpoint.pt
"""

import os
import pathlib
import sys
import time

import torch
from torch import nn

import ako

SAMPLES, FEATURES, CLASSES = 2000, 16, 4
KEPT_EVERY = 25  # rounds of the first peer


def points():
    random = torch.Generator().manual_seed(3)
    centres = torch.randn(CLASSES, FEATURES, generator=random)
    labels = torch.arange(SAMPLES) % CLASSES
    return torch.utils.data.TensorDataset(
        centres[labels] + torch.randn(SAMPLES, FEATURES, generator=random), labels)


def keep(peer, model, path):
    """A file that is there is whole."""
    with peer.anchor():
        torch.save(model.state_dict(), path.with_suffix(".new"))
    os.replace(path.with_suffix(".new"), path)


def main():
    name, path = sys.argv[1], pathlib.Path(sys.argv[2])
    torch.set_num_threads(1)
    torch.manual_seed(1)
    data = points()
    model = nn.Sequential(nn.Linear(FEATURES, 64), nn.ReLU(), nn.Linear(64, CLASSES))
    if path.exists():
        model.load_state_dict(torch.load(path))
        print("goes on from", path, flush=True)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    with ako.join(model=model, optimizer=optimizer) as peer:
        loader = torch.utils.data.DataLoader(data, batch_size=20, sampler=peer.sampler(data))
        for made, (x, y) in enumerate(peer.rounds(loader)):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            peer.loss(loss)
            if name == "p1" and made % KEPT_EVERY == KEPT_EVERY - 1:
                keep(peer, model, path)
            time.sleep(0.02)
        report = peer.finish()
    print("identical", report.identical, "with", *report.finished_with, flush=True)


if __name__ == "__main__":
    main()
