"""The one peer of a process as libako.so has it: a method per function of the C interface, with
exceptions for statuses.

All methods are for the thread that opened it, but for request_stop and stops_requested.
A vector is handed in as the address of its first float32; it has as many as the layout says.

Exceptions: StartupError, NotFinite and Error by the status. A call that the library takes for a
mistake of the program is a RuntimeError, as is one from another thread.
"""

from __future__ import annotations

import ctypes
import json
import os
import threading
from typing import Any, Dict, Optional, Sequence, Tuple

from . import _library
from ._library import Initial, Next, Status, Stop, View
from .errors import Error, error_class
from .report import Standing
from .vector import TensorEntry

LOG_LINES_MAX = 10_000  # that one call of take_log hands out; the library keeps 1,000


class NativePeer:
    """An ako_peer, from open to close. A process has one at a time."""

    def __init__(self, library: Any, *, file: Optional[str], peer: Optional[str],
                 overrides: Sequence[str], output_dir: Optional[str], view: View) -> None:
        """Reads the cluster file. Raises StartupError, and Error without memory."""
        self._library = library
        self._handle: Optional[int] = None
        self.process = os.getpid()
        self.thread = threading.get_ident()
        options = _library.Options(
            size=ctypes.sizeof(_library.Options), file=_path(file), peer=_text(peer),
            overrides=(ctypes.c_char_p * len(overrides))(*map(_text, overrides)),
            override_count=len(overrides), output_dir=_path(output_dir), view=int(view))
        handle = ctypes.c_void_p()
        status = library.ako_open(_library.API_VERSION, ctypes.byref(options),
                                  ctypes.byref(handle))
        self._handle = handle.value
        # What the calls of every round fill in, made once.
        self._next = ctypes.c_int()
        self._loss = ctypes.c_float()
        if status != Status.OK:
            error = self._error(status)
            self.close()
            raise error

    @property
    def closed(self) -> bool:
        return self._handle is None

    def message(self) -> Tuple[str, str]:
        """What the last call has to say, and what to do about it; each may be empty."""
        if self._handle is None:
            return "", ""
        return (_string(self._library.ako_message(self._handle)),
                _string(self._library.ako_hint(self._handle)))

    def set_layout(self, tensors: Sequence[TensorEntry]) -> None:
        entries = (_library.Tensor * len(tensors))()
        for entry, tensor in zip(entries, tensors):
            dimensions = len(tensor.shape)
            entry.name = _text(tensor.name)
            entry.shape = (ctypes.c_size_t * dimensions)(*tensor.shape)
            if tensor.strides is not None:
                entry.strides = (ctypes.c_ssize_t * dimensions)(*tensor.strides)
            entry.dimensions = dimensions
        self._check(self._library.ako_set_layout(self._open(), entries, len(tensors)))

    def set_data(self, samples: int, samples_per_round: int) -> None:
        self._check(self._library.ako_set_data(self._open(), samples, samples_per_round))

    def set_data_digest(self, digest: str) -> None:
        self._check(self._library.ako_set_data_digest(self._open(), _text(digest)))

    def require_equal(self, key: str, value: str) -> None:
        self._check(self._library.ako_require_equal(self._open(), _text(key), _text(value)))

    def start(self, initial: int, whose: Initial) -> None:
        self._check(self._library.ako_start(self._open(), initial, int(whose)))

    def begin_round(self, timeout_s: float, parameters: int) -> int:
        """What is next, one of Next; the vector at `parameters` has been filled if it is TRAIN."""
        self._check(self._library.ako_begin_round(self._open(), timeout_s, parameters,
                                                  ctypes.byref(self._next)))
        return self._next.value

    def end_round(self, parameters: int, loss: Optional[float]) -> None:
        self._check(self._library.ako_end_round(self._open(), parameters, self._known(loss)))

    def copy_anchor(self, out: int) -> None:
        self._check(self._library.ako_copy_anchor(self._open(), out))

    def state(self) -> int:
        """Where the run stands, one of State."""
        return self._library.ako_get_state(self._open())

    def standing(self) -> Standing:
        got = _library.Standing(size=ctypes.sizeof(_library.Standing))
        self._check(self._library.ako_get_standing(self._open(), ctypes.byref(got)))
        return Standing(rounds=got.rounds, samples=got.samples, progress=got.progress,
                        epochs=got.epochs, seed=got.seed, place=got.place, trainers=got.trainers,
                        batch=got.batch, evaluates=bool(got.evaluates))

    def announce(self, progress: float, accuracy: float, loss: Optional[float]) -> None:
        self._check(self._library.ako_announce(self._open(), progress, accuracy,
                                               self._known(loss)))

    def request_stop(self, what: Stop) -> None:
        """Any thread and any signal handler; nothing on a closed peer."""
        if self._handle is not None:
            self._library.ako_request_stop(self._handle, int(what))

    def stops_requested(self) -> int:
        """Any thread; 0 on a closed peer."""
        return self._library.ako_stops_requested(self._handle) if self._handle is not None else 0

    def step_finish(self, timeout_s: float, out: int) -> int:
        """How far the final exchange is, one of Finish; FINISHED: `out` has been filled."""
        finish = ctypes.c_int()
        self._check(self._library.ako_step_finish(self._open(), timeout_s, out,
                                                  ctypes.byref(finish)))
        return finish.value

    def final_result(self, accuracy: float, loss: Optional[float]) -> None:
        self._check(self._library.ako_final_result(self._open(), accuracy, self._known(loss)))

    def report(self) -> Optional[Dict[str, Any]]:
        """What the run came to; None before it is over."""
        return self._json(self._library.ako_report)

    def metrics(self) -> Optional[Dict[str, Any]]:
        """How it stands now."""
        return self._json(self._library.ako_metrics)

    def run_folder(self) -> str:
        return _string(self._library.ako_run_folder(self._open()))

    def take_log(self) -> Sequence[str]:
        """The lines of the log that were not taken, with View.NONE."""
        lines = []
        line = ctypes.c_char_p()
        while len(lines) < LOG_LINES_MAX:
            self._check(self._library.ako_take_log(self._open(), ctypes.byref(line)))
            if line.value is None:
                break
            lines.append(_string(line.value))
        return lines

    def after_fork(self) -> None:
        """In a child of fork: the sockets are given back."""
        if self._handle is not None:
            self._library.ako_after_fork(self._handle)

    def fail(self, error: BaseException) -> None:
        """Before close: the program ends by `error`, and the others are told so. Where the library
        has given up, or from elsewhere, it does nothing."""
        text = str(error)
        why = type(error).__name__ + (f": {text}" if text else "")
        if self._handle is not None and self.thread == threading.get_ident() and \
                self.process == os.getpid():
            self._library.ako_fail(self._handle, why.encode("utf-8", "replace"))

    def close(self) -> None:
        """Ends it, with a goodbye if it was not finished; a second time does nothing."""
        if self._handle is not None:
            handle, self._handle = self._open(), None
            self._library.ako_close(handle)

    def check_use(self) -> None:
        """Raises RuntimeError if this process and thread may not use it, or it is closed."""
        self._open()

    def _known(self, loss: Optional[float]) -> Any:
        """A pointer to it; null if it is not known."""
        if loss is None:
            return None
        self._loss.value = loss
        return ctypes.byref(self._loss)

    def _open(self) -> int:
        """The handle, for a call."""
        if os.getpid() != self.process:
            raise RuntimeError("this is a child of fork: only the process that called ako.join "
                               "may use the peer")
        if self._handle is None:
            raise RuntimeError("this peer is closed")
        if threading.get_ident() != self.thread:
            raise RuntimeError("this is another thread than the one that called ako.join: only "
                               "that one may use the peer")
        return self._handle

    def _check(self, status: int) -> None:
        if status != Status.OK:
            raise self._error(status)

    def _error(self, status: int) -> Exception:
        what, hint = self.message()
        if status == Status.WRONG_CALL:
            what = what or "a call that the library takes for a mistake of the program"
            return RuntimeError(f"{what}: {hint}" if hint else what)
        if not what:
            what = "there is no memory for a peer" if self._handle is None else \
                f"the library gave up with status {status}"
        return error_class(status)(what, hint, exit=status)

    def _json(self, function: Any) -> Optional[Dict[str, Any]]:
        text = ctypes.c_char_p()
        self._check(function(self._open(), ctypes.byref(text)))
        return None if text.value is None else json.loads(_string(text.value))


def _text(text: Optional[str]) -> Optional[bytes]:
    return None if text is None else text.encode("utf-8")


def _path(path: Optional[str]) -> Optional[bytes]:
    return None if path is None else os.fsencode(path)


def _string(text: Optional[bytes]) -> str:
    return "" if text is None else text.decode("utf-8", "replace")
