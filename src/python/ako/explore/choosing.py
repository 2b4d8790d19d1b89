"""Who goes on, and whose data stay: the rungs of ASHA, the few that a stage keeps, and what is
dropped. Driver's thread; no input or output."""

from __future__ import annotations

import dataclasses
import math

from .plan import Plan
from .tree import Trial


class Rungs:
    """Asynchronous successive halving (Li et al., "A System for Massively Parallel Hyperparameter
    Tuning", MLSys 2020): of the trials that have come to a rung the best 1 / eta go on, as soon as
    they are that; nobody waits for others. Who does not go on keeps its place, and may later."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.scores: dict[float, dict[int, float]] = {}  # by rung, in epochs, and trial
        self.promoted: set[tuple[int, float]] = set()

    def arrive(self, trial: Trial, rung: float) -> None:
        self.scores.setdefault(rung, {})[trial.number] = trial.score

    def promotable(self) -> tuple[int, float] | None:
        """A trial that may go on from a rung, from the highest such rung."""
        for rung in sorted(self.scores, reverse=True):
            ranked = ranking(self.plan, self.scores[rung])
            for number in ranked[:len(ranked) // self.plan.asha[0]]:
                if (number, rung) not in self.promoted:
                    return number, rung
        return None

    def fails(self, number: int, rung: float, score: float) -> bool:
        """For who cannot pause: is it not among the best 1 / eta that have come here so far? Asked
        again it does not count again."""
        scores = self.scores.setdefault(rung, {})
        self.promoted.add((number, rung))
        if number in scores:
            return False
        scores[number] = score
        return number not in ranking(self.plan, scores)[:max(1, len(scores) // self.plan.asha[0])]

    def highest(self, paused: list[Trial]) -> Trial:
        """Of those that are paused the best at the highest rung, for where nobody would win."""
        top = max(trial.epochs for trial in paused)
        here = {trial.number: trial for trial in paused if trial.epochs == top}
        return here[ranking(self.plan, {number: it.score for number, it in here.items()})[0]]


def ranking(plan: Plan, scores: dict) -> list:
    """The best first, what is no number last; equal ones in the order of their names."""
    sign = -1 if plan.direction == "maximize" else 1
    return sorted(scores, key=lambda name: (math.isnan(scores[name]), sign * scores[name], name))


def best(plan: Plan, trials: list[Trial]) -> list[Trial]:
    """Those that have come to their end, the best first."""
    done = {trial.number: trial for trial in trials if trial.state == "done"}
    return [done[number] for number in
            ranking(plan, {number: trial.score for number, trial in done.items()})]


@dataclasses.dataclass
class Kept:
    """The data of one stage."""

    bytes: int
    compute_s: float  # to make it once more
    accesses: int  # that are still to come
    read_at: float = 0  # when somebody last did, for comparison with LRU

    def worth(self) -> float:
        """Accesses left, times what one of them would cost again, by the byte (the policy of
        meta-dataflows; Castro Fernandez et al., 2017)."""
        return self.accesses * self.compute_s / max(self.bytes, 1)


def to_drop(kept: dict[str, Kept], limit_bytes: float, needed: set[str],
            policy: str = "worth") -> list[str]:
    """What goes, in this order: what nobody will read again; then, where there is not room for the
    rest, what is worth least. `needed`: what must stay now."""
    gone = [key for key, it in kept.items() if it.accesses == 0 and key not in needed]
    left = {key: it for key, it in kept.items() if key not in gone}
    total = sum(it.bytes for it in left.values())
    order = {key: it.worth() if policy == "worth" else it.read_at for key, it in left.items()}
    for key in sorted((key for key in left if key not in needed), key=lambda it: (order[it], it)):
        if total <= limit_bytes:
            break
        total -= left[key].bytes
        gone.append(key)
    return gone
