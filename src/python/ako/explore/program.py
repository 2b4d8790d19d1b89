"""What an explored program sees of its trial: settings, where to begin, and whom to tell.

Started by hand, outside of a search, it gets every default, and reports go to standard output.
"""

from __future__ import annotations

import json
import os
import pathlib
from typing import Any

VARIABLE = "AKO_TRIAL"  # names the folder of the stage
SCORES = "scores.jsonl"
QUESTION = "trial.json"


class Trial:
    """Of this process; read once. Any thread may report."""

    def __init__(self, folder: str | None) -> None:
        self._folder = pathlib.Path(folder) if folder else None
        self._said: dict[str, Any] = {}
        if self._folder:
            self._said = json.loads((self._folder / QUESTION).read_text())

    def get(self, name: str, default: Any = None) -> Any:
        """The value that the search chose for `name`, or the default."""
        return self._said.get("settings", {}).get(name, default)

    @property
    def until(self) -> float | None:
        """Epochs since the very beginning after which to end. None: as the program likes."""
        return self._said.get("until")

    @property
    def start(self) -> pathlib.Path | None:
        """The folder that the stage before has left, to go on from. None: begin anew."""
        return pathlib.Path(self._said["start"]) if self._said.get("start") else None

    @property
    def folder(self) -> pathlib.Path:
        """Where to leave what a later stage goes on from."""
        return self._folder or pathlib.Path()

    def report(self, epochs: float, score: float) -> None:
        """So good after so many epochs. A score that is no number ends nothing here: the search
        takes it for a failure."""
        line = json.dumps({"epochs": epochs, "score": score})
        if not self._folder:
            print(line, flush=True)
            return
        with (self._folder / SCORES).open("a") as file:
            file.write(line + "\n")


trial = Trial(os.environ.get(VARIABLE))
