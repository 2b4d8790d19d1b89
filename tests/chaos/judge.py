"""What a chaos run must have come to. Every rule is a function over the lives of all peers and what
happened to them, and gives its findings as sentences; none: all is well. Values only, so that the
rules themselves can be tried on lives that never ran.
"""

import os
import re
import signal
import statistics
from typing import NamedTuple

from case import (Case, disk_was_full, in_trouble, last_words, lines_of, newest, of_peer,
                  out_of_reach_from, said_last, where)
from claims import (FAILED_START, claims, claims_are_in_files, claims_hold, none_differs,
                    one_digest)
from ends import agreement, judged, leaving
from faults import NAMED, OF_LINKS
from lives import TRAINING
from returns import SETTLED_S, kept_judged, returns, rounds_kept, trains_on

__all__ = ["Case", "claims", "last_words", "newest", "rounds_kept"]

NAMED_WITHIN_S = 3.0
# A peer that lost others a moment before (a stall, a reset) may name one a moment too early.
EARLY_S = 2.0
TURNED_AWAY_S = 12.0  # a second process is, by then (Voter::turned_away_within), and some more
# What a program prints that ends by a bug, whatever its exit status.
BUG = re.compile(r"AddressSanitizer|ThreadSanitizer|LeakSanitizer|runtime error:|terminate called|"
                 r"[Aa]ssert\w* failed|bug in ako:|Segmentation fault|stack smashing")
LOST = re.compile(r"peer (\S+) is lost")


# ---- the rules


def all_ended(case):
    found = []
    for life in case.hung:
        state = f"{life.phase()}, round {life.rounds():,}" if life.metrics else "no line of metrics"
        seen = life.metrics[-1].at if life.metrics else life.began
        found.append(f"{life.label()} did not end: a hang ({state}, its newest line of metrics at "
                     f"{seen - case.zero:.1f} s); its last words: {said_last(life)}")
    return found


def no_bug(case):
    found = []
    for life in case.lives:
        for place, (_, text) in enumerate(lines_of(life)):
            if BUG.search(text):
                found.append(f"{life.label()} said at {where(life, place)}: {text}")
                break
        killed = life.killed_at is not None and life.exit == -signal.SIGKILL
        if life.exit is not None and life.exit < 0 and not killed:
            found.append(f"{life.label()} ended by signal {-life.exit}, which nobody sent; its "
                         f"last words: {said_last(life)}")
        if life.exit in (1, 3, 5):
            found.append(f"{life.label()} ended with status {life.exit}: {said_last(life)}")
    return found


def failed_starts(case):
    """Status 2 is right for a second process, and for one that came when too few were there, or
    could reach too few: who evaluates the result listens no more."""
    found = []
    for life in case.lives:
        if life.exit != FAILED_START or life.role == "second" or \
                disk_was_full(case, life.name, life.began, life.ended):
            continue
        if any(it.fault.kind in OF_LINKS | {"partition"} and it.overlaps(life.began, life.ended)
               for it in of_peer(case, life.name)):
            continue
        others = [it for it in case.lives if it.name != life.name and it.role != "second"
                  and it.began < life.ended and out_of_reach_from(it) > life.ended]
        if len(others) + 1 > len(case.names) // 2:
            found.append(f"{life.label()} could not start, though {len(others)} others ran: "
                         f"{said_last(life)}")
    return found


def second_refused(case):
    found = []
    for life in case.lives:
        if life.role != "second" or life in case.hung or life.killed_at is not None or \
                name_was_free(case, life) or let_in(case, life):
            continue
        if life.exit != FAILED_START:
            found.append(f"a second process under the name {life.name} ended with status "
                         f"{life.exit}, not {FAILED_START}: {said_last(life)}")
        if not any("refuse" in text for _, text in lines_of(life)):
            found.append(f"a second process under the name {life.name} does not say that it was "
                         f"refused: {said_last(life)}")
    return found


def name_was_free(case, second):
    """Did the run of the first end before the second had given up?"""
    first = [life for life in case.lives if life.name == second.name and life.role != "second" and
             life.began < second.began]
    return not first or (first[-1].ended is not None and first[-1].ended < second.ended)


def let_in(case, second):
    """Was the first not connected to some other peer while the second asked to be let in? Whoever
    dials first then has the name there."""
    until = second.began + TURNED_AWAY_S
    return second.exit != FAILED_START and any(
        was_apart(life, second.name, second.began, until) for life in case.lives
        if life.name != second.name and (life.ended is None or life.ended > second.began))


def was_apart(life, name, begin, end):
    """Had this life no session with `name` at any moment from begin to end, as far as it says?"""
    if begin - TURNED_AWAY_S < life.began <= end and life.role != "first":
        return True  # it has just been started, and meets both for the first time
    apart = False
    for at, text in lines_of(life):
        if at > end:
            break
        if apart and at >= begin:
            return True
        if f"peer {name}: session ended" in text:
            apart = True
        elif f"peer {name} is connected again" in text:
            apart = False
    return apart


