"""Counting the steps of an optimizer, so that a round ends when parameters have changed.

The method `step` of the one optimizer is wrapped, and nothing else of it changes: arguments and
results pass through, marks that learning rate schedulers leave at the method stay visible, and a
scheduler made later wraps the wrapper. A GradScaler that skips a step does not call it, so it does
not count.
"""

from __future__ import annotations

import functools
import types
from typing import Any


class StepCounter:
    """How many steps an optimizer has made since this was created. One thread."""

    def __init__(self, optimizer: Any) -> None:
        """Raises TypeError if it has no method `step`."""
        step = getattr(optimizer, "step", None)
        if not callable(step):
            raise TypeError(f"the optimizer, a {type(optimizer).__name__}, has no method step")
        self.count = 0
        self._optimizer = optimizer
        self._before = vars(optimizer).get("step")

        @functools.wraps(step)
        def counted(_: Any, *args: Any, **kwargs: Any) -> Any:
            skipped = _is_skipped(optimizer)
            result = step(*args, **kwargs)
            self.count += 0 if skipped else 1
            return result

        # Bound to the optimizer, for schedulers ask for __self__ and __func__.
        self._counted = types.MethodType(counted, optimizer)
        optimizer.step = self._counted

    def batch_is_done(self) -> None:
        """A batch came back; here only steps count."""

    def close(self) -> None:
        """Takes the wrapper off, unless something else has wrapped it since."""
        if vars(self._optimizer).get("step") is not self._counted:
            return
        if self._before is None:
            del self._optimizer.step
        else:
            self._optimizer.step = self._before


def _is_skipped(optimizer: Any) -> bool:
    """Fused optimizers are called for a step that a GradScaler skips, and then do nothing."""
    found = getattr(optimizer, "found_inf", None)
    return found is not None and float(found) > 0


class BatchCounter:
    """In place of an optimizer that Ako does not know: every batch is one step."""

    def __init__(self) -> None:
        self.count = 0

    def batch_is_done(self) -> None:
        self.count += 1

    def close(self) -> None:
        """Nothing was changed."""
