#!/usr/bin/env python3
"""Large batches on CIFAR-10 with cifar-quick: rules for the rate, noise scale, `batch: auto`.

    experiments/large-batches/measure.py --data DIR [--ako BUILD/ako] [--only rules doubling]
    experiments/large-batches/measure.py --table    # of the runs made so far; trains nothing
    experiments/large-batches/measure.py --plot     # the same as rules.svg and doubling.svg

One process trains in the mode `local`: what the batch does to the accuracy is the same as with
peers in a ring, whose steps are the same within rounding. Every run is a line of results.jsonl, by
its settings; what is there is not run again. Time is not measured, so several may run at once.
Standard library only; --plot needs gnuplot.
"""

import argparse
import concurrent.futures
import csv
import json
import math
import pathlib
import statistics
import sys
import tempfile
import threading

HERE = pathlib.Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent
sys.path.insert(0, str(HERE.parent))
import figure  # noqa: E402
import runs  # noqa: E402

SEEDS = (1, 2, 3)
BASE, FACTOR = 32, 16  # samples of the base batch, and so many times as many in a large one
EPOCHS = 10
SAMPLES = 50_000  # of an epoch
RATE = 0.005  # that of the base batch: with twice and four times as much it learned less
SMALLER, SMALLER_RATE = 8, 0.00125  # another base, whose samples all count as much
COMMON = ("model=cifar-quick", "data.format=cifar10", "data.augmentation={crop: 4, flip: true}",
          "exchange.mode=local", "training.momentum=0.9", "training.weight_decay=0.0005",
          "peers=[{name: a, address: '127.0.0.1:7701'}]")
COSINE = "training.schedule={kind: cosine, warm_up: 0.1}"


def of_base(base, rate):
    """label: settings, of a base batch and one that is FACTOR times as large."""
    large = base * FACTOR
    common = (f"training.batch.local={base}", f"training.learning_rate={rate}")
    return {f"{base}": common, **{
        f"{large}, {rule}": (*common, f"training.batch.global_target={large}",
                             f"training.batch.rate_rule={rule}")
        for rule in ("none", "sqrt", "linear")}}


# label: settings, of runs of EPOCHS
RULES = {**of_base(SMALLER, SMALLER_RATE), **of_base(BASE, RATE),
         f"{BASE * FACTOR}, lars": (
             f"training.batch.local={BASE}", "training.learning_rate=4",
             f"training.batch.global_target={BASE * FACTOR}", "training.batch.rate_rule=none",
             "training.optimizer=lars", "training.trust_coefficient=0.001"),
         "auto": (f"training.batch.local={BASE}", f"training.learning_rate={RATE}",
                  "training.batch.schedule=auto")}
# Batches whose epochs to an accuracy are counted, at a constant rate, with the rules that are
# tried, of which the better counts. Above 256 `linear` learns nothing at a constant rate.
BATCHES = {32: ("linear",), 64: ("linear",), 128: ("linear",), 256: ("linear", "sqrt"),
           512: ("sqrt",), 1024: ("sqrt",)}
COUNTED_TO, WHOLE = 0.6, f"training.epochs={2 * EPOCHS}"
LATE = 0.75  # of the runs of EPOCHS: to this, too


def plan():
    """label, settings of every run."""
    for label, settings in RULES.items():
        yield "rules", label, (*settings, COSINE, f"training.epochs={EPOCHS}",
                               "training.evaluate_every=1")
    for batch, rules in BATCHES.items():
        for rule in rules:
            yield "doubling", f"{batch} {rule}", (
                WHOLE, f"training.batch.local={BASE}", f"training.learning_rate={RATE}",
                "training.schedule={kind: constant, warm_up: 0.02}",
                "training.evaluate_every=0.25", f"training.target_accuracy={COUNTED_TO}",
                f"training.batch.global_target={batch}", f"training.batch.rate_rule={rule}",
                "training.batch.accumulate=2")


