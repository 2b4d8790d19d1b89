"""From a model and a cluster file to a Peer: what happens before there is any socket."""

from __future__ import annotations

import os
import sys
import warnings
from typing import Any, List, Mapping, Optional, Sequence, Tuple, Union

from . import _library, process
from ._native import NativePeer
from .optimizer_text import check_optimizer, optimizer_text
from .peer import Peer
from .steps import BatchCounter, StepCounter
from .vector import ArrayVector, Vector

VIEWS = {"lines": _library.View.LINES, "live": _library.View.LIVE, "none": _library.View.NONE}

INITIAL = {"same": _library.Initial.SAME, "lowest": _library.Initial.OF_LOWEST}

# As long as the library takes: a SHA-256 in hexadecimal digits.
DATA_DIGEST_BYTES_MAX = 64

Path = Union[str, "os.PathLike[str]"]


def join(file: Optional[Path] = None, peer: Optional[str] = None, model: Any = None,
         optimizer: Any = None, *, set: Sequence[str] = (), output_dir: Optional[Path] = None,
         view: str = "lines", samples: Optional[int] = None,
         samples_per_round: Optional[int] = None, local_steps: int = 1,
         initial: str = "same", data_digest: Union[str, bytes, int, None] = None) -> Peer:
    """Makes this program the peer `peer` of the cluster in `file`; both may be None under
    `ako launch`. Nothing is sent before training begins, with the first batch of Peer.rounds.

    model: a torch.nn.Module on its device, of float32, or a dict of names and numpy.float32 arrays.
        The tensors of a module become views of one vector, so move and convert it before. Of arrays
        Peer.parameters has the views to train on.
    optimizer: what trains it, made before or after; without one every batch is one step.
    set: settings over those of the file, such as ["training.epochs=2"].
    output_dir: the folder for results, in place of a new one.
    view: "lines" on standard error, "live" for a table at a terminal, or "none": the log goes to
        logging.getLogger("ako").
    samples: the size of the data set of all peers; Peer.sampler says it too.
    samples_per_round: what every round of every peer counts as. By default the first batch, times
        local_steps: say it if a step takes several batches.
    local_steps: how many steps of the optimizer are one round.
    initial: "same", and a peer whose parameters differ is refused; or "lowest", and all begin with
        those of the first peer in the file, which may have loaded a saved model. The model has them
        from its first round on. What is not trained must be the same in any case.
    data_digest: of the data set, such as hashlib.sha256(labels.tobytes()).digest(): peers with
        another one refuse each other. Without it only the size of the data set is compared.

    Raises StartupError for what is wrong in the file, the model or the optimizer, ImportError
    without libako.so, TypeError and ValueError for wrong arguments.
    """
    _check_arguments(model, view, initial, samples=samples, samples_per_round=samples_per_round,
                     local_steps=local_steps)
    digest = _digest_text(data_digest)
    process.set_up()
    native = NativePeer(
        _library.load(), file=None if file is None else os.fspath(file), peer=peer,
        overrides=[set] if isinstance(set, str) else list(set),
        output_dir=None if output_dir is None else os.fspath(output_dir), view=VIEWS[view])
    process.forget_launch()
    try:
        process.watch(native)
        is_module = _is_module(model)
        vector = _vector(model, is_module)
        if is_module and hasattr(optimizer, "param_groups"):
            others = check_optimizer(optimizer, model)
            if others:
                warnings.warn(f"the optimizer trains {others} tensors that are not of the model: "
                              "the other peers do not hear of them", stacklevel=2)
        for key, value in _requirements(vector, optimizer, local_steps):
            native.require_equal(key, value)
        if digest is not None:
            native.set_data_digest(digest)
        native.set_layout(vector.tensors)
        counter = BatchCounter() if optimizer is None else StepCounter(optimizer)
    except BaseException:
        native.close()
        raise
    return Peer(native, vector, counter, samples=samples, samples_per_round=samples_per_round,
                local_steps=local_steps, initial=INITIAL[initial], takes_log=view == "none",
                name=peer or os.environ.get("AKO_PEER", ""))


def _check_arguments(model: Any, view: str, initial: str, **counts: Optional[int]) -> None:
    if model is None:
        raise TypeError("there is no model: ako.join(file, peer, model, optimizer)")
    if view not in VIEWS:
        raise ValueError(f'there is no view "{view}": it is "lines", "live" or "none"')
    if initial not in INITIAL:
        raise ValueError(f'initial="{initial}": it is "same" or "lowest"')
    for name, count in counts.items():
        if count is not None and count < 1:
            raise ValueError(f"{name}={count}: it is 1 or more")


def _digest_text(digest: Union[str, bytes, int, None]) -> Optional[str]:
    if digest is None:
        return None
    text = bytes(digest).hex() if isinstance(digest, (bytes, bytearray)) else str(digest)
    if not 1 <= len(text.encode()) <= DATA_DIGEST_BYTES_MAX or not text.isprintable():
        raise ValueError(f"data_digest of {len(text.encode())} bytes: it has 1 to "
                         f"{DATA_DIGEST_BYTES_MAX} on one line, as hashlib.sha256(..).hexdigest() "
                         "has")
    return text


def _is_module(model: Any) -> bool:
    """Without importing torch: who has a module has imported it."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(model, torch.nn.Module)


def _vector(model: Any, is_module: bool) -> Vector:
    if is_module:
        from .torch_model import ModelVector

        return ModelVector(model)
    if isinstance(model, Mapping):
        return ArrayVector(model)
    raise TypeError(f"the model is a {type(model).__name__}: it must be a torch.nn.Module or a "
                    "dict of names and NumPy arrays")


def _requirements(vector: Vector, optimizer: Any, local_steps: int) -> List[Tuple[str, str]]:
    """What must be the same at all peers, besides the tensors, which the library compares."""
    return [("optimizer", optimizer_text(optimizer)), ("local_steps", str(local_steps)),
            ("frozen", vector.frozen)]
