"""The networks of this experiment as lists of layers, as in models/catalog.cpp, and what one layer
does with all of its input or with some rows of it. PyTorch's layout: [samples, channels, rows,
columns]."""

import math
from typing import NamedTuple

import torch
from torch.nn import functional


class Layer(NamedTuple):
    kind: str  # conv, pool, relu, flatten, dense
    outputs: int = 0
    window: int = 1
    stride: int = 1
    padding: int = 0

    @property
    def mixes(self):
        """Each output channel is made of all input channels; only such have parameters."""
        return self.kind in ("conv", "dense")

    @property
    def by_rows(self):
        """An output row is made of some input rows."""
        return self.kind in ("conv", "pool", "relu")

    def height(self, rows):
        reach = rows + 2 * self.padding - self.window
        return (math.ceil(reach / self.stride) if self.kind == "pool" else reach // self.stride) + 1

    def shape(self, given):
        """Of one sample that comes out; `given` goes in: (channels, rows, columns)."""
        channels, rows, columns = given
        if self.kind == "flatten":
            return channels * rows * columns, 1, 1
        if self.kind == "dense":
            return self.outputs, 1, 1
        return self.outputs or channels, self.height(rows), self.height(columns)


def conv(outputs, window, padding=0):
    return Layer("conv", outputs, window, 1, padding)


def pool(window):
    return Layer("pool", 0, window, 2)


def dense(outputs):
    return Layer("dense", outputs)


RELU, FLATTEN = Layer("relu"), Layer("flatten")

NETWORKS = {
    "lenet": ((1, 28, 28), [conv(20, 5), pool(2), RELU, conv(50, 5), pool(2), RELU, FLATTEN,
                            dense(500), RELU, dense(10)]),
    "cifar-quick": ((3, 32, 32), [conv(32, 5, 2), pool(3), RELU, conv(32, 5, 2), RELU, pool(3),
                                  conv(64, 5, 2), RELU, pool(3), FLATTEN, dense(64), dense(10)]),
}
CLASSES = 10


def shapes(network):
    """What goes into each layer, and what comes out of the last."""
    given, layers = NETWORKS[network]
    found = [given]
    for layer in layers:
        found.append(layer.shape(found[-1]))
    return found


def initial(network, seed):
    """For each layer [weight, bias] or []: uniform of variance 1 / inputs, biases 0, as Ako's."""
    random = torch.Generator().manual_seed(seed)
    found = []
    for layer, (channels, _, _) in zip(NETWORKS[network][1], shapes(network)):
        if not layer.mixes:
            found.append([])
            continue
        size = (layer.outputs, channels) + (layer.window,) * (2 if layer.kind == "conv" else 0)
        weight = torch.empty(size)
        weight.uniform_(-1, 1, generator=random).mul_(math.sqrt(3 / weight[0].numel()))
        found.append([weight, torch.zeros(layer.outputs)])
    return found


def batches(network, samples, count, seed):
    """Noise with a pattern of the class in it: made, so that nothing has to be fetched."""
    random = torch.Generator().manual_seed(seed)
    patterns = torch.randn((CLASSES, *NETWORKS[network][0]), generator=random)
    found = []
    for _ in range(count):
        labels = torch.randint(CLASSES, (samples,), generator=random)
        noise = torch.randn((samples, *NETWORKS[network][0]), generator=random)
        found.append((noise + 0.3 * patterns[labels], labels))
    return found


def apply(layer, x, parameters, rows=None):
    """`parameters` as of initial(), or parts of them; the bias may be None. `rows`: x has some rows
    of an image, to which so many of zeros belong above and below; None: it has all."""
    if layer.kind == "relu":
        return functional.relu(x)
    if layer.kind == "flatten":
        return x.flatten(1)
    if layer.kind == "dense":
        return functional.linear(x, *parameters)
    if layer.kind == "pool":
        return functional.max_pool2d(x, layer.window, layer.stride, ceil_mode=True)
    if rows is None:
        return functional.conv2d(x, *parameters, padding=layer.padding)
    if rows != (0, 0):
        x = functional.pad(x, (0, 0, *rows))
    return functional.conv2d(x, *parameters, padding=(0, layer.padding))


def part(count, place, places):
    """(first, end) of what the machine at this place gets of `count` things."""
    return place * count // places, (place + 1) * count // places


def read_by(layer, first, end, height):
    """Of the output rows [first, end): the input rows, and how many rows of padding above and below
    them, of an image that is so high."""
    top = first * layer.stride - layer.padding
    bottom = (end - 1) * layer.stride - layer.padding + layer.window
    padded = (max(0, -top), max(0, bottom - height)) if layer.kind == "conv" else (0, 0)
    return max(0, top), min(height, bottom), padded


def loss_of(scores, labels, samples):
    """Of these scores, as their part of the mean over all `samples` of the batch."""
    return functional.cross_entropy(scores, labels, reduction="sum") / samples
