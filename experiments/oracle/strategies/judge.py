#!/usr/bin/env python3
"""What src/predict/strategies.h predicts, held against the steps that measure.py found.

    judge.py            # all points, and what they come to
    judge.py --summary

Nothing of results.jsonl goes into a prediction but how fast the machine was at that moment: the
processor time of a gradient of one process, made by all machines before and after each measurement.
Accuracy is 1 - |predicted - measured| / measured. A ranking is right if no two strategies whose
steps differ by more than a tenth stand in the wrong order. Standard library, g++ and nlohmann-json.
"""

import argparse
import itertools
import json
import pathlib
import statistics
import sys
import tempfile

from predicted import HERE, Predictor

sys.path.insert(0, str(HERE.parents[1]))
import runs  # noqa: E402

SETTING = ("network", "machines", "rate", "cpus", "batch", "segments", "group")
APART = 0.1


def judged(predictor, calibration, line):
    speed = line["probe_s"] / calibration["profiles"][line["network"]]["probe_s"]
    group = line["group"] if line["machines"] % line["group"] == 0 else 0
    answer = predictor.answers(calibration, {**line, "group": group}, speed)[line["strategy"]]
    predicted, measured = answer["step_s"], line["step_s"]
    return {**line, "answer": answer, "predicted_s": predicted, "speed": speed,
            "accuracy": 1 - abs(predicted - measured) / measured}


def settings_of(points):
    found = {}
    for point in points:
        found.setdefault(tuple(point[key] for key in SETTING), []).append(point)
    return list(found.values())


def in_order(points):
    """Pairs that are apart, and whether each is in the right order."""
    return [(one["predicted_s"] < other["predicted_s"]) == (one["step_s"] < other["step_s"])
            for one, other in itertools.combinations(points, 2)
            if abs(one["step_s"] - other["step_s"]) > APART * min(one["step_s"], other["step_s"])]


def first_right(points):
    """The strategy that was chosen took hardly longer than the best."""
    chosen = min(points, key=lambda point: point["predicted_s"])
    return chosen["step_s"] <= (1 + APART / 2) * min(point["step_s"] for point in points)


def print_points(points):
    print("| network | machines | Mbit/s | strategy | measured, ms | predicted | compute, update | "
          "forward, backward, gradients | MB sent, predicted / measured | accuracy, % |\n"
          "|---|---|---|---|---|---|---|---|---|---|")
    for point in sorted(points, key=lambda one: [one[key] for key in SETTING] + [one["step_s"]]):
        answer = point["answer"]
        computing, exchanging = (
            ", ".join(f"{1e3 * answer[key]:.1f}" for key in keys)
            for keys in (("compute_s", "update_s"), ("forward_s", "backward_s", "gradient_s")))
        print(f"| {point['network']} | {point['machines']} | {point['rate']:g} | "
              f"{point['strategy']} | {1e3 * point['step_s']:.1f} | "
              f"{1e3 * point['predicted_s']:.1f} | {computing} | {exchanging} | "
              f"{answer['sent_bytes'] / 1e6:.3f} / {point['sent_bytes'] / 1e6:.3f} | "
              f"{100 * point['accuracy']:.1f} |")


def print_summary(points):
    def mean(some):
        return f"{100 * statistics.mean(point['accuracy'] for point in some):.1f} %"
    print(f"\n{len(points)} points: accuracy {mean(points)} in the mean, "
          f"{100 * min(point['accuracy'] for point in points):.1f} % at least")
    for key in ("strategy", "network", "machines", "rate"):
        parts = []
        for value in sorted({point[key] for point in points}):
            of = [point for point in points if point[key] == value]
            more = statistics.mean(point["predicted_s"] / point["step_s"] - 1 for point in of)
            parts.append(f"{value} {mean(of)} ({100 * more:+.1f})")
        print(f"  by {key}: " + ", ".join(parts))
    settings = settings_of(points)
    pairs = [pair for one in settings for pair in in_order(one)]
    print(f"  settings: the first right in {sum(map(first_right, settings))}, the ranking in "
          f"{sum(all(in_order(one)) for one in settings)} of {len(settings)}; "
          f"{sum(pairs)} of {len(pairs)} pairs")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--summary", action="store_true")
    parser.add_argument("--out", type=pathlib.Path, default=HERE, help="where the files are")
    arguments = parser.parse_args()
    calibration = json.loads((arguments.out / "calibration.json").read_text())
    lines = runs.Runs(arguments.out / "results.jsonl").lines
    with tempfile.TemporaryDirectory() as folder:
        predictor = Predictor(folder)
        points = [judged(predictor, calibration, line) for line in lines]
    if not points:
        sys.exit("results.jsonl has no line: measure.py first")
    if not arguments.summary:
        print_points(points)
    print_summary(points)


if __name__ == "__main__":
    main()
