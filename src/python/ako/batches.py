"""Batches without an end, of a loader that has one; and how many samples are in a batch."""

from __future__ import annotations

from typing import Any, Iterable, Iterator, List, Mapping, Optional


class Batches:
    """The batches of a loader, which is iterated again whenever it is exhausted."""

    def __init__(self, loader: Iterable[Any]) -> None:
        """Raises TypeError for what cannot be iterated."""
        if not hasattr(loader, "__iter__") and not hasattr(loader, "__getitem__"):
            raise TypeError(f"a {type(loader).__name__} is no loader: it cannot be iterated")
        self._loader = loader
        self._iterator: Optional[Iterator[Any]] = None
        self._passes = 0
        self.failures = 0  # exceptions that the loader has raised
        self._peeked: List[Any] = []  # one batch at most

    def batch_size(self) -> Optional[int]:
        """As a DataLoader says it; None where the loader does not."""
        size = getattr(self._loader, "batch_size", None)
        return size if isinstance(size, int) and size > 0 else None

    def peek(self) -> Any:
        """The batch that is next, and stays so; raises as next."""
        if not self._peeked:
            self._peeked.append(self.next())
        return self._peeked[0]

    def next(self) -> Any:
        """Raises ValueError if two passes in a row have no batch, and what the loader raises."""
        if self._peeked:
            return self._peeked.pop()
        for _ in range(3):  # the rest of a pass, and two passes
            try:
                if self._iterator is None:
                    self._set_epoch()
                    self._iterator = iter(self._loader)
                return next(self._iterator)
            except StopIteration:
                self._iterator = None
                self._passes += 1
            except BaseException:
                self._iterator = None
                self.failures += 1
                raise
        raise ValueError(
            "the loader has no batch. It must be one that can be iterated again and again, so no "
            "generator; and with drop_last it needs as many samples as a batch has")

    def _set_epoch(self) -> None:
        """Samplers such as torch's DistributedSampler shuffle by it."""
        for owner in (self._loader, getattr(self._loader, "batch_sampler", None)):
            sampler = getattr(owner, "sampler", None)
            if hasattr(sampler, "set_epoch"):
                sampler.set_epoch(self._passes)
                return


def sample_count(batch: Any) -> int:
    """The length of the first tensor, array or list of values in a batch, in the batch's order.

    Raises ValueError if there is none.
    """
    count = _count(batch)
    if count is None:
        raise ValueError(
            f"how many samples are in a batch that is a {type(batch).__name__}? Say it by "
            "peer.rounds(loader, samples_of=function) or peer.batch_samples = function")
    return count


def _count(value: Any) -> Optional[int]:
    shape = getattr(value, "shape", None)
    if shape is not None:
        return int(shape[0]) if len(shape) > 0 else None
    if isinstance(value, (str, bytes)):
        return None
    if isinstance(value, Mapping):
        return _first(value.values())
    if isinstance(value, (list, tuple)):
        # A list of plain values is a column of the batch, one value of each sample.
        found = _first(value)
        return len(value) if found is None and len(value) > 0 else found
    return len(value) if hasattr(value, "__len__") else None


def _first(values: Iterable[Any]) -> Optional[int]:
    for value in values:
        count = _count(value)
        if count is not None:
            return count
    return None
