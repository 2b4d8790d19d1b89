"""The driver: one thread that knows where every trial stands, gives stages to Dask's workers, and
decides who goes on. All that is finished is in the store; a driver that dies is started again with
`--resume`, and looks there."""

from __future__ import annotations

import collections
import dataclasses
import time
from collections.abc import Callable
from typing import Any

from . import work
from .choosing import Kept, Rungs, best, ranking, to_drop
from .plan import Plan
from .sampling import source_of
from .store import Search, Store
from .tree import Stage, Tree, Trial

POLL_S = 0.1
LIVE_S = 0.5  # between two looks at what is running
FAILURES_MAX = 2  # of a stage; then its trials have failed
# Of a worker, and not a failure of what it did.
LOSSES = ("KilledWorker", "CancelledError", "CommClosedError")


@dataclasses.dataclass
class Running:
    task: work.Task
    future: Any
    asked: bool = False  # to stop
    curve: list = dataclasses.field(default_factory=list)


class SchedulerLost(Exception):
    """What is finished is in the store; what was not has to be asked for once more."""


class Driver:
    """`task_of` makes the task of a stage; `show` is told of the driver now and then."""

    def __init__(self, plan: Plan, search: Search, store: Store, tree: Tree, client: Any,
                 task_of: Callable[[Stage], work.Task], show: Callable[[Driver], None]) -> None:
        self.plan, self.search, self.store, self.tree = plan, search, store, tree
        self.client, self.task_of, self.show = client, task_of, show
        self.rungs = Rungs(plan)
        self.trials: list[Trial] = []
        self.running: dict[str, Running] = {}  # by the key of the stage, as all of these
        self.results: dict[str, dict[str, Any]] = {}
        self.looked: set[str] = set()  # that were looked up in the store
        self.present: set[str] = set()  # whose data are in the store
        self.failures: dict[str, list[str]] = {}
        self.read_at: dict[str, float] = {}
        self.over = ""  # why nothing more is begun
        self._slots, self._slots_until = 0, 0.0
        # What the search has cost, and what it has spared.
        self.began = time.monotonic()
        self.computed: list[tuple[str, float]] = []  # each stage that was made, and its seconds
        self.found: set[str] = set()  # that the store had
        self.lost = self.again = self.dropped_bytes = 0
        self._begin()

    def _begin(self) -> None:
        """Trials that an earlier driver has asked for are made again, with what became of them."""
        configs = [line["config"] for line in self.search.lines if "config" in line]
        ended = {line["trial"]: line for line in self.search.lines if "state" in line}
        for line in self.search.lines:
            if "promoted" in line:
                self.rungs.promoted.add(tuple(line["promoted"]))
        self.own = {line["stage"] for line in self.search.lines if "stage" in line}
        self.trials = [self.tree.trial(number, config) for number, config in enumerate(configs)]
        for number, line in ended.items():
            if line["state"] != "done":  # what is done is found in the store
                self.trials[number].state, self.trials[number].why = line["state"], line["why"]
        self.source = source_of(self.plan, [(config, ended.get(number, {}).get("score"))
                                            for number, config in enumerate(configs)])
        while self.plan.sampler == "grid" and self._ask():
            pass

    def _ask(self) -> bool:
        """One more trial, if there is one."""
        config = self.source.ask()
        if config is not None:
            self.search.write({"config": config, "trial": len(self.trials)})
            self.trials.append(self.tree.trial(len(self.trials), config))
        return config is not None

    def run(self) -> list[Trial]:
        """Until nothing is left to do; the best trials, the best first."""
        next_look = 0.0
        while True:
            self._collect()
            for trial in self.trials:
                self._advance(trial)
            self._choose()
            if not self.over and self.search.seconds() > self.plan.hours * 3600:
                self.finish("the time is over")
            self._submit()
            self._drop()
            if time.monotonic() >= next_look:
                next_look = time.monotonic() + LIVE_S
                self._look()
                self.show(self)
            if not self.running and not self._wanted():
                return best(self.plan, self.trials)
            time.sleep(POLL_S)

    def finish(self, why: str) -> None:
        """Nothing more is begun, and what runs is asked to stop."""
        self.over = why
        self.stop_all()
        for trial in self.trials:
            if trial.open():
                self._end(trial, "dropped", why)

    def stop_all(self) -> None:
        for running in self.running.values():
            self._stop(running)

    # ---- what came back

    def _collect(self) -> None:
        for key, running in list(self.running.items()):
            if not running.future.done():
                continue
            if running.future.status == "finished" or running.asked:
                del self.running[key]
            if running.future.status == "finished":
                self._take(running, running.future.result())
            elif running.future.status == "error" and not running.asked and \
                    type(why := running.future.exception()).__name__ not in LOSSES:
                del self.running[key]
                self.failures.setdefault(key, []).append(f"{type(why).__name__}: {why}")
            elif not running.asked:
                # The worker was lost, or its place among the others: the stage is made anew, by
                # somebody, from what was left of it.
                running.future = self._submitted(running.task)

    def _take(self, running: Running, result: dict[str, Any]) -> None:
        key = running.task.stage.key
        self.lost += result.get("lost", 0)
        if result["status"] == "ok":
            self.again += key in self.results
            self.results[key] = result
            self.present.add(key)
            self.own.add(key)
            self.computed.append((key, result["seconds"]))
            self.search.write({"stage": key, "seconds": result["seconds"]})
        elif result["status"] == "failed":
            self.failures.setdefault(key, []).append(result["why"])
        elif result["status"] == "no parent":
            self.present.discard(running.task.stage.parent.key)
        elif result["status"] == "stopped" and not running.asked:
            for trial in self.waiting_for(key):
                trial.curve.extend(map(tuple, result["curve"]))
                self._end(trial, "dropped", result["why"])

    def waiting_for(self, key: str) -> list[Trial]:
        return [trial for trial in self.trials
                if trial.open() and trial.next() and trial.next().key == key]

    def _end(self, trial: Trial, state: str, why: str = "") -> None:
        trial.state, trial.why = state, why
        self.search.write({"trial": trial.number, "state": state, "why": why,
                           "score": trial.score if state == "done" else None})
        self.source.tell(trial.number, trial.score if state != "failed" else None)

    # ---- where trials stand

    def _result(self, key: str) -> dict[str, Any] | None:
        if key in self.results or key in self.running or key in self.looked:
            return self.results.get(key)
        self.looked.add(key)  # once: nobody else adds to this store meanwhile
        if known := self.store.result(key):
            self.results[key] = known
            self.found.add(key)
            if self.store.data(key):
                self.present.add(key)
        return self.results.get(key)

    def _advance(self, trial: Trial) -> None:
        while trial.state in ("waiting", "running") and (stage := trial.next()):
            for before in stage.chain():  # one of them may have to be made once more
                if len(self.failures.get(before.key, ())) >= FAILURES_MAX:
                    return self._end(trial, "failed", self.failures[before.key][-1])
            result = self._result(stage.key)
            if result is None:
                return
            trial.at += 1
            trial.curve.extend(tuple(it) for it in result["curve"] if it[0] > trial.epochs)
            good, threshold = self.plan.first_good, self.plan.threshold
            bad = threshold and trial.epochs >= threshold[0] and \
                work.missed(self.plan, trial.curve)
            if bad:
                self._end(trial, "dropped", bad)
            elif good is not None and not self.plan.better(good, trial.score):
                self._end(trial, "done")
                self.finish(f"trial {trial.number} is good enough")
            elif trial.next() is None:
                self._end(trial, "done")
            elif trial.at in trial.rungs:
                self.rungs.arrive(trial, stage.until)
                if (trial.number, stage.until) not in self.rungs.promoted:
                    trial.state = "paused"
            elif self._keep_at(trial) is not None:
                trial.state = "paused"

    def _keep_at(self, trial: Trial) -> int | None:
        """How many of the branches of the stage that it has just made go on; None: all."""
        if trial.at not in trial.cuts[:-1]:
            return None
        trained = [stage for stage in self.plan.stages if stage.kind != "data"]
        return trained[trial.cuts.index(trial.at)].keep

    def _choose(self) -> None:
        """Where a stage keeps a few, they go on once all have come there."""
        for place in {trial.at for trial in self.trials if trial.state == "paused" and
                      self._keep_at(trial) is not None}:
            here = [it for it in self.trials if it.state == "paused" and it.at == place]
            if any(it.state in ("waiting", "running") and it.at < place for it in self.trials):
                continue
            scores = {trial.stages[place - 1].key: trial.score for trial in here}
            kept = ranking(self.plan, scores)[:self._keep_at(here[0])]
            for trial in here:
                if trial.stages[place - 1].key in kept:
                    trial.state = "running"
                else:
                    self._end(trial, "dropped", "others were better")

    # ---- what is next

    def _wanted(self) -> list[Stage]:
        """What could run now, the longest way to go first, then by number."""
        found: dict[str, Stage] = {}
        waiting = [trial for trial in self.trials if trial.state in ("waiting", "running")]
        for trial in sorted(waiting, key=lambda it: (it.next().until - it.stages[-1].until,
                                                     it.number)):
            stage = trial.next()
            while stage.parent and stage.parent.key not in self.present:
                stage = stage.parent  # whose data are gone
            if stage.key not in self.running:
                found.setdefault(stage.key, stage)
        return [] if self.over else list(found.values())

    def _more(self) -> bool:
        """One more trial that can run: of those that wait at a rung, or a new one."""
        if self.over:
            return False
        if promotable := self.rungs.promotable():
            return self._promote(*promotable)
        moving = sum(trial.state in ("waiting", "running") for trial in self.trials)
        if moving <= self.slots() and self._ask():
            return True
        paused = [it for it in self.trials if it.state == "paused" and it.at in it.rungs]
        if moving or self.running or not paused:
            return False
        if not best(self.plan, self.trials):  # of too few nobody is among the best part
            first = self.rungs.highest(paused)
            return self._promote(first.number, first.epochs)
        for trial in paused:  # nobody can rise any more
            self._end(trial, "dropped", f"not among the best at {trial.epochs:g} epochs")
        return False

    def _promote(self, number: int, rung: float) -> bool:
        self.rungs.promoted.add((number, rung))
        self.search.write({"promoted": [number, rung]})
        self.trials[number].state = "running"
        return True

    def _submit(self) -> None:
        used = sum(running.task.stage.slots() for running in self.running.values())
        wanted = self._wanted()
        # One more than there is room for, so that no worker waits for this driver.
        while used <= self.slots():
            if not wanted:
                if not self._more():
                    return
                wanted = self._wanted()
                continue
            stage = wanted.pop(0)
            task = self.task_of(stage)
            self.running[stage.key] = Running(task, self._submitted(task))
            for trial in self.trials:
                if trial.state == "waiting" and any(it.key == stage.key for it in trial.stages):
                    trial.state = "running"
            if stage.parent:
                self.read_at[stage.parent.key] = time.monotonic()
            used += stage.slots()

    def _submitted(self, task: work.Task) -> Any:
        return self.client.submit(work.run_stage, task, pure=False, retries=0,
                                  key=f"{task.stage.key}-{time.time_ns()}",
                                  resources={"slots": task.stage.slots()},
                                  priority=-len(self.running))

    def slots(self) -> int:
        """Of the workers that are there, as known for a second."""
        if time.monotonic() > self._slots_until:
            workers = self.client.scheduler_info().get("workers", {}).values()
            if self.client.status != "running":
                raise SchedulerLost
            self._slots = int(sum(it["resources"].get("slots", 0) for it in workers))
            self._slots_until = time.monotonic() + 1
        return self._slots

    # ---- what is running

    def _look(self) -> None:
        for key, running in list(self.running.items()):
            if places := self.store.left_behind(key):
                running.curve = work.read_curve(running.task, places[0])
                if self.plan.asha and not self.tree.resumable() and running.curve:
                    self._stop_by_rung(running)

    def _stop_by_rung(self, running: Running) -> None:
        """A program that cannot be paused trains on while it is among the best of those that have
        come as far; else it ends there."""
        eta, rung = self.plan.asha
        for trial in self.waiting_for(running.task.stage.key)[:1]:
            while rung < running.task.stage.until:
                passed = [score for epochs, score in running.curve if epochs >= rung]
                if passed and self.rungs.fails(trial.number, rung, passed[0]):
                    self._stop(running)
                    trial.curve.extend(running.curve)
                    return self._end(trial, "dropped", f"not among the best at {rung:g} epochs")
                rung *= eta

    def _stop(self, running: Running) -> None:
        running.asked = True
        if self.client.status == "running":
            self.client.run(work.stop, running.task.stage.key, on_error="ignore")
            running.future.cancel()  # if it has not begun

    # ---- data that nobody needs

    def kept(self) -> dict[str, Kept]:
        """The data of this search that are there, and how often each will be read."""
        edges = {(stage.parent.key, stage.key) for trial in self.trials if trial.open()
                 for stage in trial.stages[trial.at:] if stage.parent}
        accesses = collections.Counter(parent for parent, _ in edges)
        return {key: Kept(self.results[key]["bytes"], self.results[key]["seconds"], accesses[key],
                          self.read_at.get(key, 0)) for key in self.present & self.own}

    def needed(self) -> set[str]:
        """What must stay: winners so far, what is read now, and what new trials begin with."""
        needed = {trial.stages[trial.at - 1].key
                  for trial in best(self.plan, self.trials)[:self.plan.keep]}
        needed |= {it.task.stage.parent.key for it in self.running.values() if it.task.stage.parent}
        if self.plan.sampler != "grid" and self.trials:
            first = self.trials[0]
            free = min((d.stage for d in self.plan.dimensions), default=0)
            trained = sum(stage.kind != "data" for stage in self.plan.stages[:free])
            needed |= {it.key for it in first.stages[:first.cuts[trained - 1] if trained else 0]}
        return needed

    def _drop(self) -> None:
        kept = self.kept()
        for key in to_drop(kept, self.plan.store_mb * 1e6, self.needed()):
            self.dropped_bytes += kept[key].bytes
            self.present.discard(key)
            self.store.drop(key)
