"""What machines exchange within a pass, so that PyTorch finds the gradients: each function has a
backward pass that exchanges too. A machine has a place among the places of its group."""

import torch
from torch import distributed
from torch.autograd import Function

from layers import part


class Group:
    """Machines that exchange: `members` by their numbers among all."""

    def __init__(self, members, handle, number):
        self.members, self.handle = members, handle
        self.place, self.places = members.index(number), len(members)

    def sum(self, tensor):
        """In place."""
        if self.places > 1:
            distributed.all_reduce(tensor, group=self.handle)
        return tensor

    def gather(self, tensor, counts, dim):
        """All parts side by side; place k has counts[k]. Gloo gathers parts of one size."""
        if self.places == 1:
            return tensor
        size = list(tensor.shape)
        size[dim] = max(counts)
        own = tensor if size[dim] == tensor.shape[dim] else tensor.new_zeros(size)
        if own is not tensor:
            own.narrow(dim, 0, counts[self.place]).copy_(tensor)
        parts = [tensor.new_empty(size) for _ in counts]
        distributed.all_gather(parts, own.contiguous(), group=self.handle)
        return torch.cat([one.narrow(dim, 0, count) for one, count in zip(parts, counts)], dim)

    def own(self, tensor, counts, dim):
        return tensor.narrow(dim, sum(counts[:self.place]), counts[self.place])


def grid(machines, size, number):
    """(those of the same samples, those of the same part) of machine `number`, in groups of `size`;
    all processes make all groups."""
    within, across = [], []
    for first in range(0, machines, size):
        members = list(range(first, first + size))
        within.append((members, distributed.new_group(members)))
    for place in range(size):
        members = list(range(place, machines, size))
        across.append((members, distributed.new_group(members)))
    return tuple(Group(members, handle, number) for side in (within, across)
                 for members, handle in side if number in members)


class Gather(Function):
    """Parts of a dimension become the whole at every machine. Backward: where each machine goes on
    with a part of the work (`summed`) the gradients of the whole are summed up; else all have the
    same."""

    @staticmethod
    def forward(ctx, x, group, counts, dim, summed):
        ctx.group, ctx.counts, ctx.dim, ctx.summed = group, counts, dim, summed
        return group.gather(x, counts, dim)

    @staticmethod
    def backward(ctx, gradient):
        if ctx.summed:
            gradient = ctx.group.sum(gradient.contiguous())
        own = ctx.group.own(gradient, ctx.counts, ctx.dim)
        return own.contiguous(), None, None, None, None


class Sum(Function):
    """Of what every machine made of its channels a machine gets the sum: of its part of the
    outputs, or of all (`counts` None). Backward: the parts' gradients become the whole."""

    @staticmethod
    def forward(ctx, x, group, counts):
        ctx.group, ctx.counts = group, counts
        total = group.sum(x.clone() if counts is None else x.contiguous())
        return total if counts is None else group.own(total, counts, 1).contiguous()

    @staticmethod
    def backward(ctx, gradient):
        if ctx.counts is not None:
            gradient = ctx.group.gather(gradient.contiguous(), ctx.counts, 1)
        return gradient, None, None


def overlap(one, other):
    first, end = max(one[0], other[0]), min(one[1], other[1])
    return (first, end) if first < end else None


class Rows(Function):
    """Of an image's rows, of which place k has part(height, k, places), those that this machine
    reads: reads[k] = (first, end). Backward: gradients of others' rows go back and are added."""

    @staticmethod
    def forward(ctx, x, group, reads, height):
        places = range(group.places)
        owned = [part(height, k, group.places) for k in places]
        mine, read = owned[group.place], reads[group.place]
        others = [k for k in places if k != group.place]
        ctx.group, ctx.mine, ctx.read = group, mine, read
        ctx.given = [(k, rows) for k in others if (rows := overlap(mine, reads[k]))]
        ctx.taken = [(k, rows) for k in others if (rows := overlap(read, owned[k]))]
        size = list(x.shape)
        size[2] = read[1] - read[0]
        piece = x.new_empty(size)
        arrived = _swap(group, x, mine, ctx.given, ctx.taken)
        kept = overlap(mine, read)
        if kept:
            _rows(piece, kept, read).copy_(_rows(x, kept, mine))
        for rows, tensor in arrived:
            _rows(piece, rows, read).copy_(tensor)
        return piece

    @staticmethod
    def backward(ctx, gradient):
        size = list(gradient.shape)
        size[2] = ctx.mine[1] - ctx.mine[0]
        own = gradient.new_zeros(size)
        kept = overlap(ctx.mine, ctx.read)
        if kept:
            _rows(own, kept, ctx.mine).copy_(_rows(gradient, kept, ctx.read))
        for rows, tensor in _swap(ctx.group, gradient, ctx.read, ctx.taken, ctx.given):
            _rows(own, rows, ctx.mine).add_(tensor)
        return own, None, None, None


def _rows(tensor, rows, of):
    """The rows of the image in a tensor that has the rows `of`."""
    return tensor.narrow(2, rows[0] - of[0], rows[1] - rows[0])


def _swap(group, tensor, of, given, taken):
    """Gives others rows of the tensor, and returns theirs: [(rows, tensor)]."""
    waiting, arrived = [], []
    for k, rows in taken:
        size = list(tensor.shape)
        size[2] = rows[1] - rows[0]
        arrived.append((rows, tensor.new_empty(size)))
        waiting.append(distributed.irecv(arrived[-1][1], group.members[k]))
    sent = [(k, _rows(tensor, rows, of).contiguous()) for k, rows in given]
    waiting += [distributed.isend(rows, group.members[k]) for k, rows in sent]
    for one in waiting:
        one.wait()
    return arrived
