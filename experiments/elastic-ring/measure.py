#!/usr/bin/env python3
"""An elastic ring whose members are killed and come back: how soon, and what it costs.

    experiments/elastic-ring/measure.py entry    # how long a newcomer takes; a quarter of an hour
    experiments/elastic-ring/measure.py churn    # fifty kills and returns, and as long without
    experiments/elastic-ring/measure.py table    # of what has been run

Four peers in the network namespaces of `deploy/testbed`. entry: `model: synthetic`, whose state
(parameters and momentum) fills the links for seconds; one peer is killed in mid-training and
started again AWAY_S later. The clock runs from the start of its process to its word that it has
come in, which it says once it has compared its digest with those of all members. churn: LeNet on
MNIST; at each fiftieth of the budget any peer that trains is killed, but for the last one, and is
started again within MOST_AWAY_S. Every run is a line of results.jsonl; what is there is not run
again. Needs root. Standard library only.
"""

import argparse
import json
import pathlib
import random
import statistics
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent
sys.path[:0] = [str(REPOSITORY / "tests/chaos"), str(HERE.parent / "compare-lost-peer"),
                str(HERE.parent)]
import runs  # noqa: E402
from lives import Cluster  # noqa: E402
from matrix import LOOK_S, PEERS, Network  # noqa: E402

CLUSTER = REPOSITORY / "experiments/mnist/cluster.yaml"
ELASTIC = ("exchange.mode=ring", "exchange.elastic=true", "exchange.start_peers_min=1",
           "training.evaluate_every=0")
PATIENCE_S = 600  # of a run: whoever still runs then hangs
CPUS = 0.4  # of a core, of each peer

# ---- entry
PARAMETERS = 2_500_000
STATE_BYTES = 2 * 4 * PARAMETERS  # parameters and momentum
MBIT = (50, 200)
ENTRY_ROUNDS = 30
STRIKES_AT = 0.15
AWAY_S = 3
CAME_IN = "comes in after round"

# ---- churn
KILLS = 50
EPOCHS = 6
MOST_AWAY_S = 3
CHURN_MBIT = 1000


class Run:
    """One run, until all have ended: who is killed when, and comes back when."""

    def __init__(self, arguments, network, folder, settings, strikes, seed):
        """`strikes`: (progress, victim or None for any, seconds until it is started again)."""
        words = [word for setting in (*ELASTIC, *settings, f"seed={seed}")
                 for word in ("--set", setting)]
        self.cluster = Cluster(arguments.ako, CLUSTER, PEERS, network, folder, words)
        self.strikes = list(strikes)
        self.random = random.Random(seed)
        self.kills = 0
        self.returns = []  # (when, name)
        self.came_in = {}  # life: seconds since its process began
        self.hung = []

    def make(self):
        for name in PEERS:
            self.cluster.start(name)
        deadline = time.monotonic() + PATIENCE_S
        try:
            while self.cluster.running() or self.returns:
                if time.monotonic() > deadline:
                    self.hung = [life.label() for life in self.cluster.running()]
                    break
                time.sleep(LOOK_S)
                self.look()
        finally:
            self.cluster.end_all()
        return self

    def look(self):
        self.cluster.poll()
        for when, name in list(self.returns):
            if time.monotonic() >= when and not self.cluster.current(name).runs:
                self.returns.remove((when, name))
                self.cluster.start(name, "again")
        for life in self.cluster.running():
            if life.role == "again" and life not in self.came_in and \
                    CAME_IN in life.process.output():
                self.came_in[life] = time.monotonic() - life.began
        if self.strikes and self.cluster.progress() >= self.strikes[0][0]:
            self.strike(*self.strikes[0])

    def strike(self, _, victim, away_s):
        training = [life for life in self.cluster.running() if self.is_in(life)]
        struck = [life for life in training if victim in (None, life.name)]
        if len(training) < 2 or not struck:
            return  # later: only the last one is left
        life = self.random.choice(struck)
        self.strikes.pop(0)
        life.kill()
        self.kills += 1
        self.returns.append((time.monotonic() + away_s, life.name))

    def is_in(self, life):
        return life.trains() and life.killed_at is None and \
            (life.role == "first" or life in self.came_in)

    def row(self):
        last = {name: self.cluster.current(name) for name in PEERS}
        results = {name: life.result() for name, life in last.items()}
        agreed = [name for name in PEERS if results[name] and results[name]["agreed"]]
        first = results[agreed[0]] if agreed else None
        return {"kills": self.kills, "hung": self.hung,
                "exits": {name: life.exit for name, life in last.items()}, "agreed": agreed,
                "identical": len({results[name]["digest"] for name in agreed}) == 1,
                "came_in_s": [round(seconds, 2) for seconds in self.came_in.values()],
                "accuracy": first["accuracy"] if first else None}


