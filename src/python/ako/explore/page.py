"""`explore.html`: page.html, with what a search came to put into it."""

from __future__ import annotations

import json
import pathlib
from typing import TYPE_CHECKING, Any

from .plan import Plan
from .sampling import import_optuna, space
from .tree import Trial

if TYPE_CHECKING:
    from .driver import Driver


def importance(plan: Plan, trials: list[Trial]) -> dict[str, float] | str:
    """How much of the scores each dimension explains, by Optuna (fANOVA); or why nobody knows."""
    try:
        optuna = import_optuna()
        study = optuna.create_study(direction=plan.direction)
        spaces = {d.key: space(optuna, d) for d in plan.dimensions}
        for trial in trials:
            if trial.state == "done":
                study.add_trial(optuna.trial.create_trial(
                    params=trial.config, distributions=spaces, value=trial.score))
        return dict(optuna.importance.get_param_importances(study))
    except Exception as why:  # noqa: BLE001: whatever a library says, the page is worth having
        return str(why).splitlines()[0]


def page(driver: Driver, winners: list[Trial], trials: list[dict[str, Any]], summary: str) -> str:
    """`trials`: as in results.json."""
    plan = driver.plan
    stages = {stage.key: {"parent": stage.parent.key if stage.parent else None,
                          "begin": stage.begin, "until": stage.until,
                          "seconds": driver.results.get(stage.key, {}).get("seconds")}
              for trial in driver.trials for stage in trial.stages}
    search = json.dumps({
        "name": plan.name, "summary": summary, "score": plan.score,
        "dimensions": [{"key": d.key, "log": d.log} for d in plan.dimensions],
        "winners": [trial.number for trial in winners], "trials": trials, "stages": stages,
        "importance": importance(plan, driver.trials)})
    template = pathlib.Path(__file__).with_name("page.html").read_text()
    return template.replace("SEARCH", search.replace("<", "\\u003c"), 1)
