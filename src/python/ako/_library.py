"""The C interface of libako.so, include/ako/ako.h, as ctypes see it: constants, structures and
functions in the order of the header, and where the library is found.

Every call through ctypes.CDLL lets go of Python's global lock, so other threads run meanwhile.
"""

from __future__ import annotations

import ctypes
import enum
import functools
import os
import pathlib
from ctypes import POINTER, c_char_p, c_double, c_float, c_int, c_size_t, c_uint64, c_void_p
from typing import Any, List

API_VERSION = 2  # AKO_API_VERSION of the header that this file follows
FILE_NAME = "libako.so"


class Status(enum.IntEnum):
    OK = 0
    WRONG_CALL = 1
    START_UP = 2
    NUMBERS = 3
    FAILED = 5


class View(enum.IntEnum):
    LINES = 0
    LIVE = 1
    NONE = 2


class Next(enum.IntEnum):
    TRAIN = 0
    WAIT = 1
    FINISH = 2
    GIVE_UP = 3


class Initial(enum.IntEnum):
    SAME = 0
    OF_LOWEST = 1


class Finish(enum.IntEnum):
    FINISHING = 0
    FINISHED = 1
    FINISHED_WITHOUT = 2


class State(enum.IntEnum):
    NONE = 0
    OPENED = 1
    TRAINING = 2
    FINISHING = 3
    OVER = 4


class Stop(enum.IntEnum):
    RUN = 1
    PEER = 2


class Options(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("file", c_char_p), ("peer", c_char_p),
                ("overrides", POINTER(c_char_p)), ("override_count", c_size_t),
                ("output_dir", c_char_p), ("view", c_int)]


class Tensor(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("shape", POINTER(c_size_t)),
                ("strides", POINTER(ctypes.c_ssize_t)), ("dimensions", c_size_t)]


class Standing(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("rounds", c_uint64), ("samples", c_uint64),
                ("progress", c_double), ("epochs", c_double), ("seed", c_uint64),
                ("place", c_size_t), ("trainers", c_size_t), ("batch", c_size_t),
                ("evaluates", c_int)]


# Peers and vectors are addresses here: a vector of float32 is handed in by where it lies.
_FUNCTIONS = (
    ("ako_version", c_char_p, []),
    ("ako_open", c_int, [c_int, POINTER(Options), POINTER(c_void_p)]),
    ("ako_message", c_char_p, [c_void_p]),
    ("ako_hint", c_char_p, [c_void_p]),
    ("ako_set_layout", c_int, [c_void_p, POINTER(Tensor), c_size_t]),
    ("ako_set_data", c_int, [c_void_p, c_uint64, c_uint64]),
    ("ako_set_data_digest", c_int, [c_void_p, c_char_p]),
    ("ako_require_equal", c_int, [c_void_p, c_char_p, c_char_p]),
    ("ako_start", c_int, [c_void_p, c_void_p, c_int]),
    ("ako_begin_round", c_int, [c_void_p, c_double, c_void_p, POINTER(c_int)]),
    ("ako_end_round", c_int, [c_void_p, c_void_p, POINTER(c_float)]),
    ("ako_copy_anchor", c_int, [c_void_p, c_void_p]),
    ("ako_get_state", c_int, [c_void_p]),
    ("ako_get_standing", c_int, [c_void_p, POINTER(Standing)]),
    ("ako_announce", c_int, [c_void_p, c_double, c_float, POINTER(c_float)]),
    ("ako_request_stop", None, [c_void_p, c_int]),
    ("ako_stops_requested", c_int, [c_void_p]),
    ("ako_step_finish", c_int, [c_void_p, c_double, c_void_p, POINTER(c_int)]),
    ("ako_final_result", c_int, [c_void_p, c_float, POINTER(c_float)]),
    ("ako_report", c_int, [c_void_p, POINTER(c_char_p)]),
    ("ako_metrics", c_int, [c_void_p, POINTER(c_char_p)]),
    ("ako_run_folder", c_char_p, [c_void_p]),
    ("ako_take_log", c_int, [c_void_p, POINTER(c_char_p)]),
    ("ako_after_fork", None, [c_void_p]),
    ("ako_fail", c_int, [c_void_p, c_char_p]),
    ("ako_close", None, [c_void_p]),
)


@functools.lru_cache(maxsize=None)
def load() -> Any:
    """The library with its functions declared; the same one every time.

    It is looked for where AKO_LIBRARY says, beside this package, in build/release of a clone in
    which the package lies, and where the system keeps libraries. Raises ImportError.
    """
    named = os.environ.get("AKO_LIBRARY")
    if named:
        return _declared(named)
    places = _places()
    for place in places:
        if place.exists():
            return _declared(str(place))
    try:
        return _declared(FILE_NAME)
    except OSError as error:
        looked = "\n  ".join(str(place) for place in places)
        raise ImportError(
            f"{FILE_NAME} is not there. Looked at:\n  {looked}\n  the libraries of the system: "
            f"{error}\nBuild it, install the wheel of Ako, or set AKO_LIBRARY to its path."
        ) from None


def version() -> str:
    """Of the library, such as "0.1.0 (commit)". Raises ImportError."""
    return load().ako_version().decode("utf-8", "replace")


def _places() -> List[pathlib.Path]:
    package = pathlib.Path(__file__).resolve().parent
    places = [package / FILE_NAME]
    clone = package.parents[2] if len(package.parents) > 2 else package
    if (clone / "include" / "ako" / "ako.h").exists():
        places.append(clone / "build" / "release" / FILE_NAME)
    return places


def _declared(path: str) -> Any:
    """Raises OSError only for a bare file name, so that load() can say where it has looked."""
    try:
        library = ctypes.CDLL(path)
    except OSError as error:
        if os.sep not in path:
            raise
        raise ImportError(f"{path} cannot be loaded: {error}") from None
    for name, result, arguments in _FUNCTIONS:
        try:
            function = getattr(library, name)
        except AttributeError:
            raise ImportError(f"{path} has no {name}: it belongs to another version of Ako"
                              ) from None
        function.restype = result
        function.argtypes = arguments
    return library
