"""The rules of what is called identical: one set of parameters, the same bits in every file, and
held by everybody of whom that is said. Values only.
"""

import re
from typing import NamedTuple

from case import disk_was_full, lines_of, lives_of, stop_of, where
from faults import AWAY

FAILED_START = 2
CLAIM = re.compile(r"replicas identical: yes \(([0-9a-f]+)\) on (.*)$")
DIFFERS = re.compile(r"replicas identical: no")


class Claim(NamedTuple):
    life: object
    at: float
    place: int     # in what it said
    digest: str    # as much of it as people are shown
    names: list

    def text(self):
        return f"{self.digest} on {', '.join(self.names)} ({where(self.life, self.place)})"


def claims(case):
    """Of all that called the replicas identical."""
    return [Claim(life, at, place, match[1], match[2].split(", "))
            for life in case.lives for place, (at, text) in enumerate(lines_of(life))
            if (match := CLAIM.search(text))]


def in_file(life, file):
    return f"{file} of {life.label()}"


def one_digest(case):
    """At most one set of parameters is agreed on, whoever reached whom: it takes a majority."""
    found = claims(case)
    findings = []
    if len({claim.digest for claim in found}) > 1:
        findings.append("different parameters are all called identical: " +
                        "; ".join(claim.text() for claim in found))
    agreed = [(life, result["digest"]) for life in case.lives
              if (result := life.result()) and result["agreed"]]
    if len({digest for _, digest in agreed}) > 1:
        findings.append("different parameters are agreed on: " + "; ".join(
            f"{digest} ({in_file(life, f'result-{life.name}.json')})" for life, digest in agreed))
    return findings


def none_differs(case):
    return [f"{life.label()} says that parameters differ ({where(life, place)}): {text}"
            for life in case.lives for place, (_, text) in enumerate(lines_of(life))
            if DIFFERS.search(text)]


def claims_hold(case):
    """Everybody of whom it is said that it holds these parameters does."""
    return [f"{claim.life.label()} says {claim.text()}, but {why}"
            for claim in claims(case) for name in claim.names
            if (why := not_held(case, name, claim)) is not None]


def not_held(case, name, claim):
    """Why a claim about a peer is false; None if the peer says the same, or nothing was left of it
    that could."""
    lives = lives_of(case, name)
    if any(other.digest == claim.digest for other in claims(case) if other.life in lives):
        return None
    if not lives:
        return f"{name} never ran"
    for life in lives:
        result = life.result()
        if result and result["agreed"] and result["digest"].startswith(claim.digest):
            return None
        if result is None and life.exit == 0 and \
                disk_was_full(case, name, life.ended - WRITES_S, life.ended):
            return None
    if any(may_have_held(case, life, claim) for life in lives) and \
            not any(contradicts(life, claim) for life in lives):
        return None
    last = lives[-1]
    place = len(lines_of(last)) - 1
    return (f"{last.label()} ended with status {last.exit} and does not say so: " +
            (f"{where(last, place)}: {lines_of(last)[place][1]}" if place >= 0 else "it is silent"))


LINE_S = 1.0    # a line of metrics, which shows that training is over, comes so often
WRITES_S = 5.0  # before its end a peer writes its results


def may_have_held(case, life, claim):
    """Was it killed before it could say so, but not before there was something to hold, and not
    away all that time?"""
    stop = min(stop_of(case), claim.at) - LINE_S
    return life.killed_at is not None and life.killed_at >= stop and not any(
        it.fault.kind in AWAY - {"kill"} and it.fault.peer == life.name and it.began < stop and
        (it.ended is None or it.ended >= life.killed_at) for it in case.happened)


def contradicts(life, claim):
    """Was it there before the claim, and did it end by itself, with its part in the run?"""
    return life.killed_at is None and life.began < claim.at and life.exit != FAILED_START


def claims_are_in_files(case):
    """What a life says, its result says, and whoever says the same wrote the same model, bit for
    bit."""
    findings, written = [], {}
    for claim in claims(case):
        life, result, model = claim.life, claim.life.result(), claim.life.model_digest()
        if result and not (result["identical"] and result["digest"].startswith(claim.digest)):
            findings.append(f"{life.label()} says {claim.text()}; "
                            f"{in_file(life, f'result-{life.name}.json')} has "
                            f"{result['digest'] or 'none'}, identical: {result['identical']}")
        first = written.setdefault(claim.digest, (life, model)) if model else (life, model)
        if first[1] != model:
            findings.append(f"{life.label()} says {claim.text()}; but SHA-256 of the parameters is "
                            f"{model} in {in_file(life, 'model.safetensors')}, and {first[1]} in "
                            f"{in_file(first[0], 'model.safetensors')}")
    saying = [claim.life for claim in claims(case)]
    return findings + [
        f"{in_file(life, f'result-{life.name}.json')} says identical, and the peer did not"
        for life in case.lives if life not in saying and life.killed_at is None and
        (result := life.result()) and result["identical"]]
