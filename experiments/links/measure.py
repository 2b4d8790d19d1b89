#!/usr/bin/env python3
"""Measures what four peers make of links of a given rate: how full each link is, over the whole
training and in the fullest second, and whether the observed P is M / (B T).

    experiments/links/measure.py [--ako BUILD/ako] [--mbit 20] [--epochs 2] [--half FROM:TO]
                                 [--model synthetic]

`--half a:b` gives that one link (one direction) half the rate. Python's standard library only.
"""

import argparse
import json
import pathlib
import subprocess
import tempfile

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent.parent
MODEL_BYTES = {"lenet": 431_080 * 4, "synthetic": 400_000 * 4}


def launch(arguments, folder):
    words = [arguments.ako, "launch", str(REPOSITORY / "experiments/mnist/cluster.yaml"),
             "--free-ports", "--set", f"exchange.link_mbit={arguments.mbit}",
             "--set", f"training.epochs={arguments.epochs}", "--set", f"output={folder}",
             "--set", "training.evaluate_every=0", "--set", "exchange.precision=float32"]
    if arguments.model == "synthetic":
        # Sleeps instead of computing: a small machine then gives every peer the same steady rounds.
        words += ["--set", "model={name: synthetic, parameters: 400000, compute_ms: 100, "
                           "samples: 10000}"]
    if arguments.half:
        origin, receiver = arguments.half.split(":")
        words += ["--set", f"exchange.link_limits=[{{from: {origin}, to: {receiver}, "
                           f"mbit: {arguments.mbit / 2}}}]"]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    return folder / "latest"


def training_lines(path):
    """One line a second, without the first two (start, filling up) and the last (finish)."""
    lines = [json.loads(text) for text in path.read_text().splitlines()]
    lines = [line for line in lines if line["phase"] == "training" and line["round"] > 0]
    return lines[2:-1]


def report(results, arguments):
    print(f"{'link':8}{'Mbit/s':>9}{'of limit %':>12}{'max 1 s %':>11}"
          f"{'P':>8}{'M/(B T)':>9}{'off %':>8}")
    worst = {"low": 1e9, "high": 0.0, "off": 0.0}
    for path in sorted(results.glob("metrics-*.jsonl")):
        origin = path.stem.removeprefix("metrics-")
        lines = training_lines(path)
        first, last = lines[0], lines[-1]
        seconds = last["time"] - first["time"]
        round_seconds = seconds / (last["round"] - first["round"])
        for k, link in enumerate(first["links"]):
            name = f"{origin}->{link['peer']}"
            limit = arguments.mbit / (2 if arguments.half == f"{origin}:{link['peer']}" else 1)
            sent = last["links"][k]["egress_bytes"] - link["egress_bytes"]
            rate = sent * 8e-6 / seconds
            fullest = max(line["links"][k]["egress_mbit"] for line in lines[1:])
            observed = sum(line["links"][k]["partitions"] for line in lines[1:]) / (len(lines) - 1)
            expected = MODEL_BYTES[arguments.model] * 8e-6 / (rate * round_seconds)
            off = 100 * (observed / expected - 1)
            worst["low"] = min(worst["low"], rate / limit)
            worst["high"] = max(worst["high"], fullest / limit)
            worst["off"] = max(worst["off"], abs(off))
            print(f"{name:8}{rate:9.2f}{100 * rate / limit:12.1f}{100 * fullest / limit:11.1f}"
                  f"{observed:8.2f}{expected:9.2f}{off:8.1f}")
    print(f"lowest {100 * worst['low']:.1f} % of the limit, "
          f"fullest second {100 * worst['high']:.1f} %, P off by at most {worst['off']:.1f} %")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ako", default=str(REPOSITORY / "build/release/ako"))
    parser.add_argument("--mbit", type=float, default=20)
    parser.add_argument("--epochs", type=float, default=2)
    parser.add_argument("--half", help="FROM:TO, the link that gets half the rate")
    parser.add_argument("--model", choices=sorted(MODEL_BYTES), default="lenet")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        report(launch(arguments, pathlib.Path(folder)), arguments)


if __name__ == "__main__":
    main()
