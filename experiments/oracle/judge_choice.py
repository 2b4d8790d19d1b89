#!/usr/bin/env python3
"""What `exchange.mode: auto` would choose, and where more machines stop paying, held against
runs of every mode and number of machines (measure.py --only choice, --only peak).

    experiments/oracle/judge_choice.py

The price of a mode is the time of its round times the rounds that old rows cost more (1 + 0.015 P),
with what was measured, P too, or with what was predicted. A choice is judged by what the chosen
mode was measured to cost, beside the best one. Standard library only.
"""

import argparse
import pathlib
import tempfile

import judge
import measure
import runs

ROUNDS_PER_PARTITION = 0.015
NEAR = 1.05


def measured_price(point):
    partitions = max(peer["partitions"] for peer in point["peers"])
    factor = 1 + ROUNDS_PER_PARTITION * partitions if point["mode"] == "ako" else 1
    return point["step_s"] * factor


def judged_choice(ako, data, points, series):
    """The line of one setting: the mode chosen, the best, and the ratio of their prices."""
    predicted = {}
    for point in points:
        cell = judge.predicted(ako, data, point, series)
        predicted[point["mode"]] = cell["round_s"] * cell["rounds_factor"]
    measured = {point["mode"]: measured_price(point) for point in points}
    chosen = min(predicted, key=predicted.get)
    best = min(measured, key=measured.get)
    return chosen, best, measured[chosen] / measured[best]


def choices(ako, data, made, series):
    print("| network | machines | Mbit/s | shares | chosen | best | costs |\n" + "|---" * 7 + "|")
    near = total = 0
    for network, machines, rate, share in measure.choice_settings():
        points = made.of(kind=measure.CHOICE, network=network, machines=machines, rate=rate,
                         shares=share)
        if len(points) < len(measure.CHOICE_MODES):
            continue
        chosen, best, ratio = judged_choice(ako, data, points, series)
        total += 1
        near += ratio <= NEAR
        print(f"| {network} | {machines} | {rate} | {share} | {chosen} | {best} | {ratio:.3f} |")
    print(f"\n{near} of {total} within {100 * (NEAR - 1):.0f} % of the best\n")


def predicted_peak(ako, data, network, rate, mode, series):
    """{machines: samples per second} of a batch that is divided."""
    words = ["--divided", "--machines", ",".join(map(str, measure.MACHINES)), "--rates", rate,
             "--batch", measure.PEAK_BATCHES[network], "--cores", measure.SHARE, "--set",
             f"training.batch={measure.NETWORKS[network]}"]
    return {cell["machines"]: cell["samples_per_s"]
            for cell in judge.cells_of(ako, data, network, series, words)
            if cell["mode"] in (judge.NAMES[mode], "alone")}


def peaks(ako, data, made, series):
    print("| network | Mbit/s | mode |  | " + " | ".join(map(str, measure.MACHINES)) +
          " | fastest |\n" + "|---" * (5 + len(measure.MACHINES)) + "|")
    for network, rate, mode in measure.PEAKS:
        points = made.of(kind=measure.PEAK, network=network, rate=rate)
        measured = {point["machines"]: point["machines"] * point["batch"] / point["step_s"]
                    for point in points}
        if len(measured) < len(measure.MACHINES):
            continue
        for name, curve in (("measured", measured),
                            ("predicted", predicted_peak(ako, data, network, rate, mode, series))):
            row = " | ".join(f"{curve[machines]:.0f}" for machines in measure.MACHINES)
            print(f"| {network} | {rate} | {mode} | {name} | {row} | {max(curve, key=curve.get)} |")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ako", default=str(judge.REPOSITORY / "build/release/ako"))
    parser.add_argument("--series", type=pathlib.Path, default=judge.HERE, help="see measure.py")
    arguments = parser.parse_args()
    made = runs.Runs(arguments.series / "steps.jsonl")
    with tempfile.TemporaryDirectory() as folder:
        data = measure.make_all_data(pathlib.Path(folder))
        choices(arguments.ako, data, made, arguments.series)
        peaks(arguments.ako, data, made, arguments.series)


if __name__ == "__main__":
    main()
