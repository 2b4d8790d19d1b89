#!/usr/bin/env python3
"""What does one fault cost, in each way of training together? Every contender under every fault.

    experiments/compare-lost-peer/matrix.py            # what matrix.jsonl lacks, and the table
    experiments/compare-lost-peer/matrix.py --contenders ako --faults cut --seeds 1
    experiments/compare-lost-peer/matrix.py --table    # of what has been run; trains nothing

Four peers train LeNet on MNIST in the network namespaces of `deploy/testbed`, each with its share
of a core and its link. Once a share of the budget is spent one thing happens to one of them:

    none     nothing: what the others are compared with
    worker   kill -9 of c
    server   kill -9 of a, which is the server where there is one
    cut      nothing passes between c and all others for 10 s, and no interface goes down
    slow     c has a quarter of its processor until the end

The fault comes as c (or a) writes a line of its metrics, so that what it had made by then is known
to a round. Every run is a line of the results; what is there is not run again. Needs root and a
program in build/release, or --program. Standard library only.
"""

import argparse
import collections
import pathlib
import runpy
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent
TESTBED = REPOSITORY / "deploy/testbed"
sys.path[:0] = [str(REPOSITORY / "tests/chaos"), str(HERE.parent)]
import figure  # noqa: E402
import runs  # noqa: E402
from lives import Cluster  # noqa: E402

NAME = "matrix"
CLUSTER = REPOSITORY / "experiments/mnist/cluster.yaml"
PEERS = ("a", "b", "c", "d")
BATCH = 64
LEARNING_RATE = 0.1  # the better one of 0.05 and 0.1 for everybody: README.md
CONTENDERS = {
    "ring": ("exchange.mode=ring",),
    "elastic ring": ("exchange.mode=ring", "exchange.elastic=true"),
    # With four servers, which is faster, every worker serves, and any loss is that of a server.
    "parameter server": ("exchange.mode=parameter-server", "exchange.servers=1"),
    "ako": ("exchange.mode=ako",),
    "sma": ("exchange.mode=sma",),
}
FAULTS = ("none", "worker", "server", "cut", "slow")
VICTIMS = {"worker": "c", "server": "a", "cut": "c", "slow": "c"}
# A fault strikes at this share of the budget: early, so that a peer that is cut off is back before
# the fastest contender ends.
STRIKES_AT = 0.15
CUT_S = 10
SLOWER = 4
LOOK_S = 0.01
PATIENCE_S = 240  # three times the longest run: whoever still runs then hangs
# States of a port of the bridge, as `bridge link` counts them.
PORT_BLOCKED, PORT_FORWARDS = 0, 3


def call(*words):
    subprocess.run([str(word) for word in words], check=True)


class Network:
    """The testbed, as lives.Cluster wants a network, and what can be done to one place of it."""

    def __init__(self, rate, cpus):
        self.rate, self.cpus = rate, cpus
        self.tools = runpy.run_path(str(TESTBED))

    def __enter__(self):
        call(TESTBED, "--name", NAME, "up", "--peers", len(PEERS), "--rate", self.rate, "--cpus",
             f"{self.cpus:g}")
        return self

    def __exit__(self, *_):
        call(TESTBED, "--name", NAME, "down")

    def inside(self, place):
        return [str(TESTBED), "--name", NAME, "exec", str(place), "--", "setpriv", "--pdeathsig",
                "KILL", "--"]

    def address(self, place):
        return self.tools["address"](place)

    def set_port(self, place, state):
        """Its cable at the switch: no interface of the peer goes down."""
        call("bridge", "-n", f"ako-{NAME}-bridge", "link", "set", "dev", f"port{place}", "state",
             state)

    def slow_down(self, place):
        quota_us = round(self.cpus / SLOWER * self.tools["CPU_PERIOD_US"])
        self.tools["cpu_groups"]().limit(NAME, place, quota_us)


