#!/usr/bin/env python3
"""Rounds to an accuracy for LeNet on MNIST, by settings of one cluster file: what an update rule, a
number of partitions or a mode needs, whatever the network.

    experiments/update-rule/measure.py --set exchange.partitions=1 --set exchange.partitions=3
    experiments/update-rule/measure.py --seeds 1 2 \\
        --set "exchange.mode=ring training.learning_rate=0.1"

One row per --set; several settings of one row are separated by spaces. Four peers on loopback,
batch 64, momentum 0.9, weight decay 5e-4, cosine schedule; evaluated after training. A round is one
of all four peers, 256 samples. Standard library only.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent.parent
PEERS, BATCH = 4, 64
COMMON = [f"training.batch={BATCH}", "training.learning_rate=0.05",
          "training.momentum=0.9", "training.nesterov=false", "training.weight_decay=0.0005",
          "training.schedule={kind: cosine, warm_up: 0.02}",
          "training.evaluate=after", "training.evaluate_every=0.0854", "exchange.leave_timeout_s=0"]
TARGETS = (0.98, 0.985, 0.99)


def run(ako, epochs, seed, settings):
    """The points of the curve of one run, or None if it failed."""
    with tempfile.TemporaryDirectory() as folder:
        results = pathlib.Path(folder) / "run"
        words = [ako, "launch", REPOSITORY / "experiments/mnist/cluster.yaml", "--plain",
                 "--free-ports", "--output-dir", results]
        for setting in [*COMMON, f"training.epochs={epochs}", f"seed={seed}", *settings]:
            words += ["--set", setting]
        done = subprocess.run(words, capture_output=True, text=True)
        if done.returncode != 0:
            print(f"{' '.join(settings)}, seed {seed}: exit {done.returncode}\n"
                  f"{done.stdout[-600:]}", file=sys.stderr)
            return None
        return json.loads((results / "curve.json").read_text())["points"]


def rounds_to(points, target):
    """Of the first point at or above the target; None if there is none."""
    for point in points:
        if point["accuracy"] >= target:
            return point["samples"] / (PEERS * BATCH)
    return None


def text(values):
    """The median over seeds, "never" if most never got there, and all of them."""
    median = statistics.median(float("inf") if value is None else value for value in values)
    shown = "never" if median == float("inf") else f"{median:.0f}"
    every = ", ".join("never" if value is None else f"{value:.0f}" for value in values)
    return shown if len(values) == 1 else f"{shown} ({every})"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ako", default=REPOSITORY / "build/release/ako")
    parser.add_argument("--epochs", type=float, default=2)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    parser.add_argument("--set", action="append", required=True, metavar="SETTINGS")
    arguments = parser.parse_args()
    print("| settings | rounds to 98 % | 98.5 % | 99 % | at the end |\n|---|---|---|---|---|")
    for row in arguments.set:
        runs = [run(arguments.ako, arguments.epochs, seed, row.split()) for seed in arguments.seeds]
        runs = [points for points in runs if points]
        if not runs:
            print(f"| {row} | failed | | | |")
            continue
        cells = [text([rounds_to(points, target) for points in runs]) for target in TARGETS]
        last = statistics.median(points[-1]["accuracy"] for points in runs)
        print(f"| {row} | {' | '.join(cells)} | {100 * last:.2f} % |", flush=True)


if __name__ == "__main__":
    main()
