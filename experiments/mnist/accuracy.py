#!/usr/bin/env python3
"""Accuracy of LeNet on MNIST by update rule and P: four peers beside one process with the summed
batch, the learning rate swept for each.

    experiments/mnist/accuracy.py [--ako BUILD/ako] [--epochs 3] [--seeds 1 2 3] [--only WORDS]
    experiments/mnist/accuracy.py --table      # of the runs made so far; trains nothing

For every condition the rate is searched on a grid of factor 2 with the first seed: from `start`
towards the side that is better, until a rate is worse than the one before. The best rate then runs
with all seeds. Every run is a line of results.jsonl; what is there is not run again. Standard
library only.
"""

import argparse
import json
import pathlib
import statistics
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent
sys.path.insert(0, str(HERE.parent))
import runs  # noqa: E402

PEERS = 4
BATCH = 64
SAMPLES = 60_000
TARGET = 0.985
RATE_MIN, RATE_MAX = 0.05 / 64, 0.05 * 8

ONE = ["training.batch=256", "peers=[{name: a, address: '127.0.0.1:7701'}]"]
LINKS = {"P = 1": ["exchange.partitions=1"], "P = 8": ["exchange.partitions=8"],
         "P = 24": ["exchange.partitions=24"], "auto, 20 Mbit/s": ["exchange.link_mbit=20"]}


def conditions():
    """Name -> (settings, the rate to begin with)."""
    table = {"one process, batch 256": (ONE, 0.05)}
    for rule, momentum, start in (
            ("anchored", 0.9, 0.05), ("plain", 0.9, 0.0125), ("plain", 0, 0.1)):
        for name, settings in LINKS.items():
            label = f"{rule}, {name}" + (", no momentum" if momentum == 0 else "")
            table[label] = ([f"training.batch={BATCH}", f"exchange.rule={rule}",
                             f"training.momentum={momentum}", *settings], start)
    return table


def made_or_make(arguments, made, condition, settings, rate, seed):
    """The line of this run, which is made unless it has been."""
    key = {"condition": condition, "rate": rate, "seed": seed, "epochs": arguments.epochs}
    if not made.find(**key):
        made.add({**key, **train(arguments, settings, rate, seed)})
        print(f"{condition:38} rate {rate:<9g} seed {seed}  {describe(made.lines[-1])}", flush=True)
    return made.find(**key)


def describe(run):
    if run["accuracy"] is None:
        return run["ending"]
    rounds = run["rounds_to_target"]
    return (f"{100 * run['accuracy']:.2f} %, {100 * TARGET:g} % "
            f"{'never' if rounds is None else f'after {rounds} rounds'}")


def train(arguments, settings, rate, seed):
    """One run. `accuracy` is None where a loss was not finite."""
    with tempfile.TemporaryDirectory() as folder:
        done = runs.launch(arguments.ako, HERE / "cluster.yaml",
                           [*settings, f"training.learning_rate={rate}",
                            f"training.epochs={arguments.epochs}", f"seed={seed}",
                            "training.evaluate_every=0.2", "training.nesterov=false",
                            "training.schedule.warm_up=0.02"],
                           "--free-ports", "--output-dir", folder)
        if done.returncode == 3:
            return {"accuracy": None, "rounds_to_target": None, "ending": "a loss was not finite"}
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(done.args)}: exit {done.returncode}\n{done.stdout}")
        latest = pathlib.Path(folder)
        summary = json.loads((latest / "summary.json").read_text())
        lines = [json.loads(line) for line in (latest / "metrics-a.jsonl").open()]
    assert summary["replicas_identical"], "the replicas differ"
    reached = [line["accuracy_at"] for line in lines
               if line["accuracy"] is not None and line["accuracy"] >= TARGET]
    rounds = arguments.epochs * SAMPLES / (PEERS * BATCH)
    partitions = [link["partitions"] for line in lines for link in line["links"]
                  if line["phase"] == "training" and link["partitions"] > 0]
    return {"accuracy": summary["accuracy"],
            "rounds_to_target": round(min(reached) * rounds) if reached else None,
            "seconds": summary["seconds"], "ending": "finished",
            "partitions": statistics.median(partitions) if partitions else None}


def score(run):
    """Higher is better: accuracy at the end."""
    return -1 if run["accuracy"] is None else run["accuracy"]


def best_rate(arguments, made, condition, settings, start):
    def at(rate):
        return score(made_or_make(arguments, made, condition, settings, rate, arguments.seeds[0]))

    best = start
    for factor in (2, 0.5):
        moved = False
        while RATE_MIN <= best * factor <= RATE_MAX and at(best * factor) > at(best):
            best, moved = best * factor, True
        if moved:
            break
    return best


def table(made, arguments):
    print("| condition | best rate (tried) | accuracy %, median (seeds) | rounds to "
          f"{100 * TARGET:g} %, median (seeds) | observed P |\n|---|---|---|---|---|")
    for condition in conditions():
        lines = made.of(condition=condition)
        if not lines:
            continue
        first = [line for line in lines if line["seed"] == arguments.seeds[0]]
        rate = max(first, key=score)["rate"]
        tried = ", ".join(f"{line['rate']:g}" for line in sorted(first, key=lambda l: l["rate"]))
        chosen = made.of(condition=condition, rate=rate)
        accuracies = [100 * score(line) for line in chosen]
        rounds = [line["rounds_to_target"] for line in chosen]
        finite = [number if number is not None else float("inf") for number in rounds]
        median = statistics.median(finite)
        observed = [line["partitions"] for line in chosen if line.get("partitions")]
        print(f"| {condition} | {rate:g} ({tried}) | {statistics.median(accuracies):.2f} "
              f"({', '.join(f'{a:.2f}' for a in accuracies)}) | "
              f"{'never' if median == float('inf') else f'{median:.0f}'} "
              f"({', '.join('never' if n is None else str(n) for n in rounds)}) | "
              f"{f'{statistics.median(observed):.1f}' if observed else ''} |")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ako", default=str(REPOSITORY / "build/release/ako"))
    parser.add_argument("--epochs", type=float, default=3)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--results", type=pathlib.Path, default=HERE / "results.jsonl")
    parser.add_argument("--only", default="", help="conditions whose name has these words")
    parser.add_argument("--table", action="store_true")
    arguments = parser.parse_args()
    made = runs.Runs(arguments.results)
    if not arguments.table:
        for condition, (settings, start) in conditions().items():
            if arguments.only not in condition:
                continue
            rate = best_rate(arguments, made, condition, settings, start)
            for seed in arguments.seeds:
                made_or_make(arguments, made, condition, settings, rate, seed)
    table(made, arguments)


if __name__ == "__main__":
    main()
