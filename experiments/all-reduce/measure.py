#!/usr/bin/env python3
"""Ring beside butterfly: how long one all-reduce takes, by peers, bytes and delay of the links.

    experiments/all-reduce/measure.py [--peers 2 3 4 5 8] [--kib 16 256 4096] [--delays 0 10]
                                      [--runs 3]
    experiments/all-reduce/measure.py --table     # of the runs made so far; measures nothing

Peers are processes in network namespaces (tests/chaos/network.py: deploy/testbed, with packets that
are delayed on the way), whose links have --rate. They train `model: synthetic`, which computes next
to nothing, so that a round is an all-reduce and one step of the optimizer. What that step takes,
as many peers at once in the mode local show. Every cell is measured --runs times, all cells once
before any a second time; the tables give medians. Every run is a line of results.jsonl; what is
there is not run again.

Needs root, iptables, and an idle machine: of 2 cores 8 peers have a quarter each, whatever the
network does. Standard library only.
"""

import argparse
import itertools
import json
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent
sys.path[:0] = [str(REPOSITORY / "tests/chaos"), str(HERE.parent)]
import figure  # noqa: E402
import runs  # noqa: E402
from network import AS_ALL, Network, Skip  # noqa: E402

NAME = "allreduce"
FLOAT_BYTES = 4
SKIPPED = 77
ALONE, RING, BUTTERFLY = "alone", "ring", "butterfly"
CONDITIONS = {ALONE: ["exchange.mode=local"], RING: ["exchange.all_reduce=ring"],
              BUTTERFLY: ["exchange.all_reduce=butterfly"]}
ENDING_S = 60


