#!/usr/bin/env python3
"""How often is something ordinary taken for a peer whose numbers explode?

Trains LeNet on MNIST with three peers of this machine, again and again, each run with a batch, a
learning rate, a warm-up, a momentum and a seed of its own, in every mode, and counts the runs in
which a peer was refused (training.growth_max).

    experiments/diverging-peer/measure.py build/release/ako --runs 204 [--initial model.safetensors]

Prints a row for each mode: runs, runs with a peer refused, runs that ended otherwise badly."""
import argparse
import collections
import pathlib
import random
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
DATA = HERE.parent / "mnist" / "data"
MODES = {
    "ako": {"exchange.mode": "ako"},
    "elastic ring": {"exchange.mode": "ring", "exchange.elastic": "true"},
    "ring": {"exchange.mode": "ring"},
    "local-sgd": {"exchange.mode": "local-sgd", "exchange.local_rounds": "4"},
    "sma": {"exchange.mode": "sma", "training.learners": "2"},
    "parameter-server": {"exchange.mode": "parameter-server"},
}


def drawn(mode, seed):
    """The settings of one run, with which training gets somewhere."""
    rng = random.Random(f"{mode} {seed}")
    batch = rng.choice([8, 32, 128])
    settings = dict(MODES[mode])
    settings["seed"] = str(seed)
    settings["training.batch.local"] = str(batch)
    settings["training.learning_rate"] = str(rng.choice([0.005, 0.02, 0.05]))
    settings["training.momentum"] = rng.choice(["0", "0.9"])
    settings["training.schedule.kind"] = rng.choice(["constant", "cosine"])
    settings["training.schedule.warm_up"] = rng.choice(["0", "0.3", "0.9"])
    settings["training.epochs"] = str(0.06 if batch < 128 else 0.15)
    return settings


def one(ako, mode, seed, options, folder):
    """Of one run: "", "refused" or what else went wrong."""
    settings = drawn(mode, seed) | {"training.growth_max": str(options.growth_max),
                                    "training.must_learn": "false", "training.evaluate_every": "0",
                                    "data.path": str(DATA), "output": folder}
    if options.initial:
        settings["model.initial"] = str(pathlib.Path(options.initial).resolve())
    command = [ako, "launch", str(HERE / "cluster.yaml"), "--plain"]
    for key, value in settings.items():
        command += ["--set", f"{key}={value}"]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=1800,
                         stdin=subprocess.DEVNULL)
    said = ran.stdout + ran.stderr
    if "far beyond what is usual" in said:
        return "refused"
    return "" if ran.returncode == 0 else f"exit {ran.returncode}: " + said.strip()[-300:]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ako")
    parser.add_argument("--runs", type=int, default=200, help="over all modes")
    parser.add_argument("--first", type=int, default=0, help="seed of the first run")
    parser.add_argument("--initial", help="a trained LeNet to begin with")
    parser.add_argument("--growth-max", type=float, default=100)
    options = parser.parse_args()
    ends = collections.defaultdict(collections.Counter)
    with tempfile.TemporaryDirectory() as folder:
        for run in range(options.first, options.first + options.runs):
            mode = list(MODES)[run % len(MODES)]
            end = one(options.ako, mode, run, options, folder)
            ends[mode][end if end in ("", "refused") else "otherwise"] += 1
            if end:
                print(f"{mode}, seed {run}: {end}\n  {drawn(mode, run)}", file=sys.stderr)
    print("| mode | runs | a peer refused | ended otherwise |\n|---|---|---|---|")
    for mode, counts in ends.items():
        print(f"| {mode} | {sum(counts.values())} | {counts['refused']} | {counts['otherwise']} |")


if __name__ == "__main__":
    main()
