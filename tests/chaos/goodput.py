"""Goodput by torchft's measure: the steps that count over those that a run without faults makes in
the same time, while one of four peers is killed again and again and started at once.

The steps that count are the rounds that the rows of all peers have come to: what a killed peer had
trained and nobody held is trained again and counts once. Two figures: over the pace of all four
peers, and over that of those who were there, which is three while the killed one is away.
"""

import os
import random
import signal
import time

import judge
from faults import Fault
from lives import Cluster
from striker import Happened

START_PATIENCE_S = 90
END_PATIENCE_S = 90
LOOK_S = 0.05


class NoTraining(Exception):
    """Why a run did not begin, or could not be watched."""


def wait_until_all_train(cluster):
    patience = time.monotonic() + START_PATIENCE_S
    while not all(life.trains() for life in cluster.lives):
        if cluster.poll() or time.monotonic() > patience:
            raise NoTraining("the peers do not train: " + "; ".join(
                f"{life.label()}: {judge.last_words(life)}" for life in cluster.lives))
        time.sleep(LOOK_S)


def follow(cluster, seconds, act=lambda now: None):
    """So long, with what is to be done meanwhile."""
    began = time.monotonic()
    while (now := time.monotonic() - began) < seconds:
        act(now)
        cluster.poll()
        time.sleep(LOOK_S)


def samples_per_s(cluster, seconds):
    """Of all peers together, after some seconds of training."""
    for name in cluster.names:
        cluster.start(name)
    wait_until_all_train(cluster)
    follow(cluster, 4)
    begin = [(life, life.metrics[-1].own) for life in cluster.lives]
    follow(cluster, seconds)
    return sum((life.newest()["samples"] - line["samples"]) / (life.newest()["time"] - line["time"])
               for life, line in begin)


def steps(cluster):
    """Of all rows, as far as they have come: by their owners' newest lines, or where an owner is
    away by what the others heard."""
    total = 0
    for name in cluster.names:
        life = cluster.current(name)
        heard = [link["round"] for other in cluster.running() if other.metrics
                 for link in other.newest()["links"] if link["peer"] == name]
        own = [life.rounds()] if life.runs else []
        total += max([*heard, *own], default=0)
    return total


class Killing:
    """One peer, drawn each time, dies every so many seconds and is started again at once."""

    def __init__(self, cluster, every):
        self.cluster, self.every = cluster, every
        self.random = random.Random(f"goodput {every}")
        self.next_at = every / 2 if every else float("inf")
        self.happened = []
        self.back = []   # seconds until each trained again
        self.waiting = None
        self.looked_at, self.away_s = None, 0.0

    def __call__(self, now):
        since = now - (self.looked_at if self.looked_at is not None else now)
        self.looked_at = now
        if self.waiting is not None:
            self.away_s += since
            if self.waiting.trains():
                self.back.append(time.monotonic() - self.waiting.began)
                self.waiting = None
        if now < self.next_at:
            return
        self.next_at += self.every
        name = self.random.choice(self.cluster.names)
        life = self.cluster.current(name)
        fault = Fault(len(self.happened), "kill", now, 0.0, name)
        it = Happened(fault, time.monotonic())
        life.kill()
        life.process.process.wait()
        self.cluster.poll()
        self.waiting = self.cluster.start(name, "again")
        it.ended = time.monotonic()
        self.happened.append(it)


def measure(ako, file, network, folder, every, seconds):
    """One run; `every`: seconds between two kills, or None."""
    cluster = Cluster(ako, file.path, file.names, network, os.path.join(folder, str(every)),
                      ["--set", "training.epochs=100000"])
    killing = Killing(cluster, every)
    hung = []
    try:
        for name in cluster.names:
            cluster.start(name)
        wait_until_all_train(cluster)
        follow(cluster, 4)
        began, before = time.monotonic(), steps(cluster)
        follow(cluster, seconds, killing)
        made, took = steps(cluster) - before, time.monotonic() - began
        for life in cluster.running():
            life.signal(signal.SIGINT)
        patience = time.monotonic() + END_PATIENCE_S
        while cluster.running() and time.monotonic() < patience:
            cluster.poll()
            time.sleep(LOOK_S)
        hung = cluster.running()
    finally:
        cluster.end_all()
    case = judge.Case(file.names, cluster.lives, killing.happened, False, hung)
    rules = (judge.all_ended, judge.no_bug, judge.one_digest, judge.claims_hold,
             judge.rounds_kept, judge.trains_on)
    return {"every": every, "seconds_asked": seconds, "seconds": took, "steps": made,
            "kills": len(killing.happened),
            "away_s": killing.away_s, "back_s": killing.back,
            "agreed": sorted({claim.life.name for claim in judge.claims(case)}),
            "findings": [finding for rule in rules for finding in rule(case)]}


def table(found):
    found = sorted(found, key=lambda it: -(it["every"] or float("inf")))
    quiet = next((it for it in found if it["every"] is None), None)
    pace = quiet["steps"] / quiet["seconds"] if quiet else float("nan")
    lines = ["| killed every | kills | steps/s | goodput | of those who were there | "
             "back after, s (median, worst) | ended identical on |", "|" + " --- |" * 7]
    for it in found:
        rate = it["steps"] / it["seconds"]
        there = 1 - it["away_s"] / it["seconds"] / 4
        back = sorted(it["back_s"])
        lines.append("| " + " | ".join([
            "never" if it["every"] is None else f"{it['every']} s", str(it["kills"]),
            f"{rate:.1f}", f"{100 * rate / pace:.1f} %", f"{100 * rate / pace / there:.1f} %",
            f"{back[len(back) // 2]:.1f}, {back[-1]:.1f}" if back else "-",
            ", ".join(it["agreed"]) or "nobody"]) + " |")
    return "\n".join([*lines, *(f"- killed every {it['every']} s: {finding}" for it in found
                                for finding in it["findings"])])