def run(arguments, label, settings, seed):
    """One run, as a line of results."""
    with tempfile.TemporaryDirectory() as folder:
        done = runs.launch(
            arguments.ako, REPOSITORY / "experiments/cifar10/cluster.yaml",
            (*COMMON, *settings, f"data.path={arguments.data}", f"seed={seed}"),
            "--free-ports", "--output-dir", folder)
        result = {"label": label, "seed": seed, "settings": list(settings),
                  "exit": done.returncode}
        curve = pathlib.Path(folder) / "curve.json"
        if not curve.exists():
            return {**result, "said": done.stdout[-400:]}
        points = json.loads(curve.read_text())["points"]
        result["points"] = [[point["samples"], point["round"], point["accuracy"]]
                            for point in points]
        with open(pathlib.Path(folder) / "metrics-a.csv", encoding="utf-8") as metrics:
            result["noise"] = [[int(row["samples"]), round(float(row["noise_scale"]))]
                               for row in map(runs.renamed, csv.DictReader(metrics))
                               if row["noise_scale"] and row["phase"] == "training"][::5]
        return result


def labelled(made):
    """Label -> its runs, by seeds, without those that failed."""
    return lambda label: [result for result in made.of(label=label) if result.get("points")]


def reached(result, target):
    """Samples and rounds at which a line between two points comes to that accuracy; or None."""
    before = (0, 0, 1 / 10)  # one of ten classes
    for point in result["points"]:
        if point[2] >= target:
            share = (target - before[2]) / (point[2] - before[2])
            return [low + share * (high - low) for low, high in zip(before[:2], point[:2])]
        before = point
    return None


def noise_until(result, target):
    """Median noise scale, in samples, of a run up to that accuracy."""
    end = reached(result, target)[0]
    return statistics.median(noise for samples, noise in result["noise"] if samples <= end)


def listed(values, form):
    """The median and, in brackets, each."""
    each = ", ".join(format(value, form) for value in values)
    return f"{statistics.median(values):{form}} ({each})"


def rules_table(of):
    print(f"| batch, rule | accuracy after {EPOCHS} epochs, % (each seed) | epochs to "
          f"{100 * LATE:g} % | rounds |\n|---|---|---|---|")
    for label in filter(of, RULES):
        ends = [reached(result, LATE) for result in of(label)]
        cells = ["-", "-"]
        if all(ends):
            cells = [listed([end[0] / SAMPLES for end in ends], ".2f"),
                     f"{statistics.median(end[1] for end in ends):.0f}"]
        final = listed([100 * result["points"][-1][2] for result in of(label)], ".2f")
        print(f"| {label} | {final} | {' | '.join(cells)} |")


def median_samples(row):
    return statistics.median(reached(result, COUNTED_TO)[0] for result in row)


def best_rows(of):
    """Of each batch that comes to COUNTED_TO the runs of the rule with the fewest samples."""
    rows = {}
    for batch, rules in BATCHES.items():
        found = [of(f"{batch} {rule}") for rule in rules if of(f"{batch} {rule}")]
        found = [row for row in found if all(reached(result, COUNTED_TO) for result in row)]
        if found:
            rows[batch] = min(found, key=median_samples)
    return rows


def doubling_batch(rows):
    """Where the epochs are twice the fewest, between two batches by logarithms; or None."""
    twice = 2 * min(median_samples(row) for row in rows.values())
    known = [(batch, median_samples(row)) for batch, row in rows.items()]
    for (low, few), (high, many) in zip(known, known[1:]):
        if few < twice <= many:
            return low * (high / low) ** (math.log(twice / few) / math.log(many / few))
    return None


def foretold(rows):
    """(noise scale, batch that takes twice the samples of the one with the fewest), in samples."""
    fewest = min(rows, key=lambda batch: median_samples(rows[batch]))
    noise = statistics.median(noise_until(result, COUNTED_TO) for result in rows[fewest])
    return noise, noise + 2 * fewest  # 1 + B / noise = 2 (1 + fewest / noise)


