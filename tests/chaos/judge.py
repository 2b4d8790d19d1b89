"""What a chaos run must have come to. Every rule is a function over the lives of all peers and what
happened to them, and gives its findings as sentences; none: all is well. Values only, so that the
rules themselves can be tried on lives that never ran.
"""

import dataclasses
import re
import statistics
from typing import NamedTuple

from faults import AWAY, NAMED, OF_LINKS
from lives import TRAINING

NAMED_WITHIN_S = 3.0
# A peer that lost others a moment before (a stall, a reset) may name one a moment too early.
EARLY_S = 2.0
SETTLED_S = 5.0  # before a fault: who was hit by another one within it is not asked to name
# What a program prints that ends by a bug, whatever its exit status.
BUG = re.compile(r"AddressSanitizer|ThreadSanitizer|LeakSanitizer|runtime error:|terminate called|"
                 r"[Aa]ssert\w* failed|AKO_ASSERT|Segmentation fault|stack smashing")
CLAIM = re.compile(r"replicas identical: yes \(([0-9a-f]+)\) on (.*)$")
LOST = re.compile(r"peer (\S+) is lost")
OK, FAILED_START, NO_AGREEMENT, NOT_WRITTEN = 0, 2, 4, 6
TROUBLE = AWAY | {"partition", "wire", "disk"}  # what a peer is excused by


@dataclasses.dataclass
class Case:
    names: list      # of the file
    lives: list      # see lives.Life: name, role, began, ended, exit, killed_at, metrics, result()
    happened: list   # see striker.Happened
    calm: bool       # the faults were over before the end
    hung: list = dataclasses.field(default_factory=list)  # lives that did not end


def lines_of(life):
    return life.process.lines


def of_peer(case, name):
    return [it for it in case.happened if it.fault.peer == name or name in it.fault.others or
            it.fault.kind == "partition"]


def in_trouble(case, name, begin, end, but=None):
    """Was it hit by something that keeps a peer from training, hearing or being heard?"""
    return any(it.fault.kind in TROUBLE and it.overlaps(begin, end) and it is not but
               for it in of_peer(case, name))


def claims(case):
    """(life, digest, names) of all that called the replicas identical."""
    found = []
    for life in case.lives:
        for _, text in lines_of(life):
            if match := CLAIM.search(text):
                found.append((life, match[1], match[2].split(", ")))
    return found


def newest(case, name):
    lives = [life for life in case.lives if life.name == name and life.role != "second"]
    return lives[-1] if lives else None


# ---- the rules


def all_ended(case):
    return [f"{life.label()} did not end: a hang" for life in case.hung]


def no_bug(case):
    found = []
    for life in case.lives:
        for _, text in lines_of(life):
            if BUG.search(text):
                found.append(f"{life.label()} said: {text}")
                break
        if life.exit is not None and life.exit < 0 and life.killed_at is None:
            found.append(f"{life.label()} ended by signal {-life.exit}, which nobody sent")
        if life.exit in (1, 3, 5):
            found.append(f"{life.label()} ended with status {life.exit}: {last_words(life)}")
    return found


def last_words(life):
    """The last of what it said that is more than where its results lie."""
    said = [text for _, text in lines_of(life) if " results in " not in text]
    return said[-1] if said else "nothing"


def one_digest(case):
    found = claims(case)
    digests = {digest for _, digest, _ in found}
    if len(digests) > 1:
        each = ", ".join(f"{life.label()}: {digest}" for life, digest, _ in found)
        return [f"different parameters are all called identical: {each}"]
    return [f"{life.label()} says that {name} holds {digest}, and {name} ended without agreement"
            for life, digest, names in found for name in names
            if (other := newest(case, name)) is not None and other.exit == NO_AGREEMENT]


def agreement(case):
    """Who must end with the others: after a calm end all; else those whom nothing has kept from it,
    if they are a majority."""
    ends = {name: newest(case, name) for name in case.names}
    fit = [name for name, life in ends.items() if life is not None and life not in case.hung and
           (case.calm or not in_trouble(case, name, stop_of(case) - SETTLED_S, float("inf")))]
    if not case.calm and len(fit) <= len(case.names) // 2:
        return []
    return [f"{ends[name].label()} ended with status {ends[name].exit}, though nothing kept it "
            f"from agreeing: {last_words(ends[name])}" for name in fit
            if ends[name].exit not in (OK, NOT_WRITTEN) or
            (ends[name].exit == NOT_WRITTEN and not disk_was_full(case, name))]


