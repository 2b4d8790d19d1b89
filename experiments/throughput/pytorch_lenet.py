#!/usr/bin/env python3
"""Times the gradient of Ako's `lenet` in PyTorch on one thread; started by measure.py beside it.

    pytorch_lenet.py [--batch 64] [--seconds 2]

Prints one line of JSON: images per second of processor time, for the usual layout in memory and
for channels last; versions. Needs PyTorch (CPU is enough) and nothing of Ako.
"""

import argparse
import json
import time

import torch
from torch import nn

PARAMETERS = 431_080


def lenet():
    return nn.Sequential(
        nn.Conv2d(1, 20, 5), nn.MaxPool2d(2), nn.ReLU(),
        nn.Conv2d(20, 50, 5), nn.MaxPool2d(2), nn.ReLU(),
        nn.Flatten(), nn.Linear(800, 500), nn.ReLU(), nn.Linear(500, 10))


def images_per_s(batch, seconds, memory_format):
    torch.manual_seed(1)
    network = lenet().to(memory_format=memory_format)
    assert sum(tensor.numel() for tensor in network.parameters()) == PARAMETERS
    loss_of = nn.CrossEntropyLoss()
    images = torch.rand(batch, 1, 28, 28).to(memory_format=memory_format)
    labels = torch.arange(batch) % 10

    def gradient():
        network.zero_grad(set_to_none=True)
        loss_of(network(images), labels).backward()

    for _ in range(10):
        gradient()
    count = 0
    began = time.process_time()
    while time.process_time() - began < seconds:
        gradient()
        count += batch
    return count / (time.process_time() - began)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=2)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    print(json.dumps({
        "contiguous": images_per_s(arguments.batch, arguments.seconds, torch.contiguous_format),
        "channels_last": images_per_s(arguments.batch, arguments.seconds, torch.channels_last),
        "version": torch.__version__}))


if __name__ == "__main__":
    main()
