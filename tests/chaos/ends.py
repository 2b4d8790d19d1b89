"""The rules of how peers end: who must have agreed, and who was asked to leave. Values only."""

from case import (disk_was_full, in_trouble, lines_of, lives_of, newest, of_peer, said_last,
                  stop_of)
from claims import WRITES_S
from faults import AWAY
from returns import SETTLED_S

OK, NOT_WRITTEN, INTERRUPTED, LEFT = 0, 6, 130, 143
# Keeps a peer from agreeing. A wire does so on one side only: of all others each hears each.
HINDERS = AWAY | {"wire"}
LEAVE_SLACK_S = 3.0  # for a busy machine
TOLD_S = 1.0         # until the others have said that a peer has left


def agreement(case):
    """Who must end with the others: after a calm end all; else those whom nothing has kept from it,
    if they are a majority."""
    ends = {name: newest(case, name) for name in obliged(case)}
    return [f"{life.label()} ended with status {life.exit}, though nothing kept it from agreeing: "
            f"{said_last(life)}" for name, life in ends.items() if not ended_well(case, life)]


def judged(case):
    """The names of all peers of whom it was judged whether they agreed."""
    if case.calm:
        return obliged(case)
    clear = {name for begin in windows(case) if has_majority(case, found := clear_in(case, begin))
             for name in found if ended_well(case, newest(case, name))}
    return sorted(clear | set(obliged(case)))


def obliged(case):
    if case.calm:
        return [name for name in case.names if (life := newest(case, name)) is not None and
                life not in case.hung]
    found = set()
    for begin in windows(case):
        clear = clear_in(case, begin)
        # A peer that comes back when most have ended finds nobody to agree with.
        there = [name for name in clear if newest(case, name).ended is None or
                 newest(case, name).ended > begin + SETTLED_S]
        if has_majority(case, there):
            found.update(there)
    return sorted(found)


def has_majority(case, names):
    return len(names) > len(case.names) // 2


def windows(case):
    """The moments from which on enough may have been clear for long enough: before the training
    was over, and after each fault that ended soon after."""
    begin = stop_of(case) - SETTLED_S
    if begin == float("inf"):
        return []
    return [begin, *sorted(it.ended for it in case.happened if it.ended is not None and
                           begin < it.ended < stop_of(case) + case.agree_s)]


def clear_in(case, begin):
    """Who was there since before the training was over, and hit by nothing for as long as it takes
    to agree."""
    end = max(begin + SETTLED_S, stop_of(case)) + case.agree_s
    return [name for name in case.names if (life := newest(case, name)) is not None and
            life not in case.hung and life.began <= stop_of(case) - SETTLED_S and
            (life.ended is None or life.ended > begin) and
            (life.killed_at is None or life.killed_at > end) and
            not any(hinders(case, it, name) and it.overlaps(begin + AFTER_S, end)
                    for it in of_peer(case, name))]


AFTER_S = 0.001  # a window begins when a fault is over


def hinders(case, it, name):
    if it.fault.kind == "partition":
        half = [other for other in case.names if
                (other in it.fault.others) == (name in it.fault.others)]
        return not has_majority(case, half)
    return it.fault.kind in HINDERS and it.fault.peer == name


def ended_well(case, life):
    """Or as well as it could; what was killed after it had time to agree cannot say so."""
    return life.exit == OK or life.killed_at is not None or (
        life.exit == NOT_WRITTEN and
        disk_was_full(case, life.name, life.ended - WRITES_S, life.ended))


# ---- who is asked to leave


def leaving(case):
    """Who is asked to leave goes in time, and the others know that it is not lost."""
    return [finding for it in case.happened if it.fault.kind == "leave"
            for life in lives_of(case, it.fault.peer)
            if life.began < it.began and (life.ended is None or life.ended > it.began)
            for finding in (*went(case, life, it), *told_from_lost(case, life, it))]


def went(case, life, it):
    """If the end of the run comes before it has gone, it may stay for that."""
    in_time = it.began + case.leave_s + LEAVE_SLACK_S
    right = {LEFT, INTERRUPTED} if stop_of(case) < min(in_time, life.ended or in_time) else {LEFT}
    if life.exit not in right:
        return [f"{life.label()} was asked to leave and ended with status {life.exit}, not {LEFT}: "
                f"{said_last(life)}"]
    if INTERRUPTED not in right and life.ended > in_time:
        return [f"{life.label()} was asked to leave and took {life.ended - it.began:.1f} s"]
    return []


def told_from_lost(case, life, it):
    found = []
    for other in case.lives if life.exit == LEFT else ():
        if other.name == life.name or other.role == "second" or other.began > it.began or \
                (other.ended is not None and other.ended < life.ended + TOLD_S) or \
                in_trouble(case, other.name, it.began - SETTLED_S, life.ended + TOLD_S):
            continue
        said = [text for at, text in lines_of(other) if at >= it.began]
        if any(f"peer {life.name} is lost" in text for text in said):
            found.append(f"{other.label()} takes {life.name}, which left, for lost")
        elif not any(f"peer {life.name} has left" in text for text in said):
            found.append(f"{other.label()} does not say that {life.name} has left; its last words: "
                         f"{said_last(other)}")
    return found
