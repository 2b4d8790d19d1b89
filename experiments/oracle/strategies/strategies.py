"""The strategies that src/predict/strategies.h predicts, as small as they can be: each is what one
machine does in a step. All make the same losses as one process does, but for rounding.

    machine = make("spatial", job)      # of one process of torch.distributed, each calls it
    machine.step(images, labels)        # its part of the loss; images and labels are the batch's

Nothing overlaps computing but the segments of a pipeline. SGD without momentum.
"""

from typing import NamedTuple

import torch
from torch import distributed

from exchange import Gather, Group, Rows, Sum, grid
from layers import NETWORKS, apply, initial, loss_of, part, read_by, shapes


class Job(NamedTuple):
    network: str
    machines: int
    number: int  # of this machine, from 0
    batch: int   # samples, of all machines together
    learning_rate: float
    seed: int
    group: int     # machines of a group, in the hybrids
    segments: int  # of a batch, in a pipeline
    stages: list   # of a pipeline: the first layer of each


def leaf(tensor):
    return tensor.clone().contiguous().requires_grad_()


class Machine:
    """In groups of `size`: groups share the samples, the machines of a group the work on these."""

    def __init__(self, job, size):
        self.job, self.size = job, size
        self.layers, self.shapes = NETWORKS[job.network][1], shapes(job.network)
        self.world = Group(list(range(job.machines)), None, job.number)
        self.within, self.across = grid(job.machines, size, job.number)
        self.samples = part(job.batch, job.number // size, job.machines // size)
        self.parameters = [[leaf(tensor) for tensor in own]
                           for own in self.parts(initial(job.network, job.seed))]

    def parts(self, parameters):
        """Of the parameters of each layer, what this machine has."""
        return parameters

    def exchanged(self):
        """[(layers, with whom)]: whose gradients are summed up after the backward pass."""
        return [(range(len(self.layers)), self.across)]

    def step(self, images, labels):
        """Its part of the loss, of which all of a group have the same."""
        self.forget_gradients()
        first, end = self.samples
        labels = labels[first:end]
        loss = loss_of(self.scores(images[first:end]), labels, self.job.batch)
        loss.backward()
        self.finish()
        return float(loss.detach()) / self.size

    def forget_gradients(self):
        for tensor in self.tensors(range(len(self.layers))):
            tensor.grad = None

    def tensors(self, layers):
        return [tensor for l in layers for tensor in self.parameters[l]]

    def finish(self):
        """Exchanges gradients and updates the parameters."""
        for layers, group in self.exchanged():
            sum_gradients([tensor.grad for tensor in self.tensors(layers)], group)
        update(self.tensors(range(len(self.layers))), self.job.learning_rate)

    def scores(self, x):
        """Of the group's samples: all scores, at every machine."""
        for layer, parameters in zip(self.layers, self.parameters):
            x = apply(layer, x, parameters)
        return x


def sum_gradients(gradients, group):
    """In one exchange."""
    if group.places == 1 or not gradients:
        return
    flat = group.sum(torch.cat([gradient.reshape(-1) for gradient in gradients]))
    for gradient, total in zip(gradients, flat.split([one.numel() for one in gradients])):
        gradient.copy_(total.view_as(gradient))


def update(tensors, learning_rate):
    with torch.no_grad():
        for tensor in tensors:
            tensor.add_(tensor.grad, alpha=-learning_rate)


class Spatial(Machine):
    """Rows of the images, up to the first layer that reads all; then all rows are gathered, and
    what follows is done by every machine of the group, alike."""

    def __init__(self, job, size):
        super().__init__(job, size)
        self.tail = next(l for l, layer in enumerate(self.layers) if not layer.by_rows)

    def exchanged(self):
        return [(range(self.tail), self.world),
                (range(self.tail, len(self.layers)), self.across)]

    def scores(self, x):
        places = range(self.within.places)
        for l in range(self.tail):
            layer, height = self.layers[l], self.shapes[l][1]
            outputs = [part(self.shapes[l + 1][1], k, self.within.places) for k in places]
            read = [read_by(layer, *rows, height) for rows in outputs]
            reads = [(first, end) for first, end, _ in read]
            first, end, padded = read[self.within.place]
            if l == 0:
                x = x[:, :, first:end]
            elif any(rows != part(height, k, self.within.places) for k, rows in enumerate(reads)):
                x = Rows.apply(x, self.within, reads, height)
            x = apply(layer, x, self.parameters[l], padded)
        rows = [part(self.shapes[self.tail][1], k, self.within.places) for k in places]
        x = Gather.apply(x, self.within, [end - first for first, end in rows], 2, False)
        for l in range(self.tail, len(self.layers)):
            x = apply(self.layers[l], x, self.parameters[l])
        return x


class ByChannels(Machine):
    """What filter and channel share: how many of the channels between layers each place has."""

    def __init__(self, job, size):
        self.places = range(size)
        super().__init__(job, size)

    def counts(self, layer):
        """Of the features that come out of a layer, those of each place."""
        while not self.layers[layer].mixes:  # pools and the like leave a channel where it is
            layer -= 1
        outputs = self.layers[layer].outputs
        return [end - first for first, end in (part(outputs, k, self.size) for k in self.places)]

    def features(self, layer):
        """The same of what goes into it: one channel is several features once it is flat."""
        counts = self.counts(layer - 1)
        each = self.shapes[layer][0] // sum(counts)
        return [count * each for count in counts]


class Filter(ByChannels):
    """Output channels of each layer; what goes into a layer is gathered before, and so are the
    scores."""

    def parts(self, parameters):
        return [[self.within.own(tensor, self.counts(l), 0) for tensor in own] if own else []
                for l, own in enumerate(parameters)]

    def scores(self, x):
        for l, layer in enumerate(self.layers):
            if layer.mixes and l > 0:
                x = Gather.apply(x, self.within, self.features(l), 1, True)
            x = apply(layer, x, self.parameters[l])
        return Gather.apply(x, self.within, self.counts(len(self.layers) - 1), 1, False)


class Channel(ByChannels):
    """Input channels of each layer; what comes out of it is summed up. The first layer, whose input
    all have, is divided by its outputs. The bias is added to the sum, of which a machine goes on
    with its channels; all have the last one's."""

    def parts(self, parameters):
        found, last = [], len(parameters) - 1
        for l, own in enumerate(parameters):
            if not own:
                found.append([])
                continue
            weight, bias = own
            weight = self.within.own(weight, self.features(l), 1) if l > 0 else \
                self.within.own(weight, self.counts(l), 0)
            found.append([weight, bias if l == last else self.within.own(bias, self.counts(l), 0)])
        return found

    def scores(self, x):
        for l, layer in enumerate(self.layers):
            if not layer.mixes or l == 0:
                x = apply(layer, x, self.parameters[l])
                continue
            weight, bias = self.parameters[l]
            counts = self.counts(l) if l < len(self.layers) - 1 else None
            x = Sum.apply(apply(layer, x, [weight, None]), self.within, counts)
            x = x + bias.view(-1, *[1] * (x.dim() - 2))
        return x


class Pipeline(Machine):
    """Consecutive layers; the batch passes in segments, all forward and then all backward."""

    def __init__(self, job, size):
        stage = job.number
        ends = [*job.stages[1:], len(NETWORKS[job.network][1])]
        self.mine = range(job.stages[stage], ends[stage])
        super().__init__(job, size)
        self.before = stage - 1 if stage > 0 else None
        self.after = stage + 1 if stage + 1 < job.machines else None

    def parts(self, parameters):
        return [own if l in self.mine else [] for l, own in enumerate(parameters)]

    def exchanged(self):
        return []

    def step(self, images, labels):
        self.forget_gradients()
        segments = [part(self.job.batch, k, self.job.segments) for k in range(self.job.segments)]
        inputs = self.arriving(segments, self.before, self.shapes[self.mine.start])
        outputs, sent, loss = [], [], 0.0
        for k, (first, end) in enumerate(segments):
            x = self.input(inputs, k, images[first:end])
            y = x
            for l in self.mine:
                y = apply(self.layers[l], y, self.parameters[l])
            if self.after is None:
                y = loss_of(y, labels[first:end], self.job.batch)
                loss += float(y.detach())
            else:
                sent.append(distributed.isend(y.detach().contiguous(), self.after))
            outputs.append((x, y))
        gradients = self.arriving(segments, self.after, self.shapes[self.mine.stop])
        for k, (x, y) in enumerate(outputs):
            if gradients:
                gradients[k][1].wait()
            y.backward(gradients[k][0] if gradients else None)
            if self.before is not None:
                sent.append(distributed.isend(x.grad, self.before))
        for one in sent:
            one.wait()
        self.finish()
        return loss

    def arriving(self, segments, other, shape):
        """[(tensor, until it is there)] of each segment, or [] where nobody sends."""
        if other is None:
            return []
        shape = shape if shape[1:] != (1, 1) else shape[:1]  # flat
        tensors = [torch.empty((end - first, *shape)) for first, end in segments]
        return [(tensor, distributed.irecv(tensor, other)) for tensor in tensors]

    def input(self, inputs, k, images):
        if not inputs:
            return images
        inputs[k][1].wait()
        return inputs[k][0].requires_grad_()


def make(strategy, job):
    kind, size = {"data": (Machine, 1), "spatial": (Spatial, job.machines),
                  "filter": (Filter, job.machines), "channel": (Channel, job.machines),
                  "pipeline": (Pipeline, job.machines), "data+filter": (Filter, job.group),
                  "data+spatial": (Spatial, job.group)}[strategy]
    return kind(job, size)


STRATEGIES = ("data", "spatial", "filter", "channel", "pipeline", "data+filter", "data+spatial")
HYBRIDS = ("data+filter", "data+spatial")
