"""Where configurations come from: a grid, chance, or Optuna's TPE, asked and told in this process
alone."""

from __future__ import annotations

from typing import Any

from .plan import Dimension, Plan, PlanError


class Grid:
    """Every configuration once, those that share much after one another."""

    def __init__(self, plan: Plan, asked: int) -> None:
        self.rest = plan.grid()[asked:plan.trials]

    def ask(self) -> dict[str, Any] | None:
        return self.rest.pop(0) if self.rest else None

    def tell(self, number: int, score: float | None) -> None:
        """What the trial of that number came to; None: it failed."""


class Sampled(Grid):
    """Optuna's samplers. `asked`: what an earlier process of this search has asked for, with what
    is known of each; a sampler goes on from there, though not with the very same numbers."""

    def __init__(self, plan: Plan, asked: list[tuple[dict[str, Any], float | None]]) -> None:
        optuna = import_optuna()
        sampler = {"random": optuna.samplers.RandomSampler, "tpe": optuna.samplers.TPESampler}
        self.study = optuna.create_study(direction=plan.direction, sampler=sampler[plan.sampler](
            seed=(plan.seed or 1) + len(asked)))
        self.spaces = {dimension.key: space(optuna, dimension) for dimension in plan.dimensions}
        self.trials: list[Any] = []
        self.told: set[int] = set()
        self.left = plan.trials
        for number, (config, score) in enumerate(asked):
            self.study.enqueue_trial(config)
            self.ask()
            if score is not None:
                self.tell(number, score)

    def ask(self) -> dict[str, Any] | None:
        if self.left == 0:
            return None
        self.left -= 1
        self.trials.append(self.study.ask(self.spaces))
        return dict(self.trials[-1].params)

    def tell(self, number: int, score: float | None) -> None:
        if number not in self.told:  # by an earlier driver, too
            self.told.add(number)
            failed = import_optuna().trial.TrialState.FAIL if score is None else None
            self.study.tell(self.trials[number], score, state=failed)


def space(optuna: Any, dimension: Dimension) -> Any:
    if dimension.values:
        return optuna.distributions.CategoricalDistribution(dimension.values)
    return optuna.distributions.FloatDistribution(dimension.low, dimension.high, log=dimension.log)


def import_optuna() -> Any:
    try:
        import optuna
    except ImportError:
        raise PlanError("sampler: random and tpe need Optuna: apt install python3-optuna, or pip "
                        "install optuna") from None
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna


def source_of(plan: Plan, asked: list[tuple[dict[str, Any], float | None]]) -> Grid:
    return Grid(plan, len(asked)) if plan.sampler == "grid" else Sampled(plan, asked)
