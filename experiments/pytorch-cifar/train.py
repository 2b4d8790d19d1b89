#!/usr/bin/env python3
"""One worker that trains ResNet-20 on CIFAR-10: experiments/pytorch-shaped/run.py starts it.

The data are those of experiments/cifar10/fetch, or in the folder CIFAR10_DATA.
"""

import os
import pathlib

import numpy as np
import torch
from torch.nn import functional

import methods
from resnet import ResNet20

HERE = pathlib.Path(__file__).resolve().parent
DATA = pathlib.Path(os.environ.get("CIFAR10_DATA", HERE.parent / "cifar10" / "data"))
BATCH, MOMENTUM, DECAY = 32, 0.9, 1e-4
MEAN = torch.tensor([0.4914, 0.4822, 0.4465]).view(3, 1, 1)
DEVIATION = torch.tensor([0.247, 0.2435, 0.2616]).view(3, 1, 1)


def load(*names):
    """Images [n, 3, 32, 32], normalised, and labels [n], of CIFAR-10's binary files."""
    rows = np.concatenate([np.fromfile(DATA / name, np.uint8).reshape(-1, 3073) for name in names])
    images = torch.from_numpy(rows[:, 1:].reshape(-1, 3, 32, 32).astype(np.float32)) / 255
    return (images - MEAN) / DEVIATION, torch.from_numpy(rows[:, 0].astype(np.int64))


class Images:
    """Batches of one worker's share, mirrored and shifted at random as in the paper."""

    def __init__(self, images, labels, batch, seed):
        self.images, self.labels, self.batch = images, labels, batch
        self.random = np.random.default_rng(seed)

    def __iter__(self):
        while True:
            order = self.random.permutation(len(self.labels))
            for at in range(0, len(order) - self.batch + 1, self.batch):
                chosen = order[at:at + self.batch]
                x = functional.pad(self.images[chosen], (4, 4, 4, 4))
                down, right = self.random.integers(9, size=2)
                x = x[:, :, down:down + 32, right:right + 32]
                mirrored = torch.from_numpy(self.random.random(self.batch) < 0.5)
                yield torch.where(mirrored.view(-1, 1, 1, 1), x.flip(3), x), self.labels[chosen]


class CifarRun(methods.Run):
    rate, warm_up = 0.1, 0.05

    def __init__(self, options):
        super().__init__(options)
        images, labels = load(*(f"data_batch_{k}.bin" for k in range(1, 6)))
        self.test = load("test_batch.bin") if options.worker == 0 else None
        self.model = ResNet20()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=self.rate, momentum=MOMENTUM,
                                         nesterov=True, weight_decay=DECAY)
        together = options.method == "alone"
        share = np.random.default_rng(1).permutation(len(labels))
        if not together:
            share = np.array_split(share, options.workers)[options.worker]
        self.batches = Images(images[share], labels[share],
                              BATCH * (options.workers if together else 1), [2, options.worker])

    def loss(self, model, x, y):
        return functional.cross_entropy(model(x), y)

    def judge(self):
        """The accuracy on the test set."""
        right = sum((self.model(x).argmax(1) == y).sum().item()
                    for x, y in zip(self.test[0].split(500), self.test[1].split(500)))
        return right / len(self.test[1])


if __name__ == "__main__":
    methods.main(CifarRun)
