"""What can happen to a cluster, and a plan of it that follows from a seed. Values only: who makes a
fault happen is striker.py.

| kind      | what it is                                                              | seconds |
|-----------|-------------------------------------------------------------------------|---------|
| late      | the peer is started so long after the others train                      | 2 .. 15 |
| kill      | kill -9; started again after so long                                    | returns |
| leave     | SIGTERM, on which it leaves and stays away; in no plan, only in trials  | -       |
| stop      | SIGSTOP, so that its sockets stay open; SIGCONT                         | returns |
| hang      | its first thread stands still, its network thread answers               | returns |
| mute      | nothing that it sends arrives anywhere; no reset                        | returns |
| deaf      | nothing arrives at it; no reset                                         | returns |
| cut       | both                                                                    | returns |
| wire      | nothing from it arrives at one other peer                               | returns |
| partition | two halves that hear nothing of each other                              | returns |
| reset     | all its connections are reset, and again for this time                  | 0.3     |
| slow      | a twentieth of its rate                                                 | 5 .. 20 |
| far       | 150 ms to and from it                                                   | 5 .. 20 |
| lossy     | 5 % of its packets are lost                                             | 5 .. 20 |
| stall     | its packets stand still on the way and then come all at once            | 0.5 .. 3|
| second    | another process under its name, from another address                    | -       |
| disk      | the disk with its results is full                                       | 3 .. 15 |

`returns`: 1, 10 or 60 s, none above `longest`.
"""

import dataclasses
import json
import random

RETURNS_S = (1, 10, 60)
RETURNS_WEIGHTS = (3, 3, 1)
GRACE_S = 5  # after its end a fault still counts as going on: until all are connected again
SLOW_BY = 20
FAR_MS = 150
LOSSY = 0.05
RESET_S = 0.3
DRAWS = 8  # at one moment, before a later one is tried
LATE_SHARE = 0.5  # of the seeds in which a peer is late

# How often each kind is drawn.
KINDS = {"kill": 6, "stop": 4, "hang": 2, "mute": 2, "deaf": 2, "cut": 3, "wire": 2,
         "partition": 2, "reset": 3, "slow": 2, "far": 1, "lossy": 1, "stall": 2, "second": 2,
         "disk": 1}
# The victim of one of these cannot train or be heard.
AWAY = {"late", "kill", "leave", "stop", "hang", "mute", "deaf", "cut"}
OF_PROCESS = {"late", "kill", "leave", "stop", "hang", "second", "disk"}
OF_LINKS = {"mute", "deaf", "cut", "wire", "reset", "slow", "far", "lossy", "stall"}
# Every other peer must call the victim of one of these lost.
NAMED = {"kill", "stop", "mute", "deaf", "cut"}


@dataclasses.dataclass(frozen=True)
class Fault:
    number: int
    kind: str
    at: float             # seconds after all that were started train
    seconds: float        # how long
    peer: str = ""        # to whom
    others: tuple = ()    # wire: the receiver; partition: one half

    def until(self):
        return self.at + self.seconds

    def text(self):
        lasting = f"{self.seconds:g} s"
        return {
            "late": f"{self.peer} comes late, after {lasting}",
            "kill": f"kill -9 {self.peer}, back after {lasting}",
            "leave": f"SIGTERM to {self.peer}, which leaves",
            "stop": f"SIGSTOP {self.peer} for {lasting}",
            "hang": f"{self.peer} hangs for {lasting}",
            "mute": f"nothing from {self.peer} arrives for {lasting}",
            "deaf": f"nothing arrives at {self.peer} for {lasting}",
            "cut": f"{self.peer} is cut off for {lasting}",
            "wire": f"nothing from {self.peer} arrives at {''.join(self.others)} for {lasting}",
            "partition": f"{', '.join(self.others)} and the others are apart for {lasting}",
            "reset": f"the connections of {self.peer} are reset",
            "slow": f"{self.peer} has 1/{SLOW_BY} of its rate for {lasting}",
            "far": f"{self.peer} is {FAR_MS} ms away for {lasting}",
            "lossy": f"{LOSSY:.0%} of the packets of {self.peer} are lost for {lasting}",
            "stall": f"packets of {self.peer} stand still for {lasting}",
            "second": f"a second process under the name {self.peer}",
            "disk": f"the disk of {self.peer} is full for {lasting}",
        }[self.kind]


