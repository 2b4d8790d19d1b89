"""The store: what each stage came to, under the stage's key, in a folder that all workers see.

    stages/KEY/result.json    its scores, and what it cost; stays
    stages/KEY/data           what later stages go on from; goes as soon as nobody will
    work/KEY.NONCE            what is being computed, and what a lost worker has left

A stage is in `stages` whole or not at all, for its folder gets that name once all is on the disk.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import pathlib
import shutil
import time
import uuid
from typing import Any, TextIO

from .plan import PlanError


def synced_write(path: pathlib.Path, text: str) -> None:
    with path.open("w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


class Store:
    """Driver and workers each have one of the same folder; only the driver drops."""

    def __init__(self, root: str | pathlib.Path) -> None:
        self.root = pathlib.Path(root)
        self.stages, self.work = self.root / "stages", self.root / "work"
        for folder in (self.stages, self.work):
            folder.mkdir(parents=True, exist_ok=True)

    def result(self, key: str) -> dict[str, Any] | None:
        try:
            return json.loads((self.stages / key / "result.json").read_text())
        except FileNotFoundError:
            return None

    def data(self, key: str) -> pathlib.Path | None:
        folder = self.stages / key / "data"
        return folder if folder.is_dir() else None

    def workplace(self, key: str) -> pathlib.Path:
        folder = self.work / f"{key}.{uuid.uuid4().hex[:8]}"
        folder.mkdir()
        return folder

    def left_behind(self, key: str) -> list[pathlib.Path]:
        """What earlier tries at this stage have left, newest first."""
        found = []
        for path in self.work.glob(f"{key}.*"):
            with contextlib.suppress(FileNotFoundError):  # it has just become whole
                if path.suffix != ".whole":
                    found.append((path.stat().st_mtime, path))
        return [path for _, path in sorted(found, reverse=True)]

    def keep(self, key: str, workplace: pathlib.Path,
             result: dict[str, Any]) -> dict[str, Any]:
        """The workplace becomes the stage; the result that counts. Whoever comes second has done
        the same work: theirs goes, unless the first one's data have gone meanwhile."""
        whole = self.work / f"{key}.{uuid.uuid4().hex[:8]}.whole"
        whole.mkdir()
        result = {**result, "bytes": sum(path.stat().st_size for path in workplace.rglob("*"))}
        workplace.rename(whole / "data")
        synced_write(whole / "result.json", json.dumps(result))
        try:
            whole.rename(self.stages / key)
        except OSError:
            if self.data(key) is None:
                (whole / "data").rename(self.stages / key / "data")
            shutil.rmtree(whole, ignore_errors=True)
        descriptor = os.open(self.stages, os.O_RDONLY)
        os.fsync(descriptor)
        os.close(descriptor)
        for rest in self.left_behind(key):
            shutil.rmtree(rest, ignore_errors=True)
        return self.result(key) or result

    def drop(self, key: str) -> None:
        """Its data; the result stays."""
        if folder := self.data(key):
            gone = self.work / f"gone.{uuid.uuid4().hex[:8]}"
            folder.rename(gone)
            shutil.rmtree(gone, ignore_errors=True)


def try_lock(path: pathlib.Path) -> TextIO | None:
    """The file, locked until it is closed or this process ends; None: somebody else has it."""
    lock = path.open("w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.close()
        return None
    return lock


class Search(contextlib.ExitStack):
    """The folder of one search: its journal, and the locks that make it the only one there and in
    its store. `with`."""

    def __init__(self, folder: str | pathlib.Path, store: Store, plan_digest: str,
                 resume: bool) -> None:
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        super().__init__()
        self.path = self.folder / "journal.jsonl"
        self.lines: list[dict[str, Any]] = []
        self.began = time.monotonic()
        try:
            for place, option in ((self.folder, "--output-dir"), (store.root, "--store")):
                lock = try_lock(place / "lock")
                if lock is None:
                    raise PlanError(f"{place}: another search is using it; wait for that, or name "
                                    f"another folder with {option}")
                self.enter_context(lock)
            self._open(plan_digest, resume)
        except PlanError:
            self.close()
            raise

    def _open(self, plan_digest: str, resume: bool) -> None:
        if self.path.exists():
            text = self.path.read_text()
            whole = text.rpartition("\n")[0]
            if not text.endswith("\n"):  # the last line is half of one
                synced_write(self.path, whole + "\n" if whole else "")
            self.lines = [json.loads(line) for line in whole.splitlines()]
        self.began -= max((line.get("at_s", 0) for line in self.lines), default=0)
        if self.lines and self.lines[0]["plan"] != plan_digest:
            raise PlanError(f"{self.folder}: is of another plan, or the plan was changed since; "
                            "name another folder with --output-dir (what both need is found)")
        if self.lines and not resume:
            raise PlanError(f"{self.folder}: this plan was begun there; --resume goes on with it")
        if not self.lines:
            self.write({"plan": plan_digest})

    def write(self, line: dict[str, Any]) -> None:
        line = {**line, "at_s": round(self.seconds(), 2)}
        self.lines.append(line)
        with self.path.open("a") as file:
            file.write(json.dumps(line) + "\n")
            file.flush()
            os.fsync(file.fileno())

    def seconds(self) -> float:
        """Of this search, in all the processes that it has had."""
        return time.monotonic() - self.began
