"""The share of a data set that one peer trains on, as indices in an order that never ends.

The shares of all peers are disjoint and cover the set. With `shuffle` all peers order the set
alike, by the seed of the cluster file, before it is cut: a set that is sorted by class would
otherwise give each peer classes of its own. Each pass over a share is in a new order.
"""

from __future__ import annotations

import sys
from typing import Callable, Iterator

import numpy as np


class ShareSampler:
    """Indices of one share, pass after pass. It has no length, for it has no end."""

    def __init__(self, size: int, place: int, trainers: int, seed: int, shuffle: bool,
                 first_pass: Callable[[int], int]) -> None:
        """`size`: of the whole set. `first_pass`: asked when the first pass begins, with the size
        of the share. Raises ValueError if the set has too few samples for a share of each."""
        begin, end = place * size // trainers, (place + 1) * size // trainers
        if begin == end:
            raise ValueError(f"a data set of {size} samples is too small for {trainers} peers")
        self._items = np.arange(begin, end)
        if shuffle:
            self._items = np.random.default_rng([seed]).permutation(size)[begin:end]
        self._order_of = [seed, place]
        self._shuffle = shuffle
        self._first_pass = first_pass
        self._next_pass = -1

    @property
    def share(self) -> int:
        """How many samples are in it."""
        return len(self._items)

    def __iter__(self) -> Iterator[int]:
        while True:
            if self._next_pass < 0:
                self._next_pass = self._first_pass(self.share)
            order = self._items
            if self._shuffle:
                order = np.random.default_rng([*self._order_of, self._next_pass]).permutation(order)
            self._next_pass += 1
            yield from order.tolist()


def make_sampler(size: int, place: int, trainers: int, seed: int, shuffle: bool,
                 first_pass: Callable[[int], int]) -> ShareSampler:
    """A ShareSampler; also a torch.utils.data.Sampler in a program that has imported torch."""
    kind = ShareSampler
    torch = sys.modules.get("torch")
    if torch is not None:
        # Its __init__ is left out: it stores nothing, and its argument comes and goes by version.
        kind = type("ShareSampler", (ShareSampler, torch.utils.data.Sampler), {})
    return kind(size, place, trainers, seed, shuffle, first_pass)
