"""What a search says while it runs: a table that is drawn anew at a terminal, else a line for each
trial that ends."""

from __future__ import annotations

import shutil
import sys
import time

from .choosing import best
from .driver import Driver
from .tree import Trial

ROWS = 8
STATES = ("done", "running", "paused", "waiting", "dropped", "failed")


def short(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def text_of(trial: Trial) -> str:
    score = "" if trial.score is None else f"{trial.score:.4f} at {trial.epochs:.4g} epochs"
    config = ", ".join(f"{key.split('.')[-1]} {short(value)}"
                       for key, value in trial.config.items())
    why = f" ({trial.why.splitlines()[0][:60]})" if trial.why else ""
    return f"{trial.number:4}  {trial.state:8} {score:24} {config}{why}"


class Live:
    """Called by the driver now and then, in its thread."""

    def __init__(self, plain: bool) -> None:
        self.drawn, self.told = 0, set()
        self.redraws = sys.stderr.isatty() and not plain

    def __call__(self, driver: Driver) -> None:
        if self.redraws:
            lines = table(driver)
            above = f"\x1b[{self.drawn}A\x1b[J" if self.drawn else ""
            wide = shutil.get_terminal_size().columns - 1
            print(above + "\n".join(line[:wide] for line in lines), file=sys.stderr, flush=True)
            self.drawn = len(lines)
            return
        for trial in driver.trials:
            if not trial.open() and trial.number not in self.told:
                self.told.add(trial.number)
                print(text_of(trial), file=sys.stderr, flush=True)


def table(driver: Driver) -> list[str]:
    counts = {state: sum(trial.state == state for trial in driver.trials) for state in STATES}
    slots = driver.slots()
    used = min(slots, sum(running.task.stage.slots() for running in driver.running.values()))
    lines = [f"{driver.plan.name}: " + ", ".join(f"{count} {state}" for state, count in
                                                 counts.items() if count),
             f"{time.monotonic() - driver.began:.0f} s, {used} of {slots} slots in use, "
             f"{time_left(driver)}", ""]
    lines += [text_of(trial) for trial in best(driver.plan, driver.trials)[:ROWS]]
    for running in list(driver.running.values())[:ROWS]:
        for trial in driver.waiting_for(running.task.stage.key)[:1]:
            now = f"  now {running.curve[-1][1]:.4f} at {running.curve[-1][0]:.2f}" \
                if running.curve else ""
            lines.append(text_of(trial) + now)
    return lines


def time_left(driver: Driver) -> str:
    """By the stages that are left, as if each epoch took as long as those that were made."""
    stages = {stage.key: stage.until - stage.begin for trial in driver.trials
              for stage in trial.stages}
    left = {stage.key for trial in driver.trials if trial.open()
            for stage in trial.stages[trial.at:]}
    made = sum(stages[key] for key, _ in driver.computed)
    if not made:
        return "time left not known yet"
    seconds = time.monotonic() - driver.began
    return f"some {seconds * sum(stages[key] for key in left) / made:.0f} s left"
