"""The rules of peers that were away: they go on where they were, and train again. Values only."""

from case import full_disks, in_trouble, lives_of, of_peer, said_last, stop_of
from faults import AWAY
from lives import TRAINING

# A peer that one of these hits makes no rounds; one that trains does so through all other faults.
OF_ITSELF = {"late", "kill", "leave", "stop", "hang"}
# One that joins needs the others for its first round.
OF_JOINING = OF_ITSELF | {"cut", "mute", "deaf", "partition"}
GOES_ON_S = 3.0  # after a full disk until there are lines again: they come every second
SETTLED_S = 5.0  # after a start or the end of a fault: until all are connected again
STARTED_S = 0.5  # what starts a process is over a moment after it
# Without a round, though nothing keeps a peer from making one. Its parts: to start and read the
# data 3 s, to notice and to connect 3 s, all rows over a link on which others train 4 s; and as
# much again, since peers have a share of a processor that others use too.
NO_ROUND_S = 20.0


def former(case, life):
    """The life of this peer before that one."""
    before = [it for it in lives_of(case, life.name) if it.began < life.began]
    return before[-1] if before else None


def heard_of(case, life):
    """The newest round that was heard of a peer before it was started again, by those who were
    there, and in reach, from the end of its former life to some seconds after the return."""
    dead = former(case, life)
    if dead is None:
        return None
    died = dead.killed_at or dead.ended
    settled = life.began + SETTLED_S
    if in_trouble(case, life.name, died + 0.001, settled, but=own_kill(case, life)):
        return None
    witnesses = [other for other in case.lives
                 if other.name != life.name and other.role != "second" and other.began < died and
                 (other.ended is None or other.ended > settled) and
                 not in_trouble(case, other.name, died, settled)]
    return max((link["round"] for other in witnesses for line in other.metrics
                if line.at < life.began for link in line.own["links"]
                if link["peer"] == life.name), default=None)


def own_kill(case, life):
    return next((it for it in reversed(case.happened) if it.fault.kind == "kill" and
                 it.fault.peer == life.name and it.began <= life.began), None)


def first_trained(life):
    return next((line.own["round"] for line in life.metrics
                 if line.own["phase"] == "training" and line.own["round"] > 0), None)


def kept_judged(case):
    """(life, its first round, what others had heard) of all that were started again."""
    return [(life, first, heard) for life in case.lives if life.role == "again"
            if (first := first_trained(life)) is not None and
            (heard := heard_of(case, life)) is not None]


def rounds_kept(case):
    """A process that is started again goes on where others had heard its name to be."""
    return [f"{life.label()} goes on with round {first:,}; others had heard of {heard:,}; its "
            f"last words: {said_last(life)}"
            for life, first, heard in kept_judged(case) if first < heard]


# ---- they train again


def advances(case, life):
    """When it had made a round more, as it said itself; or while a full disk kept it from saying
    anything, as the others heard."""
    found = rising([(line.at, line.own["round"]) for line in life.metrics
                    if line.own["phase"] in TRAINING])
    for full in silences(case, life):
        for other in case.lives:
            found += rising([(line.at, link["round"]) for line in other.metrics
                             for link in line.own["links"] if link["peer"] == life.name and
                             full.overlaps(line.at - GOES_ON_S, line.at)])
    return sorted(found)


def rising(rounds):
    return [at for (_, before), (at, now) in zip(rounds, rounds[1:]) if now > before > 0]


def silences(case, life):
    """The full disks that kept it from writing metrics."""
    return full_disks(case, life.name, life.began, training_end(case, life))


def training_end(case, life):
    """Its death, or the end of the training."""
    return min(life.ended if life.ended is not None else float("inf"),
               life.killed_at if life.killed_at is not None else float("inf"), stop_of(case))


def clear_times(case, life, begin, end, kinds=None):
    """(begin, end) of the parts of a time in which no fault of these kinds hit a life; without
    kinds, of all that have to do with others or the process."""
    found = []
    hits = [it for it in of_peer(case, life.name) if
            (it.fault.kind in kinds if kinds else it.fault.kind not in ("disk", "second"))]
    for it in sorted(hits, key=lambda it: it.began):
        if it.ended is not None and it.ended <= begin + STARTED_S:
            continue
        found.append((begin, min(it.began, end)))
        begin = max(begin, it.ended if it.ended is not None else float("inf"))
    found.append((begin, end))
    return [(begin, end) for begin, end in found if begin < end]


