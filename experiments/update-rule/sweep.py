#!/usr/bin/env python3
"""Rounds to an accuracy in virtual time, as a ratio to synchronous training at its own best.

    experiments/update-rule/sweep.py lenet --results lenet.jsonl --peers 4 --rates 0.05 0.1 \\
        --seeds 1 2 3 --row ring --row "exchange.partitions=6" --row "exchange.partitions=6 \\
        training.nesterov=true"

Runs `virtual_training` for each row, rate and seed, several at once, and appends to the results
what is not there yet. The first row is what the others are compared with; a row that is only a word
is a mode. Of each row the rate is taken at which it needs the fewest rounds to the middle accuracy
(of equals: with the highest mean accuracy over the run), by medians over the seeds. A mark counts
as the mean of it and its neighbours, since a first mark rewards a curve that jumps. Standard
library only.
"""

import argparse
import concurrent.futures
import dataclasses
import json
import pathlib
import statistics
import subprocess
import sys

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent.parent
NEVER = float("inf")


@dataclasses.dataclass(frozen=True)
class Task:
    """What is trained, and the accuracies of interest."""
    cluster: str
    batch: int
    epochs: float  # of all peers together, with four of them; with others as many rounds
    targets: tuple
    settings: tuple = ()  # beside the cluster file


TASKS = {
    "lenet": Task("experiments/mnist/cluster.yaml", 64, 2, (0.975, 0.98, 0.985)),
    "cifar-quick": Task("experiments/cifar10/cluster.yaml", 32, 0.6144, (0.45, 0.5, 0.55)),
    "resnet20": Task("experiments/cifar10/cluster.yaml", 32, 0.6144, (0.4, 0.45, 0.5),
                     ("model=resnet20",)),
}
COMMON = ("training.momentum=0.9", "training.schedule.kind=cosine",
          "training.schedule.warm_up=0.02", "training.nesterov=false")


def settings_of(task, arguments, row, rate, seed):
    """The words of --set for one run."""
    words = [*COMMON, *task.settings, f"training.batch={task.batch}",
             f"training.epochs={task.epochs * arguments.peers / 4:g}",
             f"training.learning_rate={rate:g}", f"seed={seed}", peers(arguments.peers)]
    return words + [word if "=" in word else f"exchange.mode={word}" for word in row.split()]


def peers(count):
    """So many, whose addresses are never used."""
    listed = ", ".join(f"{{name: p{k}, address: '127.0.0.1:{7701 + k}'}}" for k in range(count))
    return f"peers=[{listed}]"


def name_of(key):
    """As it is told from others in the results."""
    return json.dumps(key, sort_keys=True)


def run(arguments, task, key):
    """The points of one run; an empty list if it diverged, None if it could not be run."""
    words = [arguments.program, REPOSITORY / task.cluster, "--transit", str(arguments.transit),
             "--slowest", str(arguments.slowest), "--judged", str(arguments.judged)]
    data = [f"data.path={arguments.data.resolve()}"] if arguments.data else []
    for setting in key["settings"] + data:
        words += ["--set", setting]
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode == 1:
        return []
    if done.returncode != 0:
        print(f"{key}: exit {done.returncode}\n{done.stderr}", file=sys.stderr)
        return None
    return [json.loads(line) for line in done.stdout.splitlines()]


def smoothed(points):
    """(rounds, accuracy) with the mean of each mark and its neighbours."""
    values = [point["accuracy"] for point in points]
    return [(point["rounds"], statistics.mean(values[max(0, k - 1):k + 2]))
            for k, point in enumerate(points)]


def rounds_to(points, target):
    """Between the two marks where it is reached."""
    before = (0, 0)
    for rounds, accuracy in smoothed(points):
        if accuracy >= target:
            share = (target - before[1]) / (accuracy - before[1])
            return before[0] + share * (rounds - before[0])
        before = (rounds, accuracy)
    return NEVER


def mean_accuracy(points):
    return statistics.mean(point["accuracy"] for point in points) if points else 0


def last_accuracy(points):
    return points[-1]["accuracy"] if points else 0


def best_rate(runs, targets):
    """`runs`: {rate: [points of each seed]}."""
    def worth(rate):
        reached = statistics.median(rounds_to(points, targets[1]) for points in runs[rate])
        return reached, -statistics.median(map(mean_accuracy, runs[rate]))
    return min(runs, key=worth)


def table(task, rows):
    """`rows`: {row: {rate: [points of each seed]}}, the one to compare with first."""
    marks = " | ".join(f"to {100 * target:g} %" for target in task.targets)
    print(f"| settings | rate | {marks} | mean | end |")
    print("|---|---|" + "---|" * (len(task.targets) + 2))
    base = None
    for row, runs in rows.items():
        rate = best_rate(runs, task.targets)
        reached = [statistics.median(rounds_to(points, target) for points in runs[rate])
                   for target in task.targets]
        base = base or reached
        cells = ["never" if rounds == NEVER else f"{rounds:.0f}" +
                 (f" ({rounds / first:.2f})" if first != NEVER else "")
                 for rounds, first in zip(reached, base)]
        mean = 100 * statistics.median(map(mean_accuracy, runs[rate]))
        last = 100 * statistics.median(map(last_accuracy, runs[rate]))
        print(f"| {row} | {rate:g} | {' | '.join(cells)} | {mean:.1f} % | {last:.1f} % |")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", choices=TASKS)
    parser.add_argument("--program",
                        default=REPOSITORY / "build/release/tests/sim/virtual_training")
    parser.add_argument("--label", default="", help="of the program, where several are compared")
    parser.add_argument("--results", type=pathlib.Path, required=True)
    parser.add_argument("--row", action="append", required=True, metavar="SETTINGS")
    parser.add_argument("--rates", type=float, nargs="+", required=True)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    parser.add_argument("--peers", type=int, default=4)
    parser.add_argument("--transit", type=float, default=1, help="rounds")
    parser.add_argument("--slowest", type=float, default=1, help="the last peer's rounds take so "
                        "many times as long")
    parser.add_argument("--judged", type=int, default=5000, help="samples of the test set")
    parser.add_argument("--data", type=pathlib.Path, help="the folder, if not the cluster file's")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    task = TASKS[arguments.task]
    common = {"task": arguments.task, "label": arguments.label, "peers": arguments.peers,
              "transit": arguments.transit, "slowest": arguments.slowest,
              "judged": arguments.judged}
    keys = [common | {"row": row, "rate": rate, "seed": seed,
                      "settings": settings_of(task, arguments, row, rate, seed)}
            for seed in arguments.seeds for rate in arguments.rates for row in arguments.row]
    there = [json.loads(line) for line in arguments.results.read_text().splitlines()] \
        if arguments.results.exists() else []
    done = {name_of(entry["key"]): entry["points"] for entry in there}
    missing = [key for key in keys if name_of(key) not in done]
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        runs = {pool.submit(run, arguments, task, key): key for key in missing}
        for finished in concurrent.futures.as_completed(runs):
            key, points = runs[finished], finished.result()
            if points is None:
                continue
            done[name_of(key)] = points
            with arguments.results.open("a") as file:
                file.write(json.dumps({"key": key, "points": points}) + "\n")
    rows = {}
    for key in keys:
        points = done.get(name_of(key))
        if points is None:
            sys.exit(f"there is no result of {key}")
        rows.setdefault(key["row"], {}).setdefault(key["rate"], []).append(points)
    table(task, rows)


if __name__ == "__main__":
    main()
