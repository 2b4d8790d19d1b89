"""What a worker does: one stage, from its parent's data to a folder in the store.

Runs in a worker's thread; several at once in one process. The processes that it starts stop by
themselves when the worker dies: each has an attendant (`ako attend`) whose standard input ends with
it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import json
import math
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from typing import Any, TextIO

from .plan import Plan
from .program import QUESTION, SCORES, VARIABLE
from .store import Store, try_lock
from .tree import Stage

POLL_S = 0.2
GRACE_S = 15  # in which whoever is asked to stop does so
LOG_TAIL = 600  # bytes of what a failed stage has said that go into its result
LOG = "said.txt"
INITIAL = "initial.safetensors"  # what a run began with, where that is another's model

_stops: dict[str, threading.Event] = {}  # by the key of the stage: of those that run here


@dataclasses.dataclass(frozen=True)
class Task:
    """All that a worker has to know of a stage; travels."""

    stage: Stage
    plan: Plan
    store: str
    ako: str
    common: dict  # settings of all stages, which come to the same with or without
    alone: bool  # one peer, in the mode local
    slots: int  # of this machine, shared out among its processors; 0: as many as those


def stop(key: str) -> None:
    """Asks a stage to end that runs in this process. Called in a worker, outside of its threads."""
    with contextlib.suppress(KeyError):  # it has just ended
        _stops[key].set()


@contextlib.contextmanager
def slots(task: Task) -> Iterator[list[int]]:
    """Takes as many of the machine's slots as the stage may use; the processors that are theirs.
    Who dies gives them back, for they are locks on files."""
    folder = pathlib.Path(tempfile.gettempdir()) / f"ako-slots-{os.getuid()}"
    folder.mkdir(exist_ok=True)
    processors = sorted(os.sched_getaffinity(0))
    count = task.slots or len(processors)
    wanted = min(task.stage.slots(), count)
    held: list[tuple[int, TextIO]] = []
    try:
        while len(held) < wanted:
            for number in range(count):
                if file := try_lock(folder / str(number)):
                    held.append((number, file))
                if len(held) == wanted:
                    break
            else:  # two that hold some of what the other needs would wait for ever
                for _, file in held:
                    file.close()
                held.clear()
                time.sleep(POLL_S)
        yield sorted({processors[number % len(processors)] for number, _ in held})
    finally:
        for _, file in held:
            file.close()


def option(key: str, value: Any) -> list[str]:
    text = value if isinstance(value, str) else json.dumps(value)
    return ["--set", f"{key}={text}"]


def command(task: Task, store: Store, place: pathlib.Path,
            unfinished: pathlib.Path | None) -> list[str]:
    """The words that train this stage into `place`."""
    stage, plan = task.stage, task.plan
    parent = store.data(stage.parent.key) if stage.parent else None
    if not plan.cluster:
        (place / QUESTION).write_text(json.dumps(
            {"settings": dict(stage.settings), "until": stage.until,
             "start": str(parent) if parent else None}))
        return [word.replace("{name}", "p1") for word in plan.program]
    words = [task.ako, "launch", plan.cluster, "--free-ports", *option(
        "peers", f"{{count: {stage.peers}}}")]
    if task.alone:  # nobody is beside it
        (place / "run").mkdir()
        with socket.create_server(("127.0.0.1", 0)) as free:
            address = f"127.0.0.1:{free.getsockname()[1]}"
        words = [task.ako, "train", plan.cluster, "--peer", "p1", *option(
            "peers", json.dumps([{"name": "p1", "address": address}]))]
    words += ["--plain", "--output-dir", str(place / "run"), *option("run", "explore"),
              *option("training.threads", stage.cores), *option("training.must_learn", False),
              *option("training.target_accuracy", None)]
    for key, value in {**task.common, **dict(stage.settings)}.items():
        words += option(key, value)
    if stage.origin:  # it, or what it branches from, began at another's model
        model = parent / (INITIAL if stage.branches else "run/model.safetensors")
        shutil.copyfile(model, place / INITIAL)
        words += option("model.initial", str(place / INITIAL))
    if unfinished:
        words += ["--resume", str(unfinished)]
    elif stage.branches:
        words += ["--from", str(parent / "run")]
    return [*words, *option("training.epochs", stage.horizon - stage.origin),
            *option("training.until", stage.until - stage.origin)]


def lines_of(path: pathlib.Path) -> Iterator[dict[str, Any]]:
    """Of a file that may be growing, or not be there yet."""
    with contextlib.suppress(FileNotFoundError):
        for text in path.read_text().splitlines():
            with contextlib.suppress(ValueError):  # the last one is being written
                yield json.loads(text)


def read_curve(task: Task, place: pathlib.Path) -> list[tuple[float, float]]:
    """Scores so far, by epochs since the very beginning. A loss is known at the end alone."""
    if not task.plan.cluster:
        return [(line["epochs"], line["score"]) for line in lines_of(place / SCORES)]
    metrics = place / "run/metrics-p1.jsonl"
    if task.plan.score != "accuracy" or not metrics.exists():
        return []
    return [(epochs_at(task.stage, progress), score)
            for progress, score in accuracies(metrics, metrics.stat().st_size)]


@functools.lru_cache(maxsize=64)
def accuracies(metrics: pathlib.Path, _: int) -> list[tuple[float, float]]:
    """By progress; read once for each size that the file has had: it grows once a second."""
    found: dict[float, float] = {}
    for line in lines_of(metrics):
        if line.get("accuracy") is not None:
            found.setdefault(line["accuracy_at"] or 0, line["accuracy"])
    return sorted(found.items())


def epochs_at(stage: Stage, progress: float) -> float:
    """Of a run, since the very beginning."""
    return stage.origin + progress * (stage.horizon - stage.origin)


def final_result(task: Task, place: pathlib.Path) -> dict[str, Any]:
    """The curve with the score of the parameters that all agreed on as its last, and their
    digest."""
    if not task.plan.cluster:
        return {"curve": read_curve(task, place)}
    result = json.loads((place / "run/result-p1.json").read_text())
    until, score = task.stage.until, task.plan.score
    curve = [(epochs_at(task.stage, point["progress"]), point[score])
             for point in result["curve"] if point[score] is not None]
    last = [(until, result[score])] if result.get(score) is not None else []
    return {"curve": [*(point for point in curve if point[0] < until), *last],
            "digest": result["digest"]}


def missed(plan: Plan, curve: list) -> str:
    """Why a curve that has come to the threshold is not good enough; empty if it is."""
    epochs, bound = plan.threshold
    scores = [score for at, score in curve if at <= epochs] or [curve[0][1]]
    good = max(scores) >= bound if plan.direction == "maximize" else min(scores) <= bound
    return "" if good else f"not {bound:g} after {epochs:g} epochs"


class Attended:
    """A command that runs beside an attendant, on some processors."""

    def __init__(self, task: Task, words: list[str], place: pathlib.Path, cores: list[int]) -> None:
        environment = {**os.environ, VARIABLE: str(place), "PYTHONUNBUFFERED": "1"}
        for library in ("OMP", "OPENBLAS", "MKL"):
            environment[f"{library}_NUM_THREADS"] = str(task.stage.cores)
        pinned = ["taskset", "--cpu-list", ",".join(map(str, cores))]
        with (place / LOG).open("w") as said:
            self.process = subprocess.Popen([*pinned, task.ako, "attend", "--", *words],
                                            stdin=subprocess.PIPE, stdout=said, stderr=said,
                                            env=environment, cwd=task.plan.folder)
        self._asked_at: float | None = None

    def ask(self) -> None:
        """To stop; once more when the grace is over, which ends it."""
        now = time.monotonic()
        if self._asked_at is not None and now < self._asked_at + GRACE_S:
            return
        self._asked_at = now
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(b"\n")
            self.process.stdin.flush()

    def wait(self) -> tuple[int | None, float]:
        """Its exit status, and the seconds of processors that it took; None: it still runs."""
        number, status, used = os.wait4(self.process.pid, os.WNOHANG)
        if number == 0:
            return None, 0
        self.process.returncode = os.waitstatus_to_exitcode(status)
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        return self.process.returncode, used.ru_utime + used.ru_stime


def run_stage(task: Task) -> dict[str, Any]:
    """Its result. Whoever else has made it meanwhile has done so for this one too."""
    store, key, parent = Store(task.store), task.stage.key, task.stage.parent
    known = store.result(key)
    if known and store.data(key):
        return known
    if parent and not store.data(parent.key):
        return {"status": "no parent"}
    event = _stops.setdefault(key, threading.Event())
    try:
        with slots(task) as cores:
            return train(task, store, cores, event)
    finally:
        _stops.pop(key, None)


def train(task: Task, store: Store, cores: list[int], event: threading.Event) -> dict[str, Any]:
    key, threshold = task.stage.key, task.plan.threshold
    left = store.left_behind(key)
    # What somebody who was lost has left, with something to go on from.
    unfinished = next((it / "run" for it in left if any(it.glob("run/state-*.safetensors"))), None)
    place = store.workplace(key)
    began = time.monotonic()
    running = Attended(task, command(task, store, place, unfinished), place, cores)
    stopped = ""
    try:
        while True:
            code, used = running.wait()
            if code is not None:
                break
            curve = read_curve(task, place)
            if event.is_set():
                stopped = stopped or "asked to stop"
            if threshold and curve and curve[-1][0] >= threshold[0]:
                stopped = stopped or missed(task.plan, curve)
            if stopped:
                running.ask()
            time.sleep(POLL_S)
    except BaseException:
        running.process.kill()
        raise
    result = {"seconds": time.monotonic() - began, "cpu_seconds": used, "cores": cores,
              "lost": len(left), "until": task.stage.until, "status": "ok",
              "curve": read_curve(task, place)}
    if stopped:
        result.update(status="stopped", why=stopped)
    elif code != 0:
        if unfinished:  # perhaps because of that
            shutil.rmtree(unfinished.parent, ignore_errors=True)
        said = (place / LOG).read_text(errors="replace")[-LOG_TAIL:]
        result.update(status="failed", why=f"exit {code}: {said.strip()}")
    else:
        result.update(final_result(task, place))
        if result["curve"] and math.isfinite(result["curve"][-1][1]):
            return store.keep(key, place, result)
        result.update(status="failed", why="it reported no score")
    shutil.rmtree(place, ignore_errors=True)
    return result
