"""One trial of the acceptance tables: four peers train, one scenario happens to them at a random
moment, and what it came to is measured. One thread."""

import os
import random
import time

import judge
import measures
from faults import Fault
from goodput import NoTraining, wait_until_all_train
from lives import TRAINING, Cluster
from scenarios import AT_THE_END, NEVER, WHEN_GONE
from striker import Striker
from timeline import Timeline

SAMPLES = 60_000            # of an epoch of MNIST
WARM_S = (5.0, 9.0)        # training before it happens: most of measures.BEFORE_S
AFTER_S = 9.0              # and after the peer is back: measures.AFTER_S and a line of metrics
AT_THE_END_AFTER_S = 2.0   # the others have left training
SLACK_S = 30
LOOK_S = 0.05
STAYS = ("nothing", "second", "partition", "partition3")  # no single peer comes back
STOOD_STILL_S = 3.0        # what is seen so late says nothing of when it was


class Bench:
    """What all trials of a process share."""

    def __init__(self, ako, file, network, folder, seed, epochs_per_s):
        """`file`: a ClusterFile. `epochs_per_s`: of all peers together, when nothing happens."""
        self.ako, self.file, self.network, self.folder = ako, file, network, folder
        self.seed, self.epochs_per_s = seed, epochs_per_s


