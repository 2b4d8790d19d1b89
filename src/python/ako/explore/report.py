"""What a search leaves: the lines that it prints, results.json, best.yaml, explore.html."""

from __future__ import annotations

import json
import pathlib
import time
from collections.abc import Callable

import yaml

from .driver import Driver
from .live import text_of
from .page import page
from .plan import Plan, PlanError
from .tree import Stage, Tree, Trial


def listed(plan: Plan, tree: Tree, seconds_of: Callable[[Stage], float] | None,
           slots: int) -> str:
    """What a grid would train, what of it is shared, and how long that takes. `seconds_of`: of a
    stage; None: nobody knows that of a program."""
    if plan.sampler != "grid":
        return f"{plan.name}: {plan.trials} trials, which sampler: {plan.sampler} asks one by one"
    trials = [tree.trial(number, config) for number, config in enumerate(plan.grid()[:plan.trials])]
    stages = {stage.key: stage for trial in trials for stage in trial.stages}
    alone = sum(stage.until - stage.begin for trial in trials for stage in trial.stages)
    together = sum(stage.until - stage.begin for stage in stages.values())
    return "\n".join([
        *(f"{text_of(trial).rstrip()}: " + " > ".join(
            f"{stage.key[:8]} to {stage.until:g}" for stage in trial.stages) for trial in trials),
        f"{plan.name}: {len(trials)} trials, {len(stages)} stages; {alone:g} epochs alone, "
        f"{together:g} with what is shared trained once ({alone / together:.2f} times fewer)",
        *([predicted(trials, stages, seconds_of, slots)] if seconds_of else [])])


def predicted(trials: list[Trial], stages: dict[str, Stage],
              seconds_of: Callable[[Stage], float], slots: int) -> str:
    try:
        seconds = {key: seconds_of(stage) for key, stage in stages.items()}
    except PlanError as error:
        return f"time not predicted: {error}"
    used = sum(seconds[key] * stage.slots() for key, stage in stages.items())
    longest = max(sum(seconds[it.key] for it in trial.stages) for trial in trials)
    return (f"predicted: {sum(seconds.values()):.0f} s of training, not less than "
            f"{max(used / slots, longest):.0f} s on {slots} slots; starts and ends come on top")


def write(driver: Driver, winners: list[Trial], folder: pathlib.Path, tree: dict) -> str:
    """All of it; what to print. `tree`: of the cluster file."""
    seconds = time.monotonic() - driver.began
    spent = sum(seconds for _, seconds in driver.computed)
    trials = [{"trial": trial.number, "state": trial.state, "score": trial.score,
               "epochs": trial.epochs, "why": trial.why, "config": trial.config,
               "curve": trial.curve, "stages": [stage.key for stage in trial.stages],
               "digest": driver.results.get(trial.stages[trial.at - 1].key, {}).get("digest")}
              for trial in driver.trials]
    (folder / "results.json").write_text(json.dumps({
        "seconds": round(seconds, 2), "computed_seconds": round(spent, 2),
        "stages_computed": len(driver.computed), "stages_found": len(driver.found),
        "computed_again": driver.again, "lost_with_workers": driver.lost,
        "dropped_mb": round(driver.dropped_bytes / 1e6, 1), "trials": trials}, indent=1))
    if winners:
        chosen = winners[0].config if not driver.plan.cluster else \
            cluster_file(tree, winners[0], driver.plan.seed)
        (folder / "best.yaml").write_text(yaml.safe_dump(chosen, sort_keys=False))
    summary = (f"{len(driver.trials)} trials in {seconds:.1f} s: {len(driver.computed)} stages of "
               f"{spent:.1f} s, {len(driver.found)} were there already, {driver.again} made again, "
               f"{driver.lost} lost with their workers")
    (folder / "explore.html").write_text(page(driver, winners[:driver.plan.keep], trials, summary))
    return "\n".join([*(text_of(trial) for trial in winners[:driver.plan.keep]), summary,
                      f"{folder}: explore.html, best.yaml, results.json"])


def cluster_file(tree: dict, winner: Trial, seed: int | None) -> dict:
    """For `ako launch`: whoever has chosen may train on all data, and judge by the test set."""
    for key, value in winner.stages[-1].settings:
        *path, last = key.split(".")
        place = tree
        for part in path:
            place = place.setdefault(part, {})
        place[last] = value
    last = winner.stages[winner.at - 1]
    tree.setdefault("data", {})["validation"] = 0
    tree["training"].update(epochs=last.until, threads=last.cores)
    tree["peers"] = {"count": last.peers}
    if seed is not None:
        tree["seed"] = seed
    return tree
