"""The flat vector of a torch.nn.Module: its trainable parameters, then its float32 buffers.

A Parameter stays the same object and gets other memory, so an optimizer made before goes on with
it. What is left out stays with this peer: frozen parameters, whose digest must be the same at all
peers, buffers of other types, such as BatchNorm's count of batches, and buffers that are not saved.

torch is imported by the first ModelVector, never by this module, and both 1.13 and 2 will do.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Dict, List, Mapping, Optional, Sequence, Set, Tuple

import numpy as np

from .errors import StartupError
from .model_checks import check_device, check_module, check_trainable, frozen_digest
from .vector import TensorEntry, Vector, element_count

MOVED = ("{name} no longer lies in Ako's vector: was the model moved or converted (to, half, "
         "cuda), or the tensor replaced, after join? Do that before, and change it in place")
THAWED = "{name} was frozen when ako.join saw the model: set requires_grad before"


@dataclasses.dataclass(frozen=True)
class Place:
    """Where the model has a tensor: `table` of `module` ("_parameters", "_buffers") at `leaf`."""

    module: Any
    table: str
    leaf: str

    def get(self) -> Any:
        return getattr(self.module, self.table).get(self.leaf)


@dataclasses.dataclass
class Tensor:
    """A tensor of the model that is exchanged, with all its places: tied weights have several."""

    name: str
    value: Any
    places: List[Place]


class ModelVector(Vector):
    """Of a torch.nn.Module on one device."""

    def __init__(self, model: Any, *, shared: Optional[bool] = None) -> None:
        """Makes the model's tensors views of one new vector on their device.

        `shared`: whether that is the host memory too; by default if the device is the CPU. Raises
        StartupError for a model that cannot be trained so, before anything of it is changed.
        """
        import torch

        self._torch = torch
        model = getattr(model, "_orig_mod", model)  # what torch.compile has wrapped
        check_module(model)
        trained, self._frozen = _parameters(model)
        check_trainable(trained, self._frozen)
        buffers = _buffers(model, torch.float32)
        self.device = check_device(trained + buffers)
        # Such as a mask of -inf, which nobody trains.
        constant = [tensor for tensor in buffers if not torch.isfinite(tensor.value).all()]
        tensors = trained + [tensor for tensor in buffers if tensor not in constant]
        self._frozen = self._frozen + constant
        self.frozen = frozen_digest(self._frozen)
        self.tensors = [TensorEntry(tensor.name, tuple(tensor.value.shape),
                                    layout_strides(tensor.value.shape, tensor.value.stride()))
                        for tensor in tensors]
        self.count = sum(entry.count for entry in self.tensors)
        self._flat = torch.empty(self.count, dtype=torch.float32, device=self.device)
        self._shared = self.device.type == "cpu" if shared is None else shared
        self._buffer = self._flat if self._shared else torch.empty(
            self.count, dtype=torch.float32, device="cpu",
            pin_memory=self.device.type == "cuda")
        self._move_in(tensors)
        self.store()

    @property
    def parameters(self) -> Mapping[str, Any]:
        return {name: place.get() for name, place, _ in self._moved}

    def host(self) -> np.ndarray:
        return self._buffer.numpy()

    def pointer(self) -> int:
        return self._buffer.data_ptr()

    def load(self) -> None:
        if not self._shared:
            self._flat.copy_(self._buffer)

    def store(self) -> None:
        if not self._shared:
            self._buffer.copy_(self._flat)

    def keep(self) -> Any:
        return self._flat.clone()

    def put_back(self, kept: Any) -> None:
        self._flat.copy_(kept)

    def check(self, thorough: bool) -> None:
        base = self._flat.data_ptr()
        for name, place, offset in self._moved if thorough else self._moved[:1]:
            now = place.get()
            if now is None or now.data_ptr() != base + offset or now.dtype != self._flat.dtype:
                raise RuntimeError(MOVED.format(name=name))
        if thorough:
            for tensor in self._frozen:
                if tensor.value.requires_grad:
                    raise RuntimeError(THAWED.format(name=tensor.name))

    def _move_in(self, tensors: Sequence[Tensor]) -> None:
        """Gives each tensor its run of the vector. (name, place, offset in bytes) are kept for
        check()."""
        begin = 0
        self._moved: List[Tuple[str, Place, int]] = []
        with self._torch.no_grad():
            for tensor, entry in zip(tensors, self.tensors):
                old = tensor.value
                strides = old.stride() if is_dense(old.shape, old.stride()) else \
                    row_major(old.shape)
                view = self._flat.as_strided(old.shape, strides, begin)
                view.copy_(old)
                old.data = view
                for place in tensor.places:
                    self._moved.append((tensor.name, place, begin * self._flat.element_size()))
                begin += entry.count


def _parameters(model: Any) -> Tuple[List[Tensor], List[Tensor]]:
    """Those that are trained and those that are frozen, each once, by the name that
    named_parameters() has first; empty ones are in neither."""
    trained: List[Tensor] = []
    frozen: List[Tensor] = []
    known: Dict[int, Tensor] = {}
    for prefix, module in model.named_modules():
        for leaf, value in module._parameters.items():
            if value is None:
                continue
            tensor = _known(known, prefix, module, "_parameters", leaf, value)
            if tensor is not None and not _is_empty(value):
                (trained if value.requires_grad else frozen).append(tensor)
    return trained, frozen


def _buffers(model: Any, dtype: Any) -> List[Tensor]:
    """Those of `dtype` that state_dict() has, in its order."""
    found: List[Tensor] = []
    known: Dict[int, Tensor] = {}
    for prefix, module in model.named_modules():
        unsaved: Set[str] = getattr(module, "_non_persistent_buffers_set", set())
        for leaf, value in module._buffers.items():
            if value is None or leaf in unsaved or value.dtype != dtype:
                continue
            tensor = _known(known, prefix, module, "_buffers", leaf, value)
            if tensor is not None and not _is_empty(value):
                found.append(tensor)
    return found


def _known(known: Dict[int, Tensor], prefix: str, module: Any, table: str, leaf: str,
           value: Any) -> Optional[Tensor]:
    """The tensor, if it is met for the first time; else its place is added, and None."""
    place = Place(module, table, leaf)
    if id(value) in known:
        known[id(value)].places.append(place)
        return None
    tensor = Tensor(f"{prefix}.{leaf}" if prefix else leaf, value, [place])
    known[id(value)] = tensor
    return tensor


def _is_empty(value: Any) -> bool:
    """A lazy module's parameter has no shape yet, and is left for the checks to refuse."""
    return hasattr(value, "numel") and not hasattr(value, "materialize") and value.numel() == 0


