#!/usr/bin/env python3
"""`ako predict` held against the runs of measure.py that it has not seen.

    experiments/oracle/judge.py            # the table of all points, and what they come to
    experiments/oracle/judge.py --summary  # what they come to
    experiments/oracle/judge.py --seed 1   # of those by which the model was mended

For each network there is a profile (profiles/, made by `ako profile` on the same machine),
corrected by the runs of calibration/: one machine alone, and two at one rate in three modes. From
that every other point is predicted: no figure of a held-out run goes in. Accuracy is
1 - |predicted - measured| / measured. Standard library only.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent
sys.path[:0] = [str(HERE.parent), str(HERE)]
import measure  # noqa: E402
import runs  # noqa: E402

NAMES = {"ako": "ako", "ring": "ring", "butterfly": "ring, butterfly", "server": "parameter-server",
         "local-sgd": f"local-sgd, {measure.LOCAL_ROUNDS} rounds", "sma": "sma", "local": "alone"}


def name_of(point):
    if point["mode"] == "servers":
        return f"parameter-server, {point['machines']} servers"
    return NAMES[point["mode"]]


def cells_of(ako, data, network, series, words):
    """The cells of `ako predict` for a network of the series, by its profile and calibration."""
    command = [ako, "predict", HERE / "cluster.yaml", "--json", "--profile",
               series / "profiles" / network, "--period", measure.PERIOD_MS, *words]
    for setting in (f"model={network}", f"data.path={data[network]}",
                    f"exchange.local_rounds={measure.LOCAL_ROUNDS}"):
        command += ["--set", setting]
    for run in sorted((series / "calibration").glob(f"{network}-*")):
        command += ["--run", run]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        raise SystemExit(f"{network} {words}: {done.stdout}{done.stderr}")
    return json.loads(done.stdout)["cells"]


def predicted(ako, data, point, series):
    cell = tuple(point[key] for key in ("kind", "network", "machines", "rate", "mode", "shares"))
    words = ["--machines", point["machines"], "--rates", point["rate"], "--cores",
             ",".join(map(str, measure.shares(cell))), "--set", f"training.batch={point['batch']}"]
    cells = cells_of(ako, data, point["network"], series, words)
    return next(one for one in cells if one["mode"] == name_of(point))


def accuracy(predicted, measured):
    return 1 - abs(predicted - measured) / measured


def judged(ako, data, point, series):
    cell = predicted(ako, data, point, series)
    sent = max(peer["egress_bytes"] for peer in point["peers"])
    memory = max(peer["memory_bytes"] for peer in point["peers"])
    return {**{key: point[key] for key in ("network", "machines", "rate", "mode", "shares")},
            "measured_s": point["step_s"], "predicted_s": cell["round_s"],
            "low_s": cell["round_low_s"], "high_s": cell["round_high_s"],
            "naive_s": cell["naive_round_s"],
            "bytes": cell["bytes"] / sent if sent else 1, "memory": cell["memory_bytes"] / memory,
            "accuracy": accuracy(cell["round_s"], point["step_s"]),
            "naive": accuracy(cell["naive_round_s"], point["step_s"])}


def row(line):
    ms = {key: f"{1000 * line[f'{key}_s']:.1f}"
          for key in ("measured", "predicted", "low", "high")}
    return (f"| {line['network']} | {line['machines']} | {line['rate']} | {line['mode']} | "
            f"{line['shares']} | {ms['measured']} | {ms['predicted']} | "
            f"{ms['low']} .. {ms['high']} | {100 * line['accuracy']:.1f} | "
            f"{100 * line['naive']:.1f} |")


HEAD = ("network", "machines", "Mbit/s", "mode", "shares", "measured, ms", "predicted",
        "4 of 5 times", "accuracy, %", "compute + bytes / rate, %")


def summary(lines):
    def percent(values):
        return f"{100 * statistics.mean(values):.1f} %"
    print(f"\n{len(lines)} points: accuracy {percent(line['accuracy'] for line in lines)} in the "
          f"mean, {100 * min(line['accuracy'] for line in lines):.1f} % at least; in the interval: "
          f"{percent(line['low_s'] <= line['measured_s'] <= line['high_s'] for line in lines)}; "
          f"compute + bytes / rate: {percent(line['naive'] for line in lines)}")
    for key in ("mode", "network", "rate", "machines", "shares"):
        parts = []
        for value in sorted({line[key] for line in lines}):
            of = [line for line in lines if line[key] == value]
            bias = statistics.mean(line["predicted_s"] / line["measured_s"] - 1 for line in of)
            parts.append(f"{value} {percent(line['accuracy'] for line in of)} ({100 * bias:+.1f})")
        print(f"  by {key}: " + ", ".join(parts))
    told = [line for line in lines if line["mode"] != "ako"]
    print(f"  bytes, predicted / measured: {statistics.mean(line['bytes'] for line in told):.3f}, "
          f"ako {statistics.mean([line['bytes'] for line in lines if line['mode'] == 'ako']):.3f}; "
          f"memory {statistics.mean(line['memory'] for line in lines):.3f}, within 10 % in "
          f"{sum(abs(line['memory'] - 1) <= 0.1 for line in lines)}")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ako", default=str(REPOSITORY / "build/release/ako"))
    parser.add_argument("--summary", action="store_true")
    parser.add_argument("--seed", type=int, default=2, choices=measure.HELD_OUT)
    parser.add_argument("--kind", help="of the points, such as choice, instead of those of a seed")
    parser.add_argument("--series", type=pathlib.Path, default=HERE, help="see measure.py")
    arguments = parser.parse_args()
    points = runs.Runs(arguments.series / "steps.jsonl").lines
    with tempfile.TemporaryDirectory() as folder:
        data = measure.make_all_data(pathlib.Path(folder))
        lines = [judged(arguments.ako, data, point, arguments.series) for point in points
                 if point["kind"] == (arguments.kind or measure.HELD_OUT[arguments.seed])]
    if not arguments.summary:
        print(f"| {' | '.join(HEAD)} |\n{'|---' * len(HEAD)}|")
        for line in sorted(lines, key=lambda line: line["accuracy"]):
            print(row(line))
    summary(lines)


if __name__ == "__main__":
    main()
