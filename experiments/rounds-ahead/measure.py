#!/usr/bin/env python3
"""What does a ring gain whose newest step travels while the next round computes?

    experiments/rounds-ahead/measure.py speed [--times 3]     # about 12 minutes; needs root
    experiments/rounds-ahead/measure.py accuracy [--seeds 1 2 3]
    experiments/rounds-ahead/measure.py table                 # of what has been run

speed: four peers in the testbed, one link each. A network that only sleeps takes 100 ms for a
gradient, a third of it forward, so that the processors of this machine limit nothing; the rate of
the links is such that an all-reduce takes so many times as long. accuracy: LeNet on MNIST, four
peers in a ring, with the step of the round before and without. Every run is a line of
results.jsonl; what is there is not run again. Standard library only.
"""

import argparse
import csv
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent
sys.path.insert(0, str(HERE.parent))
import figure  # noqa: E402
import runs  # noqa: E402

TESTBED = REPOSITORY / "deploy/testbed"
NAME = "ahead"
PEERS = 4
COMPUTE_MS = 100
PARAMETERS = 250_000
ROUNDS = 100
WARM_ROUNDS = 10  # that are not counted
COMM = (0.25, 0.5, 0.75, 1, 1.5)  # of an all-reduce, in gradients
MODES = {"ring": ("exchange.mode=ring",),
         "ring, 1 ahead": ("exchange.mode=ring", "exchange.rounds_ahead=1"),
         "ako": ("exchange.mode=ako",)}
ACCURACY = {"ring": (), "ring, 1 ahead": ("exchange.rounds_ahead=1",)}
RATES = (0.01, 0.02, 0.05)
EPOCHS = 3


def comm_s(rate_mbit):
    """What 2 (n - 1) / n of the vector takes on a link, without headers."""
    return 2 * (PEERS - 1) / PEERS * PARAMETERS * 32 / (rate_mbit * 1e6)


def rate_for(share):
    return comm_s(1) / (share * COMPUTE_MS / 1000)


def launch(arguments, folder, settings, *words):
    done = runs.launch(arguments.ako, REPOSITORY / "experiments/mnist/cluster.yaml", settings,
                       "--output-dir", folder, *words)
    if done.returncode != 0:
        raise SystemExit(done.stdout[-2000:])


def pace_of(path):
    """Seconds of a round, over all but the first."""
    with open(path, encoding="utf-8") as metrics:
        rows = [(float(row["time"]), int(row["round"])) for row in csv.DictReader(metrics)
                if int(row["round"]) >= WARM_ROUNDS]
    rows = [row for k, row in enumerate(rows) if k == 0 or row[1] > rows[k - 1][1]]
    return (rows[-1][0] - rows[0][0]) / (rows[-1][1] - rows[0][1])


def speed(arguments, made):
    peers = ", ".join(f"{{name: {name}, address: '10.99.0.{k + 1}:7701'}}"
                      for k, name in enumerate("abcd"))
    for time in range(1, arguments.times + 1):
        for share in COMM:
            todo = [mode for mode in MODES
                    if not made.find(part="speed", label=mode, share=share, time=time)]
            if not todo:
                continue
            subprocess.run([TESTBED, "--name", NAME, "up", "--peers", str(PEERS), "--rate",
                            f"{rate_for(share):.1f}mbit"], check=True, stdout=subprocess.DEVNULL)
            try:
                for mode in todo:
                    with tempfile.TemporaryDirectory() as temporary:
                        folder = pathlib.Path(temporary) / "run"
                        launch(arguments, folder, (
                            *MODES[mode], f"peers=[{peers}]", "model.name=synthetic",
                            f"model.parameters={PARAMETERS}", f"model.compute_ms={COMPUTE_MS}",
                            f"model.samples={ROUNDS * PEERS}", "training.batch=1",
                            "training.learning_rate=0.001", "training.epochs=1",
                            "training.evaluate_every=0"),
                            "--in", f"{TESTBED} --name {NAME} exec {{number}} --")
                        keep(made, {"part": "speed", "label": mode, "share": share, "time": time,
                                    "round_s": statistics.mean(
                                        pace_of(path) for path in folder.glob("metrics-*.csv"))})
            finally:
                subprocess.run([TESTBED, "--name", NAME, "down"], check=True,
                               stdout=subprocess.DEVNULL)


def accuracy(arguments, made):
    for seed in arguments.seeds:
        for rate in RATES:
            for mode, settings in ACCURACY.items():
                key = {"part": "accuracy", "label": mode, "rate": rate, "seed": seed}
                if made.find(**key):
                    continue
                with tempfile.TemporaryDirectory() as temporary:
                    folder = pathlib.Path(temporary) / "run"
                    launch(arguments, folder, (
                        "exchange.mode=ring", *settings, f"training.learning_rate={rate}",
                        f"training.epochs={EPOCHS}", f"seed={seed}"), "--free-ports")
                    points = json.loads((folder / "curve.json").read_text())["points"]
                    keep(made, {**key, "accuracy": points[-1]["accuracy"]})


def keep(made, result):
    made.add(result)
    print(json.dumps(result), flush=True)


def spread(values, form):
    values = sorted(values)
    return f"{statistics.median(values):{form}} ({values[0]:{form}} to {values[-1]:{form}})"


def table(made):
    print("| all-reduce, in gradients | of | compute share, % | round, in max(T_comp, T_comm) |")
    print("|---|---|---|---|")
    for share in COMM:
        for mode in MODES:
            rounds = [r["round_s"] for r in made.of(part="speed", label=mode, share=share)]
            if rounds:
                least = COMPUTE_MS / 1000 * max(1, share)
                print(f"| {share} | {mode} | "
                      f"{spread([COMPUTE_MS / 10 / r for r in rounds], '.0f')} | "
                      f"{spread([r / least for r in rounds], '.2f')} |")
    print(f"\n| rate | after {EPOCHS} epochs, % | seeds |")
    print("|---|---|---|")
    for rate in RATES:
        for mode in ACCURACY:
            found = [100 * r["accuracy"] for r in made.of(part="accuracy", label=mode, rate=rate)]
            if found:
                print(f"| {rate} | {mode}: {spread(found, '.2f')} | {len(found)} |")


def plot(made):
    """compute-share.svg, beside this program."""
    lines = {}
    for mode in MODES:
        points = []
        for share in COMM:
            shares = [COMPUTE_MS / 10 / r["round_s"]
                      for r in made.of(part="speed", label=mode, share=share)]
            points.append(figure.spread(share, shares))
        lines[mode] = points
    lines["the longer of both, if nothing else took time"] = [
        (share, 100 / max(1, share)) for share in COMM]
    figure.draw(HERE / "compute-share.svg", lines, "an all-reduce, in gradients",
                "of its time a peer computes, %", key="left bottom", more=["set yrange [0:105]"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("part", choices=["speed", "accuracy", "table"])
    parser.add_argument("--ako", type=pathlib.Path, default=REPOSITORY / "build/release/ako")
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--seeds", nargs="*", type=int, default=[1, 2, 3])
    parser.add_argument("--plot", action="store_true", help="with table; needs gnuplot")
    arguments = parser.parse_args()
    made = runs.Runs(HERE / "results.jsonl")
    if arguments.part == "speed":
        speed(arguments, made)
    elif arguments.part == "accuracy":
        accuracy(arguments, made)
    table(made)
    if arguments.plot:
        plot(made)


if __name__ == "__main__":
    main()