class Run:
    """One contender under one fault, with one seed."""

    def __init__(self, key, program, network, folder):
        self.key, self.network = key, network
        self.victim = VICTIMS.get(key["fault"])
        settings = (*CONTENDERS[key["contender"]], f"seed={key['seed']}", f"training.batch={BATCH}",
                    f"training.learning_rate={LEARNING_RATE}", f"training.epochs={key['epochs']:g}",
                    "training.evaluate_every=0", "exchange.leave_timeout_s=5")
        words = [word for setting in settings for word in ("--set", setting)]
        self.cluster = Cluster(program, CLUSTER, PEERS, network, folder, words)
        self.struck_at = None
        self.heals_at = None
        self.hung = []

    def life(self, name):
        return self.cluster.current(name)

    def make(self):
        for name in PEERS:
            self.cluster.start(name)
        deadline = time.monotonic() + PATIENCE_S
        try:
            while self.cluster.running():
                if time.monotonic() > deadline:
                    self.hung = [life.name for life in self.cluster.running()]
                    break
                time.sleep(LOOK_S)
                self.look()
        finally:
            self.cluster.end_all()

    def look(self):
        before = {life.name: len(life.metrics) for life in self.cluster.lives}
        self.cluster.poll()
        if self.victim and self.struck_at is None:
            life = self.life(self.victim)
            if len(life.metrics) > before[self.victim] and life.trains() and \
                    life.newest()["progress"] >= STRIKES_AT:
                self.strike(life)
        if self.heals_at is not None and time.monotonic() >= self.heals_at:
            self.heals_at = None
            self.network.set_port(self.cluster.place(self.victim), PORT_FORWARDS)

    def strike(self, life):
        place = self.cluster.place(life.name)
        self.struck_at = time.monotonic()
        if self.key["fault"] in ("worker", "server"):
            life.kill()
        elif self.key["fault"] == "cut":
            self.network.set_port(place, PORT_BLOCKED)
            self.heals_at = self.struck_at + CUT_S
        else:
            self.network.slow_down(place)

    # ---- what it came to

    def row(self):
        if self.victim and self.struck_at is None:
            raise SystemExit(f"{self.key}: it ended before anything could happen to it:\n"
                             + self.life(self.victim).process.output())
        results = {name: self.life(name).result() for name in PEERS}
        agreed = [name for name in PEERS if results[name] and results[name]["agreed"]]
        if len({results[name]["digest"] for name in agreed}) > 1:
            raise SystemExit(f"{self.key}: {agreed} agreed, on different parameters")
        first = results[agreed[0]] if agreed else None
        others = [results[name] for name in agreed if name != self.victim]
        rounds = [result["round_ms"] for result in others if result["round_ms"]]
        made = sum(runs.renamed(self.life(name).newest())["samples"] for name in PEERS)
        ended = [life.ended for life in self.cluster.lives if life.killed_at is None]
        spoke = next((results[name]["why"] for name in PEERS
                      if results[name] and results[name]["why"]), "")
        return self.key | {
            "exits": {name: self.exit_of(name) for name in PEERS},
            "agreed": agreed,
            "why": spoke if not agreed else "",
            "rounds_made": made / BATCH,
            "rounds_uncounted": (made - (first["samples_total"] if first else 0)) / BATCH,
            "pause_s": max(((it["max"] - it["p50"]) / 1e3 for it in rounds), default=None),
            "round_ms": statistics.median(it["p50"] for it in rounds) if rounds else None,
            "train_s": max((it["train_seconds"] for it in others), default=None),
            "ended_after_s": max(ended) - self.struck_at if self.struck_at and ended else None,
            "accuracy": first["accuracy"] if first else None}

    def exit_of(self, name):
        life = self.life(name)
        if name in self.hung:
            return "hangs"
        return "killed" if life.killed_at is not None else life.exit


# ---- the table


def middle(rows, name):
    values = [row[name] for row in rows if row[name] is not None]
    return statistics.median(values) if values else None


def beside_quiet(rows, quiet, name, form, scale=1):
    """A figure and, in brackets, that of the same contender without a fault."""
    found = [None if value is None else form.format(scale * value)
             for value in (middle(rows, name), middle(quiet, name))]
    if found[0] is None:
        return "-"
    return found[0] if rows is quiet or found[1] is None else f"{found[0]} ({found[1]})"


def ending(row):
    """In words, without its time."""
    if not row["agreed"]:
        exits = sorted({str(status) for status in row["exits"].values() if status != "killed"})
        return f"ends: exit {', '.join(exits)}"
    rest = [f"{name}: {status if status == 'hangs' else f'exit {status}'}"
            for name, status in row["exits"].items()
            if name not in row["agreed"] and status != "killed"]
    return ", ".join([f"{len(row['agreed'])} end alike", *rest])