class Trial:
    def __init__(self, bench, scenario, number):
        self.bench, self.scenario, self.number = bench, scenario, number
        # `number` may be 3.1: another try of the third, where the end came too soon.
        self.random = random.Random(f"{bench.seed} {scenario.name} {number}")
        self.victim = self.random.choice(bench.file.names)
        self.warm = round(self.random.uniform(*WARM_S), 2)
        self.near_end = self.random.uniform(-0.5, 0.5)
        self.folder = os.path.join(
            bench.folder, f"{scenario.name.replace(' ', '-')}-{number}")
        os.makedirs(self.folder)
        epochs = max(0.5, (self.warm + scenario.seconds() + AFTER_S) * bench.epochs_per_s)
        self.duration = epochs / bench.epochs_per_s  # of training, when nothing happens
        self.cluster = Cluster(bench.ako, bench.file.path, bench.file.names, bench.network,
                               self.folder, ["--set", f"training.epochs={epochs:.2f}"])
        self.timeline = Timeline(os.path.join(self.folder, "timeline.txt"))
        self.striker = Striker(self.cluster, bench.network, {}, self.timeline)
        self.struck = None  # the Happened
        self.hung = []
        self.others_left_at = None

    def run(self):
        """What was measured, as a dictionary for JSON; None if the end came before the event."""
        try:
            self._start()
            self._happen()
        finally:
            for it in self.striker.active():
                self.bench.network.remove(it.fault.number)
            self.cluster.end_all()
            self.timeline.write(self.cluster.lives)
        if self.struck is None:
            return None  # the training was over before
        return self._measure()

    def _start(self):
        late = self.scenario.kind == "late"
        for name in self.bench.file.names:
            if not (late and name == self.victim):
                self.cluster.start(name)
        wait_until_all_train(self.cluster)
        self.timeline.start()
        if late:
            self._strike()

    def _happen(self):
        limit = 2 * self.duration + self.bench.file.ending_s() + SLACK_S
        looked_at = time.monotonic()
        while self._goes_on():
            if self.timeline.now() > limit:
                self.hung = self.cluster.running()
                return
            time.sleep(LOOK_S)
            self.cluster.poll()
            stood_still = time.monotonic() - looked_at
            if stood_still > STOOD_STILL_S:
                raise NoTraining(f"the watching stood still for {stood_still:.0f} s: the machine "
                                 "is too busy")
            if self.struck is None and self._is_time():
                self._strike()
            if self.struck is not None and self.struck.ended is None and self._is_back():
                self.striker.heal(self.struck)
            looked_at = time.monotonic()

    def _goes_on(self):
        if self.struck is None or self.struck.ended is not None:
            return bool(self.cluster.running())
        return self.scenario.back != NEVER or any(life.runs for life in self.others())

    def _is_time(self):
        if self.scenario.kind == "nothing" or self.scenario.at_end is False:
            return self.timeline.now() >= self.warm
        return self.timeline.now() >= self._expected_end() + self.near_end

    def _expected_end(self):
        """When the budget will be spent, by how fast it was spent in the last seconds."""
        lines = self.others()[0].metrics[-6:]
        if len(lines) < 6 or lines[-1].own["progress"] <= lines[0].own["progress"]:
            return float("inf")
        spent = lines[-1].own["progress"] - lines[0].own["progress"]
        left = (1 - lines[-1].own["progress"]) / spent * (lines[-1].at - lines[0].at)
        return lines[-1].at + left - self.timeline.zero

    def _strike(self):
        kind, names = self.scenario.kind, self.bench.file.names
        half = (self.victim,)
        if kind == "partition":
            half = tuple(self.random.sample(names, len(names) // 2))
        fault = Fault(1, "partition" if kind == "partition3" else kind, self.timeline.now(),
                      self.scenario.seconds(), "" if "partition" in kind else self.victim,
                      half if "partition" in kind else ())
        if kind == "nothing":
            self.struck = NothingHappened(fault, time.monotonic())
            return
        self.striker.strike(fault)
        self.struck = self.striker.happened[-1]

    def _is_back(self):
        back, others = self.scenario.back, self.others()
        if back == NEVER:
            return False
        if back == WHEN_GONE:
            return not any(life.runs for life in others)
        if back == AT_THE_END:
            if self.others_left_at is None and all(
                    life.phase() not in ("starting", *TRAINING) for life in others):
                self.others_left_at = time.monotonic()
            return (self.others_left_at is not None and
                    time.monotonic() - self.others_left_at >= AT_THE_END_AFTER_S)
        return time.monotonic() - self.struck.began >= back

    def others(self):
        """The first lives of those to whom it does not happen."""
        return [life for life in self.cluster.lives if life.name != self.victim]

    # ---- what it came to

    def _measure(self):
        began, back = self.struck.began, self.struck.ended
        others = self.others()
        ends = {name: judge.newest(self._case(), name) for name in self.bench.file.names}
        measured = {
            "scenario": self.scenario.name, "number": self.number, "victim": self.victim,
            "rate": self.bench.network.rate, "cpus": self.bench.network.cpus,
            "moment": round(began - self.timeline.zero, 2),
            "named": [it.seconds for it in judge.namings(self._case())],
            "exits": {name: life.exit if life and life.killed_at is None else "killed"
                      for name, life in ends.items()},
            "claims": sorted({claim.digest for claim in judge.claims(self._case())}),
            "agreed": sorted({claim.life.name for claim in judge.claims(self._case())}),
            "accuracy": judge.accuracy(self._case()),
            "findings": judge.findings(self._case()),
            "loss_rise": measures.loss_rise(others, began, max(
                line.at for life in others for line in life.metrics)),
        }
        moment = back if self.scenario.kind == "late" and back is not None else began
        measured["pause"], measured["pace"] = measures.pauses(others, moment)
        measured["connected"] = self._connected(back)
        measured.update(self._catch_up(back))
        return measured

    def _connected(self, back):
        """Until the last of those who had been apart said that they are connected again."""
        if back is None or not self.scenario.returns_in_training():
            return None
        return max((at - back for life in self.cluster.lives for at, text in life.process.lines
                    if at >= back and "is connected again" in text), default=None)

    def _catch_up(self, back):
        """Of a peer that comes back while the others train: seconds until its first round, and
        until it is no staler than before; and what it says itself of joining."""
        if back is None or self.scenario.kind in STAYS or not self.scenario.returns_in_training():
            return {}
        life = judge.newest(self._case(), self.victim)
        seconds = measures.seconds_of(life)
        first = measures.first_round(seconds, back)
        stale = measures.stale_before(
            [it for old in self.cluster.lives for it in measures.seconds_of(old)
             if old.name != self.victim], self.struck.began)
        fresh = measures.first_round(seconds, back, stale or 0)
        found = {"first_round": first and first[0] - back, "catch_up": fresh and fresh[0] - back}
        found["joined"] = measures.joined(life.process.lines)
        return found

    def _case(self):
        happened = [] if self.scenario.kind == "nothing" else [self.struck]
        file = self.bench.file
        return judge.Case(file.names, self.cluster.lives, happened,
                          self.scenario.returns_in_training(), self.hung, self.timeline.zero,
                          file.agree_s(), file.number("leave_timeout_s"))


class NothingHappened:
    """For the scenario in which nothing does: how much figures differ by themselves."""

    def __init__(self, fault, now):
        self.fault, self.began, self.ended = fault, now, now