def make(arguments, made, key, rate, settings, strikes):
    """Adds this run to those that have been made, if it is not there."""
    if made.find(**key):
        return
    with Network(f"{rate}mbit", CPUS) as network, tempfile.TemporaryDirectory() as folder:
        run = Run(arguments, network, folder, settings, strikes, key["seed"]).make()
        made.add({**key, **run.row()})
    print(json.dumps(made.lines[-1]), flush=True)


def entry(arguments, made):
    settings = ("model.name=synthetic", f"model.parameters={PARAMETERS}", "model.compute_ms=20",
                f"model.samples={ENTRY_ROUNDS * len(PEERS)}", "training.batch=1",
                "training.learning_rate=0.001", "training.momentum=0.9", "training.epochs=1")
    for seed in arguments.seeds:
        for rate in MBIT:
            for victim in "ac":  # the first of the file, and one in the middle
                make(arguments, made,
                     {"part": "entry", "mbit": rate, "victim": victim, "seed": seed},
                     rate, settings, [(STRIKES_AT, victim, AWAY_S)])


def churn(arguments, made):
    settings = ("training.batch=64", "training.learning_rate=0.1", f"training.epochs={EPOCHS}")
    for seed in arguments.seeds:
        away = random.Random(seed)
        strikes = [((kill + 1) / (KILLS + 2), None, away.uniform(0, MOST_AWAY_S))
                   for kill in range(KILLS)]
        for kills in (0, KILLS):
            make(arguments, made, {"part": "churn", "planned": kills, "seed": seed}, CHURN_MBIT,
                 settings, strikes[:kills])


def table(made):
    print("| links, Mbit/s | state over its link, s | goal, s | comes in after, s: median, most |"
          "\n|---|---|---|---|")
    for rate in MBIT:
        took = [seconds for line in made.of(part="entry", mbit=rate)
                for seconds in line["came_in_s"]]
        if took:
            least = STATE_BYTES * 8 / (rate * 1e6)
            print(f"| {rate} | {least:.2f} | {1.2 * least + 2:.2f} | "
                  f"{statistics.median(took):.2f}, {max(took):.2f} ({len(took)} runs) |")
    print("\n| seed | kills | came in | end alike, of four | hung | accuracy, % |"
          "\n|" + "---|" * 6)
    for line in made.of(part="churn"):
        print(f"| {line['seed']} | {line['kills']} | {len(line['came_in_s'])} | "
              f"{len(line['agreed']) if line['identical'] else 'NOT ALIKE'} | "
              f"{len(line['hung'])} | {100 * line['accuracy']:.2f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("part", choices=["entry", "churn", "table"])
    parser.add_argument("--ako", default=REPOSITORY / "build/release/ako")
    parser.add_argument("--seeds", nargs="+", type=int, default=(1, 2, 3))
    arguments = parser.parse_args()
    made = runs.Runs(HERE / "results.jsonl")
    if arguments.part == "entry":
        entry(arguments, made)
    elif arguments.part == "churn":
        churn(arguments, made)
    table(made)


if __name__ == "__main__":
    main()
