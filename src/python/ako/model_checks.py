"""What of a torch.nn.Module Ako refuses before training, each with what the user can do about it;
and the digest of frozen parameters. All functions raise StartupError.

Of tensors only name and value are used. No function changes anything.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, Dict, Sequence

from .errors import StartupError
from .vector import FROZEN_NONE

if TYPE_CHECKING:
    from .torch_model import Tensor

# Modules that spread a model over processes by themselves, by the names of their classes: to import
# them for a comparison would need parts of torch that not every build has.
WRAPPERS = ("DistributedDataParallel", "FullyShardedDataParallel", "DataParallel")


def check_module(model: Any) -> None:
    """The model is a module itself, not what another way to train in parallel has made of it."""
    for module in model.modules():
        for kind in type(module).__mro__:
            if kind.__name__ in WRAPPERS and kind.__module__.startswith("torch."):
                raise StartupError(
                    f"the model is wrapped in {kind.__name__}, which trains in parallel by itself",
                    "hand in the module itself, as it was before it was wrapped")


def check_trainable(trained: Sequence[Tensor], frozen: Sequence[Tensor]) -> None:
    for tensor in [*trained, *frozen]:
        _check_kind(tensor)
    if not trained:
        if frozen:
            raise StartupError(
                "the model has no trainable parameter: requires_grad is False of all "
                f"{len(frozen)}", "call requires_grad_(True) of what is to be trained")
        raise StartupError("the model has no parameters: there is nothing to train")
    for tensor in trained:
        _check_dtype(tensor)
    _check_apart(trained)


def check_device(tensors: Sequence[Tensor]) -> Any:
    """The one device of all of them."""
    first = tensors[0]
    for tensor in tensors:
        _check_kind(tensor)
        if tensor.value.device != first.value.device:
            raise StartupError(
                f"{first.name} is on {first.value.device} and {tensor.name} on "
                f"{tensor.value.device}: Ako needs a model on one device",
                "move it before: model.to(device)")
    return first.value.device


def _check_kind(tensor: Tensor) -> None:
    """Its values are all there, in memory of this process."""
    import torch

    value = tensor.value
    if hasattr(value, "materialize"):  # torch.nn.parameter.UninitializedTensorMixin
        raise StartupError(f"{tensor.name} has no shape yet: its module is a lazy one",
                           "call the model once with a batch before join")
    if hasattr(value, "placements"):  # torch.distributed.tensor.DTensor
        raise StartupError(f"{tensor.name} is spread over processes (DTensor)",
                           "hand in the module before it is sharded")
    if value.is_meta:
        raise StartupError(f"{tensor.name} is on the meta device: it has no values",
                           "make the model on a real device, or call model.to_empty(device=..) "
                           "and initialise it")
    if value.layout != torch.strided:
        raise StartupError(f"{tensor.name} is sparse ({value.layout})",
                           "make it dense: to_dense(). Sparse gradients are no problem")


def _check_dtype(tensor: Tensor) -> None:
    import torch

    dtype = tensor.value.dtype
    if dtype == torch.float32:
        return
    hint = "freeze it, or convert the model before join: model.float()"
    if dtype == torch.float64:
        hint = "convert the model before join: model.float()"
    elif dtype in (torch.bfloat16, torch.float16):
        hint = "keep float32 parameters, and compute in torch.autocast"
    raise StartupError(f"{tensor.name} is of {dtype}: Ako trains float32", hint)


def _check_apart(trained: Sequence[Tensor]) -> None:
    """Two parameters in the same memory would be torn apart, and what they share be lost."""
    starts: Dict[int, str] = {}
    for tensor in trained:
        start = tensor.value.data_ptr()
        if start in starts:
            raise StartupError(
                f"{starts[start]} and {tensor.name} are two parameters in the same memory",
                "tie them by giving both modules the same Parameter object")
        starts[start] = tensor.name


def frozen_digest(frozen: Sequence[Tensor]) -> str:
    """SHA-256 over the names, types, shapes and bytes of frozen parameters, in hexadecimal digits;
    "none" if there are none."""
    import torch

    if not frozen:
        return FROZEN_NONE
    digest = hashlib.sha256()
    for tensor in frozen:
        value = tensor.value.detach()
        digest.update(f"{tensor.name} {value.dtype} {tuple(value.shape)}\n".encode())
        values = value.cpu().contiguous().reshape(-1)
        digest.update(memoryview(values.view(torch.uint8).numpy()))
    return digest.hexdigest()
