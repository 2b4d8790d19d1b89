#!/usr/bin/env python3
"""One worker that trains ResNet-20 on CIFAR-10: experiments/pytorch-shaped/run.py starts it.

The data are those of experiments/cifar10/fetch, or in the folder CIFAR10_DATA. A curve has the test
accuracy, the same after the statistics of batch normalisation were made anew, and the lowest of its
variances. `--variant local-statistics`: they stay with each worker instead of being exchanged.
"""

import copy
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


def statistics(model):
    return [it for it in model.modules() if isinstance(it, torch.nn.BatchNorm2d)]


def keep_statistics_local(model):
    """Ako exchanges what a state_dict has, so they are left out of it."""
    for module in statistics(model):
        for name in ("running_mean", "running_var"):
            module.register_buffer(name, getattr(module, name), persistent=False)


class CifarRun(methods.Run):
    rate, warm_up = 0.1, 0.05

    def __init__(self, options):
        super().__init__(options)
        images, labels = load(*(f"data_batch_{k}.bin" for k in range(1, 6)))
        self.test = load("test_batch.bin") if options.worker == 0 else None
        self.model = ResNet20()
        if options.variant == "local-statistics":
            keep_statistics_local(self.model)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=self.rate, momentum=MOMENTUM,
                                         nesterov=True, weight_decay=DECAY)
        together = options.method == "alone"
        share = np.random.default_rng(1).permutation(len(labels))
        if not together:
            share = np.array_split(share, options.workers)[options.worker]
        self.batches = Images(images[share], labels[share],
                              BATCH * (options.workers if together else 1),
                              [2, options.worker, options.seed])

    def loss(self, model, x, y):
        return functional.cross_entropy(model(x), y)

    def accuracy(self, model):
        right = sum((model(x).argmax(1) == y).sum().item()
                    for x, y in zip(self.test[0].split(500), self.test[1].split(500)))
        return right / len(self.test[1])

    def judge(self):
        """On the test set, and with statistics that are the mean of 40 batches of training."""
        lowest = min(it.running_var.min().item() for it in statistics(self.model))
        anew = copy.deepcopy(self.model)
        for module in statistics(anew):
            module.reset_running_stats()
            module.momentum = None  # the mean of all
        anew.train()
        for (x, _), _ in zip(self.batches, range(40)):
            anew(x)
        return [self.accuracy(self.model), self.accuracy(anew.eval()), lowest]


if __name__ == "__main__":
    methods.main(CifarRun)
