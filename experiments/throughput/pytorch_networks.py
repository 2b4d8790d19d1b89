#!/usr/bin/env python3
"""Times gradients of Ako's networks in PyTorch; started by measure.py beside it.

    pytorch_networks.py [--network lenet] [--batch 64] [--seconds 2] [--threads 1]

Prints one line of JSON: samples per second of processor time, with several threads per second of
the clock, for the usual layout in memory and for channels last; the version. Needs PyTorch (CPU
is enough) and nothing of Ako.
"""

import argparse
import json
import time

import torch
from torch import nn


def lenet():
    return nn.Sequential(
        nn.Conv2d(1, 20, 5), nn.MaxPool2d(2), nn.ReLU(),
        nn.Conv2d(20, 50, 5), nn.MaxPool2d(2), nn.ReLU(),
        nn.Flatten(), nn.Linear(800, 500), nn.ReLU(), nn.Linear(500, 10))


def cifar_quick():
    def pool():
        return nn.MaxPool2d(3, 2, ceil_mode=True)
    return nn.Sequential(
        nn.Conv2d(3, 32, 5, padding=2), pool(), nn.ReLU(),
        nn.Conv2d(32, 32, 5, padding=2), nn.ReLU(), pool(),
        nn.Conv2d(32, 64, 5, padding=2), nn.ReLU(), pool(),
        nn.Flatten(), nn.Linear(1024, 64), nn.Linear(64, 10))


class Block(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(inputs, outputs, 3, stride, 1), nn.GroupNorm(8, outputs), nn.ReLU(),
            nn.Conv2d(outputs, outputs, 3, 1, 1), nn.GroupNorm(8, outputs))
        self.stride, self.added = stride, outputs - inputs

    def forward(self, images):
        shortcut = images[:, :, ::self.stride, ::self.stride]
        if self.added:
            shortcut = nn.functional.pad(shortcut, (0, 0, 0, 0, 0, self.added))
        return torch.relu(self.body(images) + shortcut)


def resnet20():
    layers = [nn.Conv2d(3, 16, 3, padding=1), nn.GroupNorm(8, 16), nn.ReLU()]
    inputs = 16
    for outputs in (16, 32, 64):
        for _ in range(3):
            layers.append(Block(inputs, outputs, 1 if inputs == outputs else 2))
            inputs = outputs
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10))


# The shape of an image, and how many parameters Ako's network of that name has.
NETWORKS = {"lenet": (lenet, (1, 28, 28), 431_080),
            "cifar-quick": (cifar_quick, (3, 32, 32), 145_578),
            "resnet20": (resnet20, (3, 32, 32), 270_410)}


def samples_per_s(arguments, memory_format):
    torch.manual_seed(1)
    make, shape, parameters = NETWORKS[arguments.network]
    network = make().to(memory_format=memory_format)
    assert sum(tensor.numel() for tensor in network.parameters()) == parameters
    loss_of = nn.CrossEntropyLoss()
    images = torch.rand(arguments.batch, *shape).to(memory_format=memory_format)
    labels = torch.arange(arguments.batch) % 10
    now = time.process_time if arguments.threads == 1 else time.monotonic

    def gradient():
        network.zero_grad(set_to_none=True)
        loss_of(network(images), labels).backward()

    for _ in range(3):
        gradient()
    count = 0
    began = now()
    while now() - began < arguments.seconds:
        gradient()
        count += arguments.batch
    return count / (now() - began)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--network", choices=NETWORKS, default="lenet")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    print(json.dumps({
        "contiguous": samples_per_s(arguments, torch.contiguous_format),
        "channels_last": samples_per_s(arguments, torch.channels_last),
        "version": torch.__version__}))


if __name__ == "__main__":
    main()
