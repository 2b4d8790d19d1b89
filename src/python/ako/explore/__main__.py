"""`ako explore`: what its words, which the program has checked, come to."""

from __future__ import annotations

import hashlib
import json
import modulefinder
import os
import pathlib
import signal
import subprocess
import sys
import types
from typing import Any

try:
    import yaml
except ImportError:
    sys.exit("ako explore: needs PyYAML: apt install python3-yaml, or pip install pyyaml")

from . import report, work
from .driver import Driver, SchedulerLost
from .live import Live
from .plan import Plan, PlanError, read_plan
from .store import Search, Store
from .tree import Stage, Tree, Trial, fingerprint
from .workers import client_of

REFUSED, LOST, INTERRUPTED = 2, 1, 130
CHECKPOINT_EPOCHS = 1


def said_by(ako: str, *words: str) -> str:
    done = subprocess.run([ako, *words], capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise PlanError(done.stderr.strip().removeprefix("ako: "))
    return done.stdout


def flat(tree: dict, above: str = "") -> dict[str, Any]:
    """By full keys."""
    found: dict[str, Any] = {}
    for key, value in tree.items():
        found.update(flat(value, f"{above}{key}.") if isinstance(value, dict) else
                     {f"{above}{key}": value})
    return found


def sources(word: pathlib.Path) -> list[str]:
    """If that is a file, it, and of a program in Python what it imports from beside itself."""
    if not word.is_file() or word.suffix != ".py":
        return [str(word)] if word.is_file() else []
    finder = modulefinder.ModuleFinder([str(word.parent)])
    try:
        finder.run_script(str(word))
    except SyntaxError as error:
        raise PlanError(f"{word}: {error}") from None
    return sorted(module.__file__ for module in finder.modules.values() if module.__file__)


class Subject:
    """What is explored: Ako's own training by a cluster file, or a program."""

    def __init__(self, plan: Plan, ako: str) -> None:
        self.plan, self.ako = plan, ako
        self.file: dict[str, Any] = {}  # the cluster file, with what it leaves out
        version = said_by(ako, "--version").strip()
        if plan.cluster:
            self.file = yaml.safe_load(said_by(ako, "check", plan.cluster, "--set",
                                               f"peers={{count: {plan.peers}}}"))
            base = fingerprint(version, {**self.file, "run": "", "output": ""}, self._data())
        else:
            base = fingerprint(version, plan.program, [
                hashlib.sha256(pathlib.Path(file).read_bytes()).hexdigest()
                for word in plan.program for file in sources(pathlib.Path(plan.folder) / word)])
        usual = flat(self.file)
        said = [*(d.key for d in plan.dimensions),
                *(key for it in plan.stages for key in it.settings),
                *(key for d in plan.dimensions for value in d.values if isinstance(value, dict)
                  for key in value)]
        constant = not any("schedule" in key for key in said) and all(
            usual.get(f"{part}.schedule.kind", "constant") == "constant" and
            not usual.get(f"{part}.schedule.warm_up") for part in ("training", "training.batch"))
        self.tree = Tree(plan, base, usual, constant)
        self.samples = self._samples()
        self.epoch_s: dict[str, float] = {}
        if plan.cluster:
            self._check()

    def _data(self) -> list:
        folder = self.file.get("data", {}).get("path")
        return [(path.name, path.stat().st_size, path.stat().st_mtime_ns)
                for path in sorted(pathlib.Path(folder).iterdir())] if folder else []

    def _samples(self) -> list[tuple[Trial, int]]:
        """Trials that have each value of each dimension at least once, and the line of that."""
        usual = {d.key: d.values[0] if d.values else d.low for d in self.plan.dimensions}
        found = [(self.tree.trial(0, usual), self.plan.stages[-1].line)]
        return found + [(self.tree.trial(0, {**usual, d.key: value}), d.line)
                        for d in self.plan.dimensions for value in d.values or (d.low, d.high)]

    def _check(self) -> None:
        """Each value that is explored, before anything runs."""
        if not self.plan.validation and self.file.get("data", {}).get("path"):
            raise PlanError(f"{self.plan.file}: validation: 0 would choose by the test set, which "
                            "says nothing any more then; 0.1 keeps a tenth of the training set")
        checked = set()
        for trial, line in self.samples:
            for stage in trial.stages:
                if (content := fingerprint(stage.settings, stage.peers)) in checked:
                    continue
                checked.add(content)
                words = [word for pair in stage.settings for word in work.option(*pair)]
                try:
                    said_by(self.ako, "check", self.plan.cluster, "--set",
                            f"peers={{count: {stage.peers}}}", *words)
                except PlanError as error:
                    raise PlanError(f"{self.plan.file}:{line}: {error}") from None

    def slots_at_once(self) -> int:
        """That the largest trial takes: each value alone is among the samples, so with both units
        explored their most."""
        stages = [stage for trial, _ in self.samples for stage in trial.stages]
        return max(stage.peers for stage in stages) * max(stage.cores for stage in stages)

    def seconds(self, stage: Stage) -> float:
        """Of its training, by `ako predict`. Throws PlanError: nothing here was measured."""
        content = fingerprint(stage.settings, stage.peers, stage.cores)
        if content not in self.epoch_s:
            said = json.loads(said_by(
                self.ako, "predict", self.plan.cluster, "--json", "--machines", str(stage.peers),
                *work.option("training.threads", stage.cores),
                *(word for pair in stage.settings for word in work.option(*pair))))
            mode = self._mode(stage)
            cell = next((it for it in said["cells"] if it["machines"] == stage.peers and (
                stage.peers == 1 or f"exchange.mode={mode}" in it["set"])), None)
            if cell is None:
                raise PlanError(f"ako predict says nothing of the mode {mode}")
            self.epoch_s[content] = said["training_samples"] / cell["samples_per_s"]
        return self.epoch_s[content] * (stage.until - stage.begin)

    def task(self, stage: Stage, store: Store, slots: int) -> work.Task:
        usual = self.tree.usual
        common = {} if self.plan.seed is None else {"seed": self.plan.seed}
        ahead = {**usual, **dict(stage.settings)}.get("exchange.rounds_ahead")
        # For whoever goes on where another was lost. A round ahead they change what is computed.
        if not usual.get("training.checkpoint_every") and not ahead:
            common["training.checkpoint_every"] = CHECKPOINT_EPOCHS
        alone = stage.peers == 1 and self._mode(stage) == "local"
        return work.Task(stage, self.plan, str(store.root), self.ako, common, alone, slots)

    def _mode(self, stage: Stage) -> str:
        return dict(stage.settings).get("exchange.mode", self.tree.usual.get("exchange.mode"))


def explore(options: types.SimpleNamespace) -> int:
    """`options`: as src/commands/explore_words.cpp says them."""
    plan = read_plan(options.plan)
    own_slots = options.slots or len(os.sched_getaffinity(0))
    subject = Subject(plan, options.ako)
    if options.list:
        print(report.listed(plan, subject.tree, subject.seconds if plan.cluster else None,
                            own_slots))
        return 0
    at_once = subject.slots_at_once()
    if not options.scheduler and at_once > own_slots:
        raise PlanError(f"{plan.file}: units: a trial takes {at_once} slots, and there are "
                        f"{own_slots} (--slots)")
    store = Store(os.path.abspath(options.store))
    folder = pathlib.Path(options.output_dir or f"explore/{plan.name}")
    slots = 0 if options.scheduler else own_slots
    with Search(folder, store, plan.digest, options.resume) as search, \
            client_of(options.scheduler, own_slots, at_once, options.dashboard) as client:
        driver = Driver(plan, search, store, subject.tree, client,
                        lambda stage: subject.task(stage, store, slots), Live(options.plain))
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        try:
            winners = driver.run()
        except KeyboardInterrupt:
            driver.stop_all()
            print(f"ako explore: interrupted; --resume goes on in {folder}", file=sys.stderr)
            return INTERRUPTED
        except SchedulerLost:
            print("ako explore: the scheduler is gone; what is finished is kept: once there is "
                  f"one, --resume goes on in {folder}", file=sys.stderr)
            return LOST
        driver.show(driver)
        print(report.write(driver, winners, folder, subject.file), flush=True)
        return 0 if winners else 1


def main() -> None:
    try:
        sys.exit(explore(types.SimpleNamespace(**json.loads(sys.argv[1]))))
    except PlanError as error:
        print(f"ako explore: {error}", file=sys.stderr)
        sys.exit(REFUSED)


if __name__ == "__main__":
    main()
