#!/usr/bin/env python3
"""Learners: several small batches at a time on one machine, and what that does to speed and to
accuracy. LeNet on MNIST, one peer, batch 8 for each learner; with --sma, two peers.

    experiments/learners/measure.py epochs [--rates 0.001 0.005 0.01] [--seeds 1 2 3]
    experiments/learners/measure.py speed [--learners 1 2 3 4] [--seeds 1 2 3]
                                   [--long | --sma]
    experiments/learners/measure.py table      # of the runs made so far; trains nothing

`epochs` needs no quiet machine: one learner, four that are averaged, and one with a batch four
times as large (synchronous SGD), all at the same rate, with the epochs after which the test
accuracy was first reached. `speed` needs one: samples per second of one learner with one thread and
with two, of every number of learners, and of `auto`; --long: of two learners and `auto`, until the
attempts of `auto` have become seldom; --sma: of two peers whose learners share one average, samples
per second of both together. Every run is a line of results.jsonl; what is there is not run again.
Standard library only.
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
import figure  # noqa: E402
import runs  # noqa: E402

BATCH = 8
TOGETHER = 4
TARGETS = (0.98, 0.985, 0.99)
EPOCHS = 2.0
SPEED_EPOCHS, SPEED_RATE = {"speed": 1.0, "long": 6.0, "sma": 6.0}, 0.005
TWO_PEERS = ["exchange.mode=sma", "peers=[{name: a, address: '127.0.0.1:7701'}, "
             "{name: b, address: '127.0.0.1:7702'}]"]

ONE, AVERAGED, LARGE = "one learner", "four learners", "one learner, batch 32"
CARRIED = "four learners, momentum 0.8"  # with which their average moves as far as one in an epoch
CONDITIONS = {ONE: [], AVERAGED: [f"training.learners={TOGETHER}"],
              CARRIED: [f"training.learners={TOGETHER}", "training.averaging_momentum=0.8"],
              LARGE: [f"training.batch={TOGETHER * BATCH}"]}
THREADS = "one learner, two threads"


def make(ako, made, kind, condition, rate, seed, settings):
    """Adds this run to those that have been made, if it is not there."""
    key = {"kind": kind, "condition": condition, "rate": rate, "seed": seed}
    if made.find(**key):
        return
    line = {**key, **train(ako, [*settings, f"training.learning_rate={rate}", f"seed={seed}"])}
    made.add(line)
    print(f"{kind} {condition}, rate {rate:g}, seed {seed}: {describe(line)}", flush=True)


def train(ako, settings):
    """One run. Without points where a loss was not finite."""
    with tempfile.TemporaryDirectory() as folder:
        done = runs.launch(ako, HERE / "cluster.yaml", settings, "--free-ports", "--output-dir",
                           folder)
        if done.returncode == 3:
            return {"points": [], "samples_per_s": None, "learners": []}
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(done.args)}: exit {done.returncode}\n{done.stdout}")
        latest = pathlib.Path(folder)
        curve = json.loads((latest / "curve.json").read_text())
        summary = json.loads((latest / "summary.json").read_text(),
                             object_hook=runs.renamed)
        lines = [json.loads(line) for line in (latest / "metrics-a.jsonl").open()]
    return {"points": [[round(point["samples"] / 60_000, 3), round(point["seconds"], 2),
                        point["accuracy"]] for point in curve["points"]],
            "samples_per_s": round(sum(peer["samples_per_s"] for peer in summary["peers"])),
            "learners": [line["learners"] for line in lines if line["phase"] == "training"]}


def reached(line, target, column):
    """Epochs (column 0) or seconds (1) at the first point with that accuracy; None: never."""
    return next((round(point[column], 2) for point in line["points"] if point[2] >= target), None)


def describe(line):
    if not line["points"]:
        return "a loss was not finite"
    first = ", ".join(f"{100 * target:g} % after {reached(line, target, 0)} epochs"
                      for target in TARGETS)
    last = 100 * line["points"][-1][2]
    return f"{line['samples_per_s']} samples/s, {first}, {last:.2f} % at the end"


def median_text(values):
    """Of several seeds; one that never came to it counts as the worst."""
    median = statistics.median(float("inf") if value is None else value for value in values)
    each = ", ".join("never" if value is None else f"{value:g}" for value in values)
    return f"{'never' if median == float('inf') else f'{median:g}'} ({each})"


def rates_of(made):
    return sorted({line["rate"] for line in made.of(kind="epochs")})


def epochs_table(made):
    print("| rate | what trains | " + " | ".join(
        f"epochs to {100 * target:g} %" for target in TARGETS) + " | last accuracy, % |")
    print("|---" * (len(TARGETS) + 3) + "|")
    for rate in rates_of(made):
        for condition in CONDITIONS:
            lines = made.of(kind="epochs", condition=condition, rate=rate)
            if not lines:
                continue
            cells = [median_text([reached(line, target, 0) for line in lines])
                     for target in TARGETS]
            last = median_text([round(100 * line["points"][-1][2], 2) if line["points"] else None
                                for line in lines])
            print(f"| {rate:g} | {condition} | {' | '.join(cells)} | {last} |")


def speed_table(made, kind):
    print(f"\n| what trains, {SPEED_EPOCHS[kind]:g} epochs | samples per second | of it `auto`: "
          "learners most of the time |\n|---|---|---|")
    for condition in dict.fromkeys(line["condition"] for line in made.lines
                                   if line["kind"] == kind):
        lines = made.of(kind=kind, condition=condition)
        counts = [statistics.mode(line["learners"]) for line in lines if line["learners"]]
        shown = ", ".join(map(str, counts)) if condition == "auto" else ""
        rates = median_text([line["samples_per_s"] for line in lines])
        print(f"| {condition} | {rates} | {shown} |")


def measure_speed(made, arguments):
    kind = "long" if arguments.long else "sma" if arguments.sma else "speed"
    wanted = {"2 learners": ["training.learners=2"], "auto": ["training.learners=auto"]}
    if arguments.sma:
        wanted = {"1 learners": ["training.learners=1"], **wanted}
        wanted = {condition: [*settings, *TWO_PEERS] for condition, settings in wanted.items()}
    elif not arguments.long:
        wanted = {THREADS: ["training.threads=2"],
                  **{f"{count} learners": [f"training.learners={count}"]
                     for count in arguments.learners},
                  "auto": ["training.learners=auto"]}
    for seed in arguments.seeds:
        for condition, settings in wanted.items():
            make(arguments.ako, made, kind, condition, SPEED_RATE, seed,
                 [*settings, f"training.epochs={SPEED_EPOCHS[kind]}",
                  "training.evaluate_every=0"])


def plot(made):
    """epochs.svg, beside this program: of each rate the epochs to an accuracy; never: on top."""
    target = 0.985
    rates = rates_of(made)
    lines = {}
    for condition in CONDITIONS:
        points = []
        for place, rate in enumerate(rates):
            epochs = [reached(line, target, 0) or 1.1 * EPOCHS
                      for line in made.of(kind="epochs", condition=condition,
                                           rate=rate)]
            if epochs:
                points.append(figure.spread(place, epochs))
        lines[condition] = points
    figure.draw(HERE / "epochs.svg", lines, "learning rate",
                f"epochs to {100 * target:g} % (on top: not in {EPOCHS:g})",
                x_names=[f"{rate:g}" for rate in rates], key="below",
                more=[f"set yrange [0:{1.15 * EPOCHS}]"])


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["epochs", "speed", "table"])
    parser.add_argument("--ako", default=str(REPOSITORY / "build/release/ako"))
    parser.add_argument("--rates", type=float, nargs="+", default=[0.001, 0.005, 0.01])
    parser.add_argument("--learners", type=int, nargs="+", default=[1, 2, 3, 4])
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--long", action="store_true", help="with speed")
    parser.add_argument("--sma", action="store_true", help="with speed")
    parser.add_argument("--plot", action="store_true", help="writes epochs.svg; needs gnuplot")
    parser.add_argument("--results", type=pathlib.Path, default=HERE / "results.jsonl")
    arguments = parser.parse_args()
    made = runs.Runs(arguments.results)
    for seed in arguments.seeds if arguments.what == "epochs" else []:
        for rate in arguments.rates:
            for condition, settings in CONDITIONS.items():
                make(arguments.ako, made, "epochs", condition, rate, seed,
                     [*settings, f"training.epochs={EPOCHS}"])
    if arguments.what == "speed":
        measure_speed(made, arguments)
    if made.of(kind="epochs"):
        epochs_table(made)
    for kind in SPEED_EPOCHS:
        if made.of(kind=kind):
            speed_table(made, kind)
    if arguments.plot:
        plot(made)


if __name__ == "__main__":
    main()
