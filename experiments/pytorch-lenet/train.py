#!/usr/bin/env python3
r"""LeNet on MNIST in PyTorch, one peer of a cluster: what `ako train` does with experiments/mnist.

    ako launch experiments/mnist/cluster.yaml --set model=external -- \
        python3 experiments/pytorch-lenet/train.py

Optimizer, schedule and budget are those of the file, read here again by their names.
"""

import gzip
import math
import pathlib
import struct

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import ako

DATA = pathlib.Path(__file__).resolve().parent.parent / "mnist" / "data"
BATCH, RATE, MOMENTUM, DECAY, WARM_UP = 32, 0.05, 0.9, 0.0005, 0.1  # as in the cluster file


def read_idx(name):
    path = DATA / name
    raw = path.read_bytes() if path.exists() else gzip.open(f"{path}.gz").read()
    dimensions = raw[3]
    shape = struct.unpack(f">{dimensions}I", raw[4:4 + 4 * dimensions])
    return np.frombuffer(raw, np.uint8, offset=4 + 4 * dimensions).reshape(shape)


def load(part):
    images = torch.from_numpy(read_idx(f"{part}-images-idx3-ubyte").astype(np.float32))
    labels = torch.from_numpy(read_idx(f"{part}-labels-idx1-ubyte").astype(np.int64))
    return TensorDataset((images.unsqueeze(1) / 255 - 0.1307) / 0.3081, labels)


def lenet():
    return nn.Sequential(nn.Conv2d(1, 20, 5), nn.MaxPool2d(2), nn.ReLU(),
                         nn.Conv2d(20, 50, 5), nn.MaxPool2d(2), nn.ReLU(),
                         nn.Flatten(), nn.Linear(800, 500), nn.ReLU(), nn.Linear(500, 10))


def judge(model, test):
    """Accuracy and mean loss on the test set."""
    images, labels = test.tensors
    with torch.no_grad():
        scores = torch.cat([model(part) for part in images.split(1000)])
    loss = nn.functional.cross_entropy(scores, labels).item()
    return (scores.argmax(1) == labels).float().mean().item(), loss


def rate_at(progress):
    """Of the rate, as the cluster file's schedule has it."""
    if progress < WARM_UP:
        return max(progress / WARM_UP, 1e-3)
    return 0.5 * (1 + math.cos(math.pi * (progress - WARM_UP) / (1 - WARM_UP)))


def main():
    torch.set_num_threads(1)
    torch.manual_seed(1)  # all peers begin alike
    model = lenet()
    optimizer = torch.optim.SGD(model.parameters(), lr=RATE, momentum=MOMENTUM, nesterov=True,
                                weight_decay=DECAY)
    train, test = load("train"), load("t10k")
    with ako.join(model=model, optimizer=optimizer) as peer:
        schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda _: rate_at(peer.progress))
        loader = DataLoader(train, batch_size=BATCH, sampler=peer.sampler(train))
        criterion = nn.CrossEntropyLoss()
        mark = 1
        for images, labels in peer.rounds(loader):
            optimizer.zero_grad()
            loss = criterion(model(images), labels)
            loss.backward()
            optimizer.step()
            schedule.step()
            peer.loss(loss)
            if peer.evaluates and peer.standing.progress * peer.standing.epochs >= mark:
                mark += 1
                with peer.anchor():
                    peer.announce(*judge(model, test))
        peer.finish(evaluate=lambda: judge(model, test))


if __name__ == "__main__":
    main()
