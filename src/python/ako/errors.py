"""What can end a peer, as exceptions: what happened, what to do about it, and the exit status.

The exit statuses are those of `ako train`. process.py sees to it that a program that does not
catch an Error exits with its status.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Optional

if TYPE_CHECKING:
    from .report import Report


class Error(Exception):
    """A peer could not go on.

    `what` is a sentence and `hint` what to do about it, perhaps empty. `exit` is the status that
    the process should exit with. `report` says how the run went, where it came that far.
    """

    exit: int = 5
    report: Optional[Report] = None

    def __init__(self, what: str, hint: str = "", *, exit: Optional[int] = None,
                 report: Optional[Report] = None) -> None:
        super().__init__(what, hint)
        self.what = what
        self.hint = hint
        if exit is not None:
            self.exit = exit
        self.report = report

    def __str__(self) -> str:
        return f"{self.what}\n     {self.hint}" if self.hint else self.what


class StartupError(Error):
    """It could not begin: settings, ports, memory, peers that differ, or a model that won't do."""

    exit = 2


class NotFinite(Error):
    """A parameter of this peer is not finite or far beyond what is usual, or twenty losses in a row
    are no numbers; or so it was at a peer that the mode needs. Nothing of the round was sent."""

    exit = 3


class Interrupted(Error):
    """A signal ended the run, or the part of this peer in it. All results have been written."""

    exit = 130


class NoAgreementWarning(UserWarning):
    """The model holds no parameters that all who finished have agreed on."""


def error_class(exit: int) -> type:
    """The exception that stands for an exit status other than 0."""
    classes = {2: StartupError, 3: NotFinite, 130: Interrupted, 143: Interrupted}
    return classes.get(exit, Error)


# Users see them by these names, in tracebacks too.
for _public in (Error, StartupError, NotFinite, Interrupted, NoAgreementWarning):
    _public.__module__ = "ako"