def row_major(shape: Sequence[int]) -> Tuple[int, ...]:
    """The strides of a contiguous tensor, in elements."""
    strides, run = [], 1
    for size in reversed(shape):
        strides.append(run)
        run *= size
    return tuple(reversed(strides))


def _storage_order(shape: Sequence[int], strides: Sequence[int]) -> List[int]:
    """The dimensions of more than one element, from the one that runs fastest."""
    return sorted((k for k, size in enumerate(shape) if size > 1),
                  key=lambda k: (strides[k], -k))


def is_dense(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """Is it a permutation of a contiguous tensor, as channels-last is? Without gaps or overlap."""
    run = 1
    for k in _storage_order(shape, strides):
        if strides[k] != run:
            return False
        run *= shape[k]
    return True


def layout_strides(shape: Sequence[int], strides: Sequence[int]) -> Optional[Tuple[int, ...]]:
    """Of a tensor in the vector, for the library: None if its memory is in row-major order.

    The stride of a dimension of one element says nothing, and torch has several for it. Peers
    compare strides, so it is always the number of elements of the tensor.
    """
    order = _storage_order(shape, strides)
    if not is_dense(shape, strides) or order == sorted(order, reverse=True):
        return None
    count = element_count(shape)
    return tuple(strides[k] if shape[k] > 1 else count for k in range(len(shape)))
