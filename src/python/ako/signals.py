"""SIGINT, SIGTERM, SIGHUP while a peer trains: the first asks for the end, the second is at once.

SIGINT: all peers stop after their round and agree; a second signal is a KeyboardInterrupt.
SIGTERM: this peer alone leaves; a second signal is a SystemExit with 143.
SIGHUP: as SIGINT, for the terminal is gone; it is never the second, for it may come twice.

Only the process that has installed the handlers heeds them so. A child of fork inherits them, such
as a worker of a DataLoader. There the first SIGINT is passed over, for Ctrl-C reaches all
processes of a terminal, and the workers are needed until the round has ended. Any other signal
does what it did before.
"""

from __future__ import annotations

import os
import signal
import threading
from typing import Any, Callable, Dict

from ._library import Stop

STOPS = {signal.SIGINT: Stop.RUN, signal.SIGTERM: Stop.PEER, signal.SIGHUP: Stop.RUN}
EXIT_TERMINATED = 128 + signal.SIGTERM


class SignalHandlers:
    """The handlers of these signals, from install to restore. Main thread; elsewhere it does
    nothing."""

    def __init__(self, request_stop: Callable[[Stop], None]) -> None:
        """`request_stop` is called in a handler, between two steps of the interpreter."""
        self.seen = 0  # signals that came here
        self._request_stop = request_stop
        self._process = os.getpid()
        self._old: Dict[int, Any] = {}
        self._passed_over = False

    def install(self) -> None:
        """A signal that is ignored stays so, as under nohup; as does a handler not of Python."""
        if threading.current_thread() is not threading.main_thread():
            return
        for number in STOPS:
            old = signal.getsignal(number)
            if old is not None and old != signal.SIG_IGN:
                self._old[number] = old
                signal.signal(number, self._handle)

    def restore(self) -> None:
        """The old handlers are back, but where somebody else has put one since."""
        if threading.current_thread() is not threading.main_thread():
            return
        for number, old in self._old.items():
            if signal.getsignal(number) == self._handle:
                signal.signal(number, old)
        self._old.clear()

    def _handle(self, number: int, frame: Any) -> None:
        if os.getpid() != self._process:
            self._handle_in_child(number)
            return
        if number == signal.SIGHUP and self.seen > 0:
            return
        self.seen += 1
        self._request_stop(STOPS[number])
        if self.seen > 1:
            raise KeyboardInterrupt if number == signal.SIGINT else SystemExit(EXIT_TERMINATED)

    def _handle_in_child(self, number: int) -> None:
        if number == signal.SIGINT and not self._passed_over:
            self._passed_over = True
            return
        signal.signal(number, self._old.get(number, signal.SIG_DFL))
        os.kill(os.getpid(), number)