def endings(rows):
    """Of all seeds: one word where they ended alike, else how many ended how."""
    found = collections.defaultdict(list)
    for row in rows:
        found[ending(row)].append(row)
    texts = []
    for text, alike in found.items():
        if not alike[0]["agreed"]:
            text += f" after {middle(alike, 'ended_after_s'):.1f} s"
        texts.append(text if len(found) == 1 else f"{len(alike)} of {len(rows)}: {text}")
    return "; ".join(texts)


def lost(rows):
    """Of all peers. How much of a worker that died its server had used, nobody tells: the others
    count what they had heard of it. With BSP all but its last round must have been."""
    if rows[0]["contender"] == "parameter server" and rows[0]["fault"] == "worker":
        return "at most 1"
    text = f"{middle(rows, 'rounds_uncounted'):.0f}"
    return text if rows[0]["agreed"] else f"all {text}"


def table(rows):
    lines = ["| contender | fault | rounds lost | longest pause of the others, s (quiet) | "
             "training, s (quiet) | how it ended | accuracy, % (quiet) |", "|" + "---|" * 7]
    for contender in CONTENDERS:
        of_contender = [row for row in rows if row["contender"] == contender]
        quiet = [row for row in of_contender if row["fault"] == "none"]
        for fault in FAULTS:
            here = quiet if fault == "none" else [row for row in of_contender
                                                  if row["fault"] == fault]
            if not here:
                continue
            lines.append("| " + " | ".join([
                contender, fault, lost(here), beside_quiet(here, quiet, "pause_s", "{:.2f}"),
                beside_quiet(here, quiet, "train_s", "{:.1f}"), endings(here),
                beside_quiet(here, quiet, "accuracy", "{:.2f}", 100)]) + " |")
    return "\n".join(lines)


def plot(rows):
    """matrix.svg, beside this program: the longest pauses, by fault; on top: the run has ended."""
    on_top = 60
    lines = {}
    for contender in CONTENDERS:
        points = []
        for place, fault in enumerate(FAULTS):
            pauses = [on_top if row["pause_s"] is None else max(row["pause_s"], LOOK_S)
                      for row in rows if (row["contender"], row["fault"]) == (contender, fault)]
            if pauses:
                points.append(figure.spread(place, pauses))
        lines[contender] = points
    figure.draw(HERE / "matrix.svg", lines, "fault",
                "longest pause of the others, s (on top: it ended)", logarithmic="y",
                x_names=FAULTS, joined=False, key="below",
                more=[f"set yrange [{LOOK_S}:{1.5 * on_top}]"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--program", default=REPOSITORY / "build/release/ako")
    parser.add_argument("--results", type=pathlib.Path, default=HERE / "matrix.jsonl")
    parser.add_argument("--contenders", nargs="+", choices=CONTENDERS, default=list(CONTENDERS))
    parser.add_argument("--faults", nargs="+", choices=FAULTS, default=FAULTS)
    parser.add_argument("--seeds", nargs="+", type=int, default=(1, 2, 3))
    parser.add_argument("--rate", default="1000mbit", help="of each peer's link, both ways")
    parser.add_argument("--cpus", type=float, default=0.4, help="share of a core of each peer")
    parser.add_argument("--epochs", type=float, default=2)
    parser.add_argument("--table", action="store_true", help="of what has been run; trains nothing")
    parser.add_argument("--plot", action="store_true", help="writes matrix.svg; needs gnuplot")
    arguments = parser.parse_args()
    common = {"rate": arguments.rate, "cpus": arguments.cpus, "epochs": arguments.epochs}
    made = runs.Runs(arguments.results)
    keys = [{"contender": contender, "fault": fault, "seed": seed} | common
            for seed in arguments.seeds for contender in arguments.contenders
            for fault in arguments.faults]
    for key in () if arguments.table else keys:
        if made.find(**key):
            continue
        with Network(arguments.rate, arguments.cpus) as network, \
                tempfile.TemporaryDirectory() as folder:
            run = Run(key, arguments.program, network, folder)
            run.make()
            row = run.row()
        made.add(row)
        print(f"{key['contender']}, {key['fault']}, seed {key['seed']}: {ending(row)}, "
              f"{lost([row])} rounds lost", flush=True)
    rows = made.of(**common)
    print(table(rows))
    if arguments.plot:
        plot(rows)


if __name__ == "__main__":
    main()