class Naming(NamedTuple):
    it: object        # what happened
    life: object      # who had to name
    victim: str       # whom
    seconds: float    # after how long; None: not at all


def namings(case):
    """Each loss that a peer had to name."""
    found = []
    for it in case.happened:
        if it.ended and it.ended - it.began < NAMED_WITHIN_S:
            continue
        for life, victim in apart(case, it):
            if must_name(case, life, victim, it):
                found.append(Naming(it, life, victim, named_after(life, victim, it.began)))
    return found


def apart(case, it):
    """(life, name) of all who cannot hear of whom, as long as this goes on."""
    lives = [life for life in case.lives if life.role != "second"]
    if it.fault.kind == "partition":
        half = set(it.fault.others)
        return [(life, name) for life in lives for name in case.names
                if (life.name in half) != (name in half)]
    if it.fault.kind not in NAMED:
        return []
    return [(life, it.fault.peer) for life in lives if life.name != it.fault.peer]


def must_name(case, life, victim, it):
    """Were both training and well, and connected?"""
    begin, until = it.began - SETTLED_S, it.began + NAMED_WITHIN_S
    if any(in_trouble(case, name, begin, until, but=it) for name in (life.name, victim)):
        return False
    before = [line.own for line in life.metrics if line.at <= it.began]
    after = [line.own for line in life.metrics if line.at >= until]
    if not before or not after or after[0]["phase"] not in TRAINING:
        return False
    return any(link["peer"] == victim and link["presence"] == "up"
               for link in before[-1]["links"])


def named_after(life, victim, began):
    for at, text in lines_of(life):
        match = LOST.search(text)
        if match and match[1] == victim and at >= began - EARLY_S:
            return at - began
    return None


def losses_named(case):
    found = []
    for naming in namings(case):
        if naming.seconds is None or naming.seconds > NAMED_WITHIN_S:
            after = "not at all" if naming.seconds is None else f"after {naming.seconds:.1f} s"
            found.append(f"{naming.life.label()} names {naming.victim} {after}: "
                         f"{naming.it.fault.text()} (at {naming.it.began - case.zero:.1f} s; "
                         f"{os.path.basename(naming.life.log)})")
    return found


def same_samples(case):
    # A second process that was let in counts what it trains as the first one does.
    if any(life.role == "second" and let_in(case, life) for life in case.lives):
        return []
    totals = {result["samples_total"] for result in results(case)}
    return [f"peers that agreed know of different samples: {sorted(totals)}"] \
        if len(totals) > 1 else []


RULES = (all_ended, no_bug, one_digest, none_differs, claims_hold, claims_are_in_files, agreement,
         leaving, failed_starts, second_refused, losses_named, rounds_kept, trains_on, same_samples)


def findings(case):
    return [finding for rule in RULES for finding in rule(case)]


# ---- what is told besides


def results(case):
    """Of those that agreed."""
    found = [life.result() for life in case.lives]
    return [result for result in found if result is not None and result["identical"]]


def accuracy(case):
    found = {result["accuracy"] for result in results(case)}
    return found.pop() if len(found) == 1 else None


def samples(case):
    return max((result["samples_total"] for result in results(case)), default=0)


def facts(case):
    """Some lines for people."""
    seconds = sorted(it.seconds for it in namings(case) if it.seconds is not None)
    trained = [after for _, after in returns(case)]
    joins = [after for after in trained if after is not None]
    found = claims(case)
    kinds = sorted({it.fault.kind for it in case.happened})
    lines = ["faults: " + ", ".join(
        f"{kind} {sum(1 for it in case.happened if it.fault.kind == kind)}" for kind in kinds)]
    if seconds:
        lines.append(f"losses named: {len(seconds)}, after {statistics.median(seconds):.1f} s in "
                     f"the median, {seconds[-1]:.1f} s at most")
    if joins:
        lines.append(f"back: {len(trained)}; trained before the next thing came: {len(joins)}, "
                     f"after {statistics.median(joins):.1f} s in the median, {max(joins):.1f} s at "
                     "most")
    again = sum(1 for life in case.lives if life.role == "again")
    lines.append(f"started again: {again}; of these judged by their rounds: "
                 f"{len(kept_judged(case))}")
    if found:
        lines.append(f"replicas identical: {found[0].digest}, said by "
                     f"{', '.join(claim.life.label() for claim in found)}")
    lines.append(f"agreement judged: {len(judged(case))} peers")
    exact = accuracy(case)
    lines.append("accuracy: " + ("none" if exact is None else f"{100 * exact:.2f} %"))
    return lines