def to_json(faults):
    return json.dumps([dataclasses.asdict(fault) for fault in faults], indent=1)


def from_json(text):
    return [Fault(**{**entry, "others": tuple(entry["others"])}) for entry in json.loads(text)]


class Plan:
    """An endless row of faults, by time; what it is depends on the arguments alone."""

    def __init__(self, seed, names, every=6.0, longest=60.0, kinds=("late", *KINDS)):
        """`every`: mean seconds between two faults."""
        self.random = random.Random(f"chaos {seed}")
        self.names, self.every = list(names), every
        self.returns = sorted({min(seconds, longest) for seconds in RETURNS_S})
        self.kinds = [kind for kind in KINDS if kind in kinds]
        # So that a majority is there; of two peers one may be away, in the middle of the run.
        self.away_max = max(1, len(names) - (len(names) // 2 + 1))
        self.at = 0.0
        self.number = 0
        self.past = []
        self.late = self._late() if "late" in kinds else None

    def _late(self):
        draw, peer, seconds = (self.random.random(), self.random.choice(self.names),
                               round(self.random.uniform(2, 15), 1))
        if draw >= LATE_SHARE:
            return None
        return self._keep(Fault(0, "late", 0.0, seconds, peer))

    def next(self):
        """The next fault. Where nothing that is drawn may happen at that time, time goes on."""
        while True:
            self.at += max(0.5, self.random.expovariate(1 / self.every))
            for _ in range(DRAWS):
                fault = self._draw(round(self.at, 1))
                if self._may(fault):
                    return self._keep(fault)

    def _keep(self, fault):
        self.past = [it for it in self.past if it.until() + GRACE_S > self.at] + [fault]
        self.number += 1
        return fault

    def _draw(self, at):
        kind = self.random.choices(self.kinds, [KINDS[kind] for kind in self.kinds])[0]
        shuffled = self.random.sample(self.names, len(self.names))
        returns = float(self.random.choices(self.returns, RETURNS_WEIGHTS[:len(self.returns)])[0])
        between = self.random.random()
        peer, others, seconds = shuffled[0], (), returns
        if kind == "partition":
            peer, others = "", tuple(sorted(shuffled[:len(shuffled) // 2]))
        elif kind == "wire":
            others = (shuffled[1],)
        elif kind in ("slow", "far", "lossy"):
            seconds = 5 + 15 * between
        elif kind == "stall":
            seconds = 0.5 + 2.5 * between
        elif kind == "disk":
            seconds = 3 + 12 * between
        elif kind == "reset":
            seconds = RESET_S
        elif kind == "second":
            seconds = 0.0
        return Fault(self.number, kind, at, round(min(seconds, max(self.returns)), 1), peer, others)

    def _may(self, fault):
        """Does it leave enough, and no peer with two faults of one sort?"""
        now = [it for it in self.past if it.until() + GRACE_S > fault.at]
        away = sum(1 for it in now if it.kind in AWAY)
        for group in (OF_PROCESS, OF_LINKS):
            if fault.kind in group and any(it.kind in group and it.peer == fault.peer
                                           for it in now):
                return False
        parted = any(it.kind == "partition" for it in now)
        # Before it is refused, a second process must not find that its name is free.
        hides = AWAY | {"wire", "partition"}
        if fault.kind in hides and any(it.kind == "second" and fault.peer in ("", it.peer)
                                       for it in now):
            return False
        if fault.kind == "partition":
            return away == 0 and not parted
        if fault.kind == "second":
            # Its name must be live for everybody, or the second is taken for the first, rightly.
            return not parted and all(it.peer != fault.peer or it.kind not in AWAY | {"wire"}
                                      for it in now)
        return fault.kind not in AWAY or away < (1 if parted else self.away_max)