def doubling_table(of):
    print(f"\n| batch, rule | epochs to {100 * COUNTED_TO:g} % (each seed) | rounds | "
          "noise scale until then |\n|---|---|---|---|")
    rows = best_rows(of)
    for row in rows.values():
        ends = [reached(result, COUNTED_TO) for result in row]
        noise = statistics.median(noise_until(result, COUNTED_TO) for result in row)
        print(f"| {row[0]['label']} | {listed([end[0] / SAMPLES for end in ends], '.2f')} | "
              f"{statistics.median(end[1] for end in ends):.0f} | {noise:.0f} |")
    twice = doubling_batch(rows) if rows else None
    if twice:
        print(f"\nTwice the fewest epochs: at a batch of {twice:.0f}; foretold: "
              f"{foretold(rows)[1]:.0f}")


def table(made):
    of = labelled(made)
    rules_table(of)
    doubling_table(of)


def median_curve(row):
    """(epochs, accuracy in %, its least, its most) of the seeds, point by point."""
    points = []
    for same in zip(*(result["points"] for result in row)):
        points.append(figure.spread(same[0][0] / SAMPLES, [100 * point[2] for point in same]))
    return points


def plot(made):
    """rules.svg and doubling.svg, beside this program."""
    of = labelled(made)
    curves = {label: median_curve(of(label)) for label in RULES if of(label)}
    figure.draw(HERE / "rules.svg", curves, "epochs", "accuracy, %", key="right bottom",
                more=["set yrange [30:80]"])
    rows = best_rows(of)
    measured = [
        figure.spread(batch, [reached(result, COUNTED_TO)[0] / SAMPLES for result in row])
        for batch, row in rows.items()]
    noise, _ = foretold(rows)
    fewest = min(measured, key=lambda point: point[1])
    lines = {"measured": measured, f"by a noise scale of {noise:.0f}": [
        (batch, fewest[1] * (1 + batch / noise) / (1 + fewest[0] / noise)) for batch in rows]}
    figure.draw(HERE / "doubling.svg", lines, "samples of a batch",
                f"epochs to {100 * COUNTED_TO:g} %", logarithmic="xy", key="left top",
                more=["set xtics (" + ", ".join(f"{batch}" for batch in BATCHES) + ")",
                      "set yrange [0.5:20]; set xrange [24:1400]"])


def train(arguments, made):
    """What has not been made of the plan, so many runs at once."""
    jobs = [(label, settings, seed) for seed in arguments.seeds for part, label, settings in plan()
            if part in arguments.only and label in (arguments.labels or [label])
            and not made.find(label=label, seed=seed)]
    lock = threading.Lock()

    def one(job):
        result = run(arguments, *job)
        with lock:
            made.add(result)
        print(job[0], job[2], result.get("said", result.get("points", [""])[-1]), flush=True)

    with concurrent.futures.ThreadPoolExecutor(arguments.at_once) as pool:
        list(pool.map(one, jobs))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--ako", type=pathlib.Path, default=REPOSITORY / "build/release/ako")
    parser.add_argument("--data", type=pathlib.Path, help="folder with CIFAR-10's binary files")
    parser.add_argument("--only", nargs="*", default=["rules", "doubling"])
    parser.add_argument("--seeds", nargs="*", type=int, default=SEEDS)
    parser.add_argument("--labels", nargs="*", help="only these")
    parser.add_argument("--at-once", type=int, default=1)
    parser.add_argument("--results", type=pathlib.Path, default=HERE / "results.jsonl")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--plot", action="store_true")
    arguments = parser.parse_args()
    made = runs.Runs(arguments.results)
    if not arguments.table and not arguments.plot:
        if arguments.data is None:
            parser.error("--data is needed to train")
        train(arguments, made)
    table(made)
    if arguments.plot:
        plot(made)


if __name__ == "__main__":
    main()
