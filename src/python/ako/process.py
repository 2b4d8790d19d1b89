"""What a process has once for all its peers: what happens in a child of fork, at the exit, and to
an Error that nobody has caught. All of it is set up by the first join.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
from types import TracebackType
from typing import Any, Callable, List, Optional, Type

from ._native import NativePeer
from .errors import Error, StartupError

_peers: List[NativePeer] = []  # that are open; kept, so that one that is dropped says goodbye too
_is_set_up = False


def watch(peer: NativePeer) -> None:
    """From now on until it is closed: forks and the end of the process know of it."""
    _peers[:] = [*_open_peers(), peer]


def set_up() -> None:
    """Once; a second time does nothing."""
    global _is_set_up
    if not _is_set_up:
        _is_set_up = True
        os.register_at_fork(after_in_child=_after_fork)
        atexit.register(_close_all)
        sys.excepthook = exit_by_status(sys.excepthook)


def forget_launch() -> None:
    """The library has taken what `ako launch` says out of the environment; os.environ has a copy,
    with which a child of this process would take itself for the peer."""
    for name in [name for name in os.environ if name.startswith("AKO_LAUNCH_")]:
        del os.environ[name]


def _open_peers() -> List[NativePeer]:
    return [peer for peer in list(_peers) if not peer.closed]


def _after_fork() -> None:
    for peer in _open_peers():
        peer.after_fork()


def _close_all() -> None:
    """A program that forgot to close says goodbye to the other peers all the same."""
    for peer in _open_peers():
        if peer.process == os.getpid() and peer.thread == threading.get_ident():
            peer.close()


Hook = Callable[[Type[BaseException], BaseException, Optional[TracebackType]], Any]


def exit_by_status(hook: Hook) -> Hook:
    """A sys.excepthook that ends the process with the exit status of an Error.

    Of a StartupError it prints what and hint, for its traceback helps nobody. All else is for
    `hook` to print.
    """
    def ending(kind: Type[BaseException], error: BaseException,
               trace: Optional[TracebackType]) -> None:
        for peer in _open_peers():
            peer.fail(error)
        if isinstance(error, StartupError):
            print(f"ako: {error}", file=sys.stderr)
        else:
            hook(kind, error, trace)
        if isinstance(error, Error):
            # The interpreter exits with it, as with one that was raised elsewhere.
            raise SystemExit(error.exit)

    return ending
