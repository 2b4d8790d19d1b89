"""Stages and trials: what has to be trained, named by what it is made of, so that what several
configurations share is one stage (stage trees: Shin et al., "Hippo", VLDB 2020)."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from typing import Any

from .plan import NORMALISATIONS, Plan


def fingerprint(*parts: Any) -> str:
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:24]


@dataclasses.dataclass(frozen=True)
class Stage:
    """From `begin` to `until`, in epochs since the very beginning. Equal keys are the same work."""

    key: str
    parent: Stage | None
    settings: tuple  # of (key, value), sorted: all that is said beyond the cluster file
    begin: float
    until: float
    horizon: float  # epochs that schedules are laid out for
    branches: bool  # from the parent's checkpoint; else only its model is taken over
    origin: float  # epochs before this run and those that it branches from, whose model it took
    peers: int
    cores: int

    def slots(self) -> int:
        return self.peers * self.cores

    def chain(self) -> list[Stage]:
        """From the first one to this."""
        return [*(self.parent.chain() if self.parent else []), self]


@dataclasses.dataclass
class Trial:
    """A configuration on its way through its stages. Driver's thread."""

    number: int
    config: dict
    stages: list[Stage]
    cuts: list[int]  # so many of `stages` are made when a stage of the plan ends
    rungs: frozenset  # and when it comes to a rung of ASHA
    at: int = 0  # so many are made
    state: str = "waiting"  # waiting, running, paused, done, dropped, failed
    why: str = ""
    curve: list = dataclasses.field(default_factory=list)  # (epochs, score), rising epochs

    @property
    def score(self) -> float | None:
        return self.curve[-1][1] if self.curve else None

    @property
    def epochs(self) -> float:
        return self.curve[-1][0] if self.curve else 0

    def open(self) -> bool:
        return self.state in ("waiting", "running", "paused")

    def next(self) -> Stage | None:
        return self.stages[self.at] if self.at < len(self.stages) else None


class Tree:
    """Makes the stages of configurations. `base`: the digest of all that they have in common: the
    cluster file or the program, data, version. `constant`: no schedule looks at the epochs to
    come, so that configurations of other lengths share their beginning."""

    def __init__(self, plan: Plan, base: str, usual: dict, constant: bool) -> None:
        self.plan, self.constant = plan, constant
        self.usual = usual  # what the cluster file says, by full keys
        self.base = fingerprint(base, plan.score)

    def trial(self, number: int, config: dict) -> Trial:
        plan = self.plan
        stages: list[Stage] = []
        cuts: list[int] = []
        settings: dict[str, Any] = {"data.validation": plan.validation} \
            if plan.cluster and plan.validation else {}
        units = {"peers": plan.peers, "cores": plan.cores}
        lengths = [self._epochs(place, config) for place in range(len(plan.stages))]
        horizon = sum(self._lengths(place)[-1] for place in range(len(plan.stages))) \
            if self.constant else sum(lengths)
        begin = 0.0
        rungs = set()
        for place, stage in enumerate(plan.stages):
            settings = {**settings, **self._settings(place, config)}
            for unit in units:
                units[unit] = settings.pop(f"units.{unit}", units[unit])
            if stage.kind == "data":
                continue
            marks = self._rungs(place, begin, lengths[place])
            for until in sorted({*self._ends(place, begin, lengths[place]), *marks}):
                stages.append(self._stage(stages, settings, begin if not stages else
                                          stages[-1].until, until, horizon, units))
                if until in marks:
                    rungs.add(len(stages))
            begin += lengths[place]
            cuts.append(len(stages))
        if not self.resumable():  # it trains the whole way at once
            stages, cuts = stages[-1:], [1]
        return Trial(number, config, stages, cuts, frozenset(rungs))

    def _lengths(self, place: int) -> list[float]:
        """That a stage of the plan may have, rising."""
        explored = next((d for d in self.plan.dimensions
                         if d.stage == place and d.key == "epochs"), None)
        if explored is None:
            return [self.plan.stages[place].epochs]
        return sorted(explored.values) if explored.values else [explored.high]

    def _epochs(self, place: int, config: dict) -> float:
        explored = any(d.stage == place and d.key == "epochs" for d in self.plan.dimensions)
        return config["epochs"] if explored else self.plan.stages[place].epochs

    def _settings(self, place: int, config: dict) -> dict:
        """What this stage of the plan says for that configuration, with full keys."""
        said = dict(self.plan.stages[place].settings)
        said.update({d.key: config[d.key] for d in self.plan.dimensions
                     if d.stage == place and d.key != "epochs"})
        found: dict[str, Any] = {}
        for key, value in said.items():
            if isinstance(value, dict):  # several settings that change together
                found.update(value)
            elif key == "normalise" and self.plan.stages[place].kind == "data":
                found.update(NORMALISATIONS[value])
            elif self.plan.stages[place].kind == "data" and not key.startswith("data."):
                found[f"data.{key}"] = value
            else:
                found[key] = value
        return found

    def _ends(self, place: int, begin: float, length: float) -> list[float]:
        """Where stages are cut besides: at the lengths that others have."""
        others = self._lengths(place) if self.constant and self.resumable() else []
        return [begin + length, *(begin + other for other in others if other < length)]

    def _rungs(self, place: int, begin: float, length: float) -> list[float]:
        """Of ASHA, in the plan's last stage."""
        found = []
        if self.plan.asha and place == len(self.plan.stages) - 1 and self.resumable():
            eta, rung = self.plan.asha
            while rung < length:
                found.append(begin + rung)
                rung *= eta
        return found

    def resumable(self) -> bool:
        return bool(self.plan.cluster) or self.plan.resumes

    def _stage(self, before: list[Stage], settings: dict, begin: float, until: float,
               horizon: float, units: dict) -> Stage:
        parent = before[-1] if before else None
        if not self.resumable():
            parent, begin = None, 0.0
        branches = parent is not None and self._can_branch(dict(parent.settings), settings, parent,
                                                           units)
        origin = parent.origin if branches else begin
        said = tuple(sorted(settings.items()))
        key = fingerprint(self.base, parent.key if parent else None, said, begin, until, horizon,
                          branches, units, self.plan.seed)
        return Stage(key, parent, said, begin, until, horizon, branches, origin, units["peers"],
                     units["cores"])

    def _can_branch(self, before: dict, after: dict, parent: Stage, units: dict) -> bool:
        """As `ako train --from`: what trains may change, what is trained and by how many not."""
        if not self.plan.cluster:
            return True
        changed = [key for key in {*before, *after} if before.get(key) != after.get(key)]
        local = after.get("exchange.mode", self.usual.get("exchange.mode")) == "local"
        kept = {"exchange.consistency": "bsp", "exchange.placement": "co-located",
                "exchange.elastic": False}  # else the mode keeps no checkpoints
        if any(after.get(key, self.usual.get(key, value)) != value for key, value in kept.items()):
            return False
        return parent.peers == units["peers"] and all(
            key.startswith("training.") and not key.startswith("training.learners") and
            (local or not key.startswith("training.batch")) for key in changed)
