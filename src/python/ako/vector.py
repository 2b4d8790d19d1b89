"""The flat vector: all that is trained, one run of float32, of which the model's tensors are views.

Vector is what a peer needs of it, whatever the model is made of; ArrayVector is that of a program
with NumPy arrays. torch_model.py has that of a torch.nn.Module.

The *host memory* of a vector is what the library reads and fills: [count] float32, at pointer().
Where the model computes on the CPU its tensors are views of the host memory itself. Then load and
store have nothing to do, and no parameter is copied more than the library copies it.
"""

from __future__ import annotations

import abc
import dataclasses
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple

import numpy as np

from .errors import StartupError

FROZEN_NONE = "none"


@dataclasses.dataclass(frozen=True)
class TensorEntry:
    """One named tensor, a run of the flat vector."""

    name: str
    shape: Tuple[int, ...]
    strides: Optional[Tuple[int, ...]] = None  # in elements; None: row-major

    @property
    def count(self) -> int:
        return element_count(self.shape)


def element_count(shape: Sequence[int]) -> int:
    count = 1
    for size in shape:
        count *= size
    return count


class Vector(abc.ABC):
    """All that one peer trains. One thread."""

    tensors: List[TensorEntry]  # in the order of the vector, without gaps
    count: int                  # elements of all of them
    frozen: str = FROZEN_NONE   # digest of what the model has that is not trained

    @property
    @abc.abstractmethod
    def parameters(self) -> Mapping[str, Any]:
        """The views, by name."""

    @abc.abstractmethod
    def host(self) -> np.ndarray:
        """The host memory, [count] float32."""

    def pointer(self) -> int:
        """The address of the host memory."""
        return self.host().ctypes.data

    def load(self) -> None:
        """Takes what the library has put into the host memory into the model."""

    def store(self) -> None:
        """Takes the model's parameters into the host memory."""

    @abc.abstractmethod
    def keep(self) -> Any:
        """A copy of the model's parameters, for put_back."""

    @abc.abstractmethod
    def put_back(self, kept: Any) -> None:
        """The parameters are again what they were at keep."""

    def check(self, thorough: bool) -> None:
        """Raises RuntimeError if a tensor of the model is no view of the vector any more.

        Not thorough: at a price that does not depend on the size of the model.
        """

    def first_not_finite(self) -> Optional[str]:
        """The first tensor in the host memory with an infinity or a NaN; None: all are finite."""
        host, begin = self.host(), 0
        for tensor in self.tensors:
            if not np.isfinite(host[begin:begin + tensor.count]).all():
                return tensor.name
            begin += tensor.count
        return None


class Views(Mapping):
    """Arrays by name. To assign one copies into it, so that it stays a view of the vector."""

    def __init__(self, views: Dict[str, np.ndarray]) -> None:
        self._views = views

    def __getitem__(self, name: str) -> np.ndarray:
        return self._views[name]

    def __setitem__(self, name: str, value: Any) -> None:
        view = self._views[name]
        if value is not view:
            view[...] = value

    def __iter__(self) -> Iterator[str]:
        return iter(self._views)

    def __len__(self) -> int:
        return len(self._views)

    def __repr__(self) -> str:
        return f"Views({self._views!r})"


class ArrayVector(Vector):
    """Of NumPy arrays by name. They are copied; `parameters` has the views to train on."""

    def __init__(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Raises StartupError for an array that is not of float32 in row-major order."""
        if not arrays:
            raise StartupError("the model has no arrays: there is nothing to train")
        for name, array in arrays.items():
            _check_array(name, array)
        self.tensors = [TensorEntry(name, tuple(array.shape)) for name, array in arrays.items()]
        self.count = sum(tensor.count for tensor in self.tensors)
        self._host = np.empty(self.count, dtype=np.float32)
        views, begin = {}, 0
        for tensor in self.tensors:
            view = self._host[begin:begin + tensor.count].reshape(tensor.shape)
            view[...] = arrays[tensor.name]
            views[tensor.name] = view
            begin += tensor.count
        self._pointer = self._host.ctypes.data
        self._parameters = Views(views)

    @property
    def parameters(self) -> Views:
        return self._parameters

    def host(self) -> np.ndarray:
        return self._host

    def pointer(self) -> int:
        return self._pointer

    def keep(self) -> np.ndarray:
        return self._host.copy()

    def put_back(self, kept: np.ndarray) -> None:
        self._host[...] = kept


def _check_array(name: Any, array: Any) -> None:
    if not isinstance(name, str):
        raise TypeError(f"names of arrays are strings, and {name!r} is none")
    if not isinstance(array, np.ndarray):
        raise StartupError(
            f'"{name}" of the model is a {type(array).__name__}, not a NumPy array',
            "hand in a torch.nn.Module itself, not its state_dict; numbers: numpy.float32 arrays")
    if array.dtype != np.float32 or not array.dtype.isnative:
        raise StartupError(f'"{name}" of the model is of {array.dtype}: Ako trains float32',
                           f'convert it before: model["{name}"].astype(numpy.float32)')
    if array.size == 0:
        raise StartupError(f'"{name}" of the model is empty: its shape is {array.shape}',
                           "leave it out")
    if not array.flags.c_contiguous:
        raise StartupError(f'"{name}" of the model is not in row-major order',
                           f'copy it before: numpy.ascontiguousarray(model["{name}"])')