def stop_of(case):
    """When training was over for the first peer."""
    return min((line.at for life in case.lives if life.role != "second" for line in life.metrics
                if line.own["phase"] not in TRAINING), default=float("inf"))


def disk_was_full(case, name):
    return any(it.fault.kind == "disk" and it.fault.peer == name for it in case.happened)


def failed_starts(case):
    """Status 2 is right for a second process, and for one that came when too few were there, or
    could reach too few."""
    found = []
    for life in case.lives:
        if life.exit != FAILED_START or life.role == "second" or disk_was_full(case, life.name):
            continue
        if any(it.fault.kind in OF_LINKS | {"partition"} and it.overlaps(life.began, life.ended)
               for it in of_peer(case, life.name)):
            continue
        others = [it for it in case.lives if it.name != life.name and it.role != "second"
                  and it.began < life.ended and (it.ended is None or it.ended > life.ended)]
        if len(others) + 1 > len(case.names) // 2:
            found.append(f"{life.label()} could not start, though {len(others)} others ran: "
                         f"{last_words(life)}")
    return found


def second_refused(case):
    found = []
    for life in case.lives:
        if life.role != "second" or life in case.hung or life.killed_at is not None:
            continue
        if life.exit != FAILED_START:
            found.append(f"a second process under the name {life.name} ended with status "
                         f"{life.exit}, not {FAILED_START}: {last_words(life)}")
        if not any("refuse" in text for _, text in lines_of(life)):
            found.append(f"a second process under the name {life.name} does not say that it was "
                         f"refused: {last_words(life)}")
    return found


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
                         f"{naming.it.fault.text()}")
    return found


def rounds_kept(case):
    """A process that is started again goes on where others had heard its name to be."""
    found = []
    for life in case.lives:
        if life.role != "again" or in_trouble_meanwhile(case, life):
            continue
        heard = heard_of(case, life)
        trained = [line.own["round"] for line in life.metrics
                   if line.own["phase"] == "training" and line.own["round"] > 0]
        if trained and trained[0] < heard:
            found.append(f"{life.label()} goes on with round {trained[0]:,}; others had heard of "
                         f"{heard:,}")
    return found


def in_trouble_meanwhile(case, life):
    """Was anybody apart from anybody while it was away or came back?"""
    end = life.began + SETTLED_S
    return any(it.fault.kind in TROUBLE - {"kill", "disk"} and it.overlaps(life.began - 90, end)
               for it in case.happened if it.fault.peer != life.name)


def heard_of(case, life):
    return max((link["round"] for other in case.lives if other.name != life.name
                for line in other.metrics if line.at < life.began for link in line.own["links"]
                if link["peer"] == life.name), default=0)


def same_samples(case):
    totals = {result["samples_total"] for result in results(case)}
    return [f"peers that agreed know of different samples: {sorted(totals)}"] \
        if len(totals) > 1 else []


RULES = (all_ended, no_bug, one_digest, agreement, failed_starts, second_refused, losses_named,
         rounds_kept, same_samples)


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


def first_round_after(life):
    """Seconds from the start of a process to its first line with a round of its own."""
    lines = [line for line in life.metrics if line.own["phase"] == "training"]
    for before, line in zip(lines, lines[1:]):
        if line.own["round"] > before.own["round"] > 0:
            return before.at - life.began
    return None


def facts(case):
    """Some lines for people."""
    seconds = sorted(it.seconds for it in namings(case) if it.seconds is not None)
    joins = [after for life in case.lives if life.role in ("again", "late")
             if (after := first_round_after(life)) is not None]
    found = claims(case)
    kinds = sorted({it.fault.kind for it in case.happened})
    lines = ["faults: " + ", ".join(
        f"{kind} {sum(1 for it in case.happened if it.fault.kind == kind)}" for kind in kinds)]
    if seconds:
        lines.append(f"losses named: {len(seconds)}, after {statistics.median(seconds):.1f} s in "
                     f"the median, {seconds[-1]:.1f} s at most")
    if joins:
        lines.append(f"started again or late and trained: {len(joins)}, after "
                     f"{statistics.median(joins):.1f} s in the median, {max(joins):.1f} s at most")
    if found:
        lines.append(f"replicas identical: {found[0][1]}, said by "
                     f"{', '.join(life.label() for life, _, _ in found)}")
    exact = accuracy(case)
    lines.append("accuracy: " + ("none" if exact is None else f"{100 * exact:.2f} %"))
    return lines