def launched(ako, network, settings, seconds, folder):
    """The metrics lines of the first peer of a run that is asked to stop after so many seconds."""
    words = [*AS_ALL, ako, "launch", HERE / "cluster.yaml", "--plain", "--output-dir", folder,
             "--in", " ".join(network.inside("{number}"))]
    for setting in settings:
        words += ["--set", setting]
    launch = subprocess.Popen([str(word) for word in words], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        launch.wait(seconds)
    except subprocess.TimeoutExpired:
        launch.send_signal(signal.SIGINT)
    try:
        said = launch.communicate(timeout=ENDING_S)[0]
    except subprocess.TimeoutExpired:
        launch.kill()
        raise SystemExit(f"no end with {settings}")
    metrics = folder / "metrics-p1.jsonl"
    if not metrics.exists():
        raise SystemExit(f"no metrics with {settings}\n{said}")
    return [json.loads(line) for line in metrics.open()]


def round_ms(lines):
    """The mean from the first line with a round to the last, which are a second apart."""
    lines = [line for line in lines if line["phase"] == "training" and line["round"] > 0]
    rounds = lines[-1]["round"] - lines[0]["round"] if lines else 0
    if rounds == 0:
        raise SystemExit("no two rounds a second apart: give it more --seconds")
    return 1e3 * (lines[-1]["time"] - lines[0]["time"]) / rounds


def keys(arguments, run, peers, delay_ms):
    """Of the cells that one network is for. Who sends nothing does not mind a delay."""
    for kib, condition in itertools.product(arguments.kib, CONDITIONS):
        if condition != ALONE or delay_ms == arguments.delays[0]:
            yield {"run": run, "peers": peers, "kib": kib, "condition": condition,
                   "rate": arguments.rate, "delay_ms": delay_ms}


def measure(arguments, made):
    of_all = itertools.product(range(1, arguments.runs + 1), arguments.peers, arguments.delays)
    for run, peers, delay_ms in of_all:
        missing = [key for key in keys(arguments, run, peers, delay_ms) if not made.find(**key)]
        if not missing:
            continue
        with Network(str(REPOSITORY), NAME, peers, arguments.rate, delay_ms=delay_ms, jitter_ms=0,
                     loss=0) as network:
            listed = ", ".join(f'{{name: p{k}, address: "{network.address(k)}:7701"}}'
                               for k in range(1, peers + 1))
            for key in missing:
                settings = [f"peers=[{listed}]", *CONDITIONS[key["condition"]],
                            f"model.parameters={key['kib'] * 1024 // FLOAT_BYTES}"]
                with tempfile.TemporaryDirectory() as folder:
                    lines = launched(arguments.ako, network, settings, arguments.seconds,
                                     pathlib.Path(folder) / "run")
                made.add({**key, "round_ms": round(round_ms(lines), 3)})
                print(f"run {run}, {peers} peers, {key['kib']} KiB, {delay_ms:g} ms, "
                      f"{key['condition']}: "
                      f"{made.lines[-1]['round_ms']:.3g} ms per round", flush=True)


def times(arguments, made, peers, kib, delay_ms):
    """(alone, ring, butterfly) of each run that has all three: milliseconds of a round."""
    found = []
    for run in range(1, arguments.runs + 1):
        of = {"run": run, "peers": peers, "kib": kib, "rate": arguments.rate}
        lines = [made.find(**of, condition=ALONE)] + [
            made.find(**of, delay_ms=delay_ms, condition=condition)
            for condition in (RING, BUTTERFLY)]
        if None not in lines:
            found.append([line["round_ms"] for line in lines])
    return found


def ratios(found):
    """The butterfly's time over the ring's in each run."""
    return [butterfly / ring for _, ring, butterfly in found]


def table(arguments, made):
    print("\n| delay, ms | KiB | peers | runs | alone, ms | ring, ms | butterfly, ms "
          "| butterfly / ring | of each run |\n" + "|---" * 9 + "|")
    for delay_ms, kib, peers in itertools.product(arguments.delays, arguments.kib,
                                                  arguments.peers):
        found = times(arguments, made, peers, kib, delay_ms)
        if not found:
            continue
        alone, ring, butterfly = (statistics.median(each) for each in zip(*found))
        each = ", ".join(f"{ratio:.2f}" for ratio in ratios(found))
        print(f"| {delay_ms:g} | {kib} | {peers} | {len(found)} | {alone:.3g} | {ring:.3g} "
              f"| {butterfly:.3g} | {statistics.median(ratios(found)):.2f} | {each} |")


def plot(arguments, made):
    """ratio.svg, beside this program: times of the butterfly over those of the ring, medians."""
    lines = {}
    for delay_ms, kib in itertools.product(arguments.delays, arguments.kib):
        points = []
        for place, peers in enumerate(arguments.peers):
            found = times(arguments, made, peers, kib, delay_ms)
            if found:
                points.append((place, statistics.median(ratios(found))))
        lines[f"{kib} KiB, {delay_ms:g} ms"] = points
    figure.draw(HERE / "ratio.svg", lines, "peers", "butterfly / ring", x_names=arguments.peers,
                joined=False, key="below", more=["set yrange [0:]"])


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ako", default=str(REPOSITORY / "build/release/ako"))
    parser.add_argument("--peers", type=int, nargs="+", default=[2, 3, 4, 5, 8])
    parser.add_argument("--kib", type=int, nargs="+", default=[16, 256, 4096],
                        help="of the vector; up to 1024 a ring sends all straight")
    parser.add_argument("--delays", type=float, nargs="+", default=[0, 10],
                        help="ms from one peer to another")
    parser.add_argument("--rate", default="200mbit", help="of each peer, both ways, as tc takes it")
    parser.add_argument("--seconds", type=float, default=5, help="of one run, with its start")
    parser.add_argument("--runs", type=int, default=3, help="of each cell")
    parser.add_argument("--results", type=pathlib.Path, default=HERE / "results.jsonl")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--plot", action="store_true", help="writes ratio.svg; needs gnuplot")
    arguments = parser.parse_args()
    made = runs.Runs(arguments.results)
    if not arguments.table:
        try:
            measure(arguments, made)
        except Skip as why:
            print(f"skipped: {why}", file=sys.stderr)
            return SKIPPED
    table(arguments, made)
    if arguments.plot:
        plot(arguments, made)
    return 0


if __name__ == "__main__":
    sys.exit(main())
