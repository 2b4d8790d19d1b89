"""Makes the faults of a plan happen to a cluster, and ends them. One thread, that which starts the
peers."""

import signal
import time

from faults import AWAY, FAR_MS, LOSSY, SLOW_BY
from lives import TRAINING
from network import Effect, effects_between


LATE_S = 0.5
SILENT_S = 3  # a line of metrics comes every second
# While one of these lasts, others take the name of the victim for free.
HIDES = AWAY | {"wire", "partition"}


class Happened:
    """A fault that was made to happen, by the clock of this machine."""

    def __init__(self, fault, began):
        self.fault, self.began, self.ended = fault, began, None

    def overlaps(self, begin, end):
        return self.began <= end and (self.ended is None or self.ended >= begin)


def slowed(rate):
    """A twentieth of a rate as tc takes it."""
    number = float(rate.removesuffix("mbit"))
    return f"{max(1, round(number * 1000 / SLOW_BY))}kbit"


class Striker:
    def __init__(self, cluster, network, disks, timeline):
        """`disks`: by peer; a peer without one has no full disk."""
        self.cluster, self.network, self.disks = cluster, network, disks
        self.timeline = timeline
        self.happened = []

    def active(self):
        return [it for it in self.happened if it.ended is None]

    def due(self, now):
        """Those whose time is over; `now` in seconds of the timeline."""
        return [it for it in self.active() if it.fault.until() <= now]

    def strike(self, fault):
        life = self.cluster.current(fault.peer) if fault.peer else None
        if fault.kind != "late" and fault.peer and (life is None or not life.runs):
            return self.timeline.say(f"not done: {fault.text()}: {fault.peer} is not there")
        if fault.kind == "disk" and fault.peer not in self.disks:
            return self.timeline.say(f"not done: {fault.text()}: it has none of its own")
        if fault.kind in HIDES and (other := self._refused_now(fault)):
            return self.timeline.say(f"not done: {fault.text()}: {other.label()} is being refused")
        if fault.kind == "second" and (why := self._name_is_free(life)):
            return self.timeline.say(f"not done: {fault.text()}: {why}")
        self.timeline.say(fault.text())
        asked = time.monotonic()
        it = Happened(fault, asked)
        self.happened.append(it)
        self._begin(it, life)
        it.began = time.monotonic()  # a change of rules takes a moment, on a busy machine more
        if it.ended is not None:
            it.ended = it.began
        if it.began - asked > LATE_S:
            self.timeline.say(f"    that took {it.began - asked:.1f} s")
        return None

    def _refused_now(self, fault):
        """A second process that would find its name free if this were to happen now."""
        return next((life for life in self.cluster.running() if life.role == "second" and
                     fault.peer in ("", life.name)), None)

    def _name_is_free(self, life):
        """Why a second process would be taken for the first, rightly; None: it must be refused."""
        if life.phase() not in TRAINING or life.phase() == "joining" or life.rounds() == 0:
            return f"{life.label()} is {life.phase()}"
        if life.silent_s() > SILENT_S:
            return f"how {life.label()} is, is not known"
        for it in self.active():
            if it.fault.kind in HIDES and (it.fault.kind == "partition" or life.name in (
                    it.fault.peer, *it.fault.others)):
                return it.fault.text()
        for other in self.cluster.running():
            if other.role == "second" or other.name == life.name or other.newest() is None:
                continue
            if not any(link["peer"] == life.name and link["presence"] == "up"
                       for link in other.newest()["links"]):
                return f"{other.label()} does not know it"
        return None

    def _begin(self, it, life):
        fault = it.fault
        if fault.kind == "kill":
            life.kill()
        elif fault.kind == "leave":
            life.signal(signal.SIGTERM)
        elif fault.kind == "stop":
            life.signal(signal.SIGSTOP)
        elif fault.kind == "hang":
            self._hang(it, life)
        elif fault.kind == "disk":
            self.disks[fault.peer].fill()
        elif fault.kind == "second":
            self.cluster.start(fault.peer, "second")
            it.ended = it.began
        elif fault.kind != "late":
            self.network.apply(fault.number, self._effects(fault))

    def _hang(self, it, life):
        said = life.hang()
        if said != "hangs":
            self.timeline.say(f"    that was not possible: {said}")
            it.ended = it.began

    def heal(self, it):
        fault = it.fault
        life = self.cluster.current(fault.peer) if fault.peer else None
        if fault.kind in ("kill", "late"):
            self.timeline.say(f"    {fault.peer} is started" +
                              (" again" if fault.kind == "kill" else ""))
            self.cluster.start(fault.peer, "again" if fault.kind == "kill" else "late")
        elif fault.kind == "stop":
            life.signal(signal.SIGCONT)
        elif fault.kind == "hang":
            life.go_on()
        elif fault.kind == "disk":
            self.disks[fault.peer].free()
        else:
            self.network.remove(fault.number)
        it.ended = time.monotonic()
        if fault.kind not in ("kill", "late", "reset"):
            self.timeline.say(f"    over: {fault.text()}")

    def _effects(self, fault):
        """What a fault of the links is, wire by wire."""
        place = self.cluster.place(fault.peer) if fault.peer else 0
        everyone = range(1, self.network.places + 1)

        def out(kind, value=None):
            return effects_between(kind, [place], everyone, value)

        def both(kind, value=None):
            return out(kind, value) + effects_between(kind, everyone, [place], value)

        if fault.kind == "partition":
            half = [self.cluster.place(name) for name in fault.others]
            rest = [it for it in everyone if it not in half]
            return effects_between("cut", half, rest) + effects_between("cut", rest, half)
        if fault.kind == "wire":
            return effects_between("cut", [place],
                                   [self.cluster.place(name) for name in fault.others])
        if fault.kind == "slow":
            return [Effect("rate", place, place, slowed(self.network.own_rate(place)))]
        return {
            "mute": out("cut"),
            "deaf": effects_between("cut", everyone, [place]),
            "cut": both("cut"),
            "reset": both("reset"),
            "far": both("delay", FAR_MS),
            "lossy": both("loss", LOSSY),
            "stall": both("hold"),
        }[fault.kind]
