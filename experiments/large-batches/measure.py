#!/usr/bin/env python3
"""Large batches on CIFAR-10 with cifar-quick: rules for the rate, noise scale, `batch: auto`.

    experiments/large-batches/measure.py --data DIR [--ako BUILD/ako] [--only rules doubling auto]
    experiments/large-batches/measure.py --table    # of the runs made so far; trains nothing

One process trains in the mode `local`: what the batch does to the accuracy is the same as with
peers in a ring, whose steps are the same within rounding. Every run is a line of results.jsonl, by
its settings; what is there is not run again. Time is not measured, so several may run at once.
Standard library only.
"""

import argparse
import concurrent.futures
import csv
import json
import pathlib
import statistics
import subprocess
import tempfile
import threading

HERE = pathlib.Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent
SEEDS = (1, 2, 3)
BASE, FACTOR = 32, 16  # images of the base batch, and so many times as many in the large one
EPOCHS = 10
TARGET = 0.65  # of the runs that are counted in epochs to it
RATE = 0.005  # that of the base batch: with twice and four times as much it learned less
COMMON = ("model=cifar-quick", "data.format=cifar10", "data.augmentation={crop: 4, flip: true}",
          "exchange.mode=local", f"training.batch.local={BASE}", "training.momentum=0.9",
          "training.weight_decay=0.0005", "peers=[{name: a, address: '127.0.0.1:7701'}]")
COSINE = "training.schedule={kind: cosine, warm_up: 0.1}"
LARGE = f"training.batch.global_target={BASE * FACTOR}"

# label: settings, of runs of EPOCHS
RULES = {
    "base": (f"training.learning_rate={RATE}",),
    "16 x, none": (f"training.learning_rate={RATE}", LARGE, "training.batch.rate_rule=none"),
    "16 x, sqrt": (f"training.learning_rate={RATE}", LARGE, "training.batch.rate_rule=sqrt"),
    "16 x, linear": (f"training.learning_rate={RATE}", LARGE),
    "16 x, lars": ("training.learning_rate=4", LARGE, "training.batch.rate_rule=none",
                   "training.optimizer=lars", "training.trust_coefficient=0.001"),
}
# Batches whose epochs to TARGET are counted, at a constant rate: of both rules the better counts.
BATCHES = (32, 64, 128, 256, 512, 1024, 2048)
WHOLE = f"training.epochs={2 * EPOCHS}"


def plan():
    """label, settings of every run."""
    for label, settings in RULES.items():
        yield "rules", label, (*settings, COSINE, f"training.epochs={EPOCHS}",
                               "training.evaluate_every=1")
    counted = (WHOLE, "training.schedule={kind: constant, warm_up: 0.02}",
               "training.evaluate_every=0.2", f"training.target_accuracy={TARGET}",
               f"training.learning_rate={RATE}")
    for batch in BATCHES:
        for rule in ("linear", "sqrt") if batch > BASE else ("linear",):
            yield "doubling", f"{batch} {rule}", (
                *counted, f"training.batch.global_target={batch}",
                f"training.batch.rate_rule={rule}", "training.batch.accumulate=2")
    yield "auto", "auto", (*counted, "training.batch.schedule=auto")


def run(arguments, label, settings, seed):
    """One run, as a line of results."""
    with tempfile.TemporaryDirectory() as folder:
        words = [arguments.ako, "launch", REPOSITORY / "experiments/cifar10/cluster.yaml",
                 "--free-ports", "--plain", "--output-dir", folder]
        for setting in (*COMMON, *settings, f"data.path={arguments.data}", f"seed={seed}"):
            words += ["--set", setting]
        done = subprocess.run([str(word) for word in words], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              check=False)
        result = {"label": label, "seed": seed, "settings": list(settings),
                  "exit": done.returncode}
        curve = pathlib.Path(folder) / "curve.json"
        if not curve.exists():
            return {**result, "said": done.stdout[-400:]}
        points = json.loads(curve.read_text())["points"]
        result["accuracy"] = points[-1]["accuracy"]
        result["samples"] = points[-1]["samples"]
        result["rounds"] = points[-1]["round"]
        with open(pathlib.Path(folder) / "metrics-a.csv", encoding="utf-8") as metrics:
            result["noise"] = [float(row["noise_scale"]) for row in csv.DictReader(metrics)
                               if row["noise_scale"]]
        return result


def median_of(results, key):
    return statistics.median(result[key] for result in results)


def table(results):
    of = lambda label: [r for r in results if r["label"] == label and "accuracy" in r]
    print(f"final accuracy after {EPOCHS} epochs, %: median of the seeds (each)")
    for label in RULES:
        found = sorted(100 * r["accuracy"] for r in of(label))
        if found:
            each = ", ".join(f"{value:.2f}" for value in found)
            print(f"  {label:14} {statistics.median(found):.2f} ({each})")
    print(f"to {100 * TARGET:g} %: epochs and rounds, medians of the seeds, of the better rule; "
          "and the noise scale, images")
    for batch in (*BATCHES, "auto"):
        labels = ["auto"] if batch == "auto" else [f"{batch} linear", f"{batch} sqrt"]
        rows = [of(label) for label in labels if of(label)]
        rows = [row for row in rows if all(r["accuracy"] >= TARGET for r in row)]
        if not rows:
            continue
        best = min(rows, key=lambda row: median_of(row, "samples"))
        noise = statistics.median(statistics.median(r["noise"]) for r in best if r["noise"])
        print(f"  {batch!s:6} {best[0]['label']:12} {median_of(best, 'samples') / 50_000:6.2f} "
              f"{median_of(best, 'rounds'):8.0f} {noise:8.0f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--ako", type=pathlib.Path, default=REPOSITORY / "build/release/ako")
    parser.add_argument("--data", type=pathlib.Path, help="folder with CIFAR-10's binary files")
    parser.add_argument("--only", nargs="*", default=["rules", "doubling", "auto"])
    parser.add_argument("--seeds", nargs="*", type=int, default=SEEDS)
    parser.add_argument("--at-once", type=int, default=1)
    parser.add_argument("--results", type=pathlib.Path, default=HERE / "results.jsonl")
    parser.add_argument("--table", action="store_true")
    arguments = parser.parse_args()
    results = []
    if arguments.results.exists():
        results = [json.loads(line) for line in arguments.results.read_text().splitlines()]
    if not arguments.table:
        if arguments.data is None:
            parser.error("--data is needed to train")
        made = {(r["seed"], *r["settings"]) for r in results}
        jobs = [(label, settings, seed) for seed in arguments.seeds
                for part, label, settings in plan()
                if part in arguments.only and (seed, *settings) not in made]
        lock = threading.Lock()

        def one(job):
            result = run(arguments, *job)
            with lock, open(arguments.results, "a", encoding="utf-8") as out:
                out.write(json.dumps(result) + "\n")
                results.append(result)
                print(job[0], job[2], result.get("accuracy", result.get("said")), flush=True)

        with concurrent.futures.ThreadPoolExecutor(arguments.at_once) as pool:
            list(pool.map(one, jobs))
    table(results)


if __name__ == "__main__":
    main()