def trained_in(case, life, begin, end):
    return [at for at in advances(case, life) if begin < at <= end]


class Still:
    """A time in which a life made no round, as far as nothing kept it from that."""

    def __init__(self, case, life, since, until, first):
        """`first`: it had made none at all."""
        self.case, self.life, self.since, self.until = case, life, since, until
        joins = first or any(line.own["phase"] in ("waiting", "joining") for line in life.metrics
                             if since < line.at <= until)
        # What others hear of one that is silent is nothing while it is cut off.
        silent = any(it.overlaps(since, until) for it in silences(case, life))
        kinds = OF_JOINING if joins or silent else OF_ITSELF
        self.pieces = [(begin, end, self._counted(begin, end) if joins else end - begin)
                       for begin, end in clear_times(case, life, since, until, kinds)]

    def _counted(self, begin, end):
        """The seconds in which a peer can join as fast as ever: nothing hits it, nor half of those
        from whom the rows come."""
        bounds = [at for it in self.case.happened for at in (it.began, it.ended)
                  if at is not None and begin < at < end]
        moments = [begin, *sorted(bounds), end]
        return sum(b - a for a, b in zip(moments, moments[1:]) if self._clear((a + b) / 2))

    def _clear(self, at):
        hit = {name for name in self.case.names for it in of_peer(self.case, name)
               if it.fault.kind not in ("disk", "second") and it.overlaps(at, at)}
        return self.life.name not in hit and 2 * len(hit) < len(self.case.names) - 1

    def longest(self):
        return max((piece[2] for piece in self.pieces), default=0.0)

    def in_all(self, since):
        """Its pieces since a moment, each but for what it takes until all are connected again."""
        return sum(max(0.0, seconds - SETTLED_S) for begin, _, seconds in self.pieces
                   if begin >= since)

    def text(self, seconds, what, since):
        last = [line.own for line in self.life.metrics if line.at <= self.until]
        state = f"{last[-1]['phase']}, round {last[-1]['round']:,}" if last else "starting"
        return (f"{self.life.label()} made no round {what}{seconds:.0f} s, from "
                f"{since - self.case.zero:.1f} s on, though nothing kept it from that ({state}); "
                f"its last words: {said_last(self.life)}")


def stills(case, life):
    """All of a life; the last one goes on to its death or the end of the training."""
    end = training_end(case, life)
    if not life.began < end < float("inf"):
        return []
    moments = [life.began, *trained_in(case, life, life.began, end), end]
    return [Still(case, life, since, until, since == life.began)
            for since, until in zip(moments, moments[1:])]


def trains_on(case):
    """Whom nothing keeps from it makes rounds, after a return too, unless the end comes first."""
    found = []
    for life in case.lives:
        times = stills(case, life) if life.role != "second" else []
        worst = max(times, key=Still.longest, default=None)
        if worst and worst.longest() > NO_ROUND_S:
            since = max(worst.pieces, key=lambda piece: piece[2])[0]
            found.append(worst.text(worst.longest(), "for ", since))
            continue
        for back in [at for at in backs(case, life) if times and at >= times[-1].since]:
            if (seconds := times[-1].in_all(back)) > NO_ROUND_S - SETTLED_S:
                found.append(times[-1].text(seconds, "after its return, in ", back))
                break
    return found


def backs(case, life):
    """When it came, or what had kept it away was over."""
    ends = [life.began] if life.role in ("again", "late") else []
    return sorted(ends + [it.ended for it in of_peer(case, life.name)
                          if it.ended is not None and life.began < it.ended and
                          (it.fault.kind in AWAY | {"partition"}) and
                          it.fault.kind not in ("kill", "late")])


def returns(case):
    """(life, seconds until its first round after it was back, None if it made none before the next
    thing came) of each return."""
    found = []
    for life in case.lives:
        end, moments = training_end(case, life), backs(case, life)
        for begin, end in clear_times(case, life, life.began, end):
            if life.role != "second" and begin in moments and end < float("inf"):
                trained = trained_in(case, life, begin, end)
                found.append((life, trained[0] - begin if trained else None))
    return found
