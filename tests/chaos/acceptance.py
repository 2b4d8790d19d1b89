#!/usr/bin/env python3
"""The acceptance measurements of peers that come, go, stop and return, as markdown tables.

    tests/chaos/acceptance.py table [--times 10] [--parallel 1] [--only killed late]
    tests/chaos/acceptance.py goodput [--minutes 5]
    tests/chaos/acceptance.py accuracy [--times 3]
    tests/chaos/acceptance.py containers [--times 3]

table: each scenario so often at random moments, four peers with a share of a processor each, in
namespaces with links of `--rate`, delay and loss. goodput: as torchft measures it: one of four is
killed and started again at once every 60 s, or every 15 s; the steps of all that count in the end,
over those that a run without faults makes in the same time. accuracy: the same budget of samples in
a chaos run of six peers and in a quiet one. containers: kill, pause and disconnect on the Docker
engine.

All figures go to FOLDER/*.jsonl as well, one line per trial; what lies there is not measured again,
so that a call that was ended goes on where it was. What each measured value is: measures.py. Exit
status: 0, 1 if a trial was judged not well, 77 if this cannot run here.
"""

import argparse
import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import time

import accuracy
import containers
import goodput
from cluster_file import ClusterFile, Refused
from lives import Cluster
from network import SKIPPED, Network, Skip
from scenarios import chosen
from trial import IMAGES, Bench, Trial

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parents[1]
TRIES = 4         # where the end came before the event
QUIET_S = 15      # for the pace without faults
TRIAL_PATIENCE_S = 3600


def earlier(path):
    """The measurements that lie there."""
    if not os.path.exists(path):
        return []
    with open(path) as file:
        return [json.loads(line) for line in file if line.endswith("\n")]


def add(path, measured):
    with open(path, "a") as file:
        file.write(json.dumps(measured) + "\n")


def network_for(arguments, file, name, places=None):
    return Network(str(SOURCE), f"{name}{os.getpid()}", places or len(file.names), arguments.rate,
                   arguments.cpus, arguments.delay_ms, arguments.jitter_ms, arguments.loss,
                   arguments.seed)


def quiet_pace(arguments, file, network, folder):
    """Epochs per second of all peers together, when nothing happens."""
    cluster = Cluster(arguments.ako, file.path, file.names, network, os.path.join(folder, "quiet"),
                      ["--set", "training.epochs=1000"])
    try:
        return goodput.images_per_s(cluster, QUIET_S) / IMAGES
    finally:
        cluster.end_all()


# ---- the table of scenarios


def share(arguments):
    """The trials of one process of several."""
    file = ClusterFile(arguments.ako, str(HERE / "acceptance.yaml"))
    path = os.path.join(arguments.output, f"trials-{arguments.share}.jsonl")
    wanted = [(scenario, number) for number in range(1, arguments.times + 1)
              for scenario in chosen(arguments.only)]
    done = {(it["scenario"], int(it["number"])) for it in all_trials(arguments)}
    with network_for(arguments, file, "accept") as network:
        folder = os.path.join(arguments.output, f"runs-{arguments.share}-{os.getpid()}")
        pace = quiet_pace(arguments, file, network, folder)
        print(f"quiet: {pace * IMAGES:.0f} images/s of all", flush=True)
        bench = Bench(arguments.ako, file, network, folder, arguments.seed, pace)
        for place, (scenario, number) in enumerate(wanted):
            if place % arguments.parallel != arguments.share or (scenario.name, number) in done:
                continue
            for again in range(TRIES):
                measured = Trial(bench, scenario, number + again / 10).run()
                if measured is not None:
                    measured["number"] = number
                    add(path, measured)
                    print(json.dumps(measured), flush=True)
                    break
    return 0


def all_trials(arguments):
    return [it for number in range(64)
            for it in earlier(os.path.join(arguments.output, f"trials-{number}.jsonl"))]


def table(arguments):
    words = [sys.executable, __file__, *sys.argv[1:]]
    shares = [subprocess.Popen([*words, "--share", str(number)])
              for number in range(arguments.parallel)]
    try:
        statuses = [process.wait() for process in shares]
    finally:
        for process in shares:
            if process.poll() is None:
                process.terminate()
                process.wait()
    trials = all_trials(arguments)
    print_table(chosen(arguments.only), trials, arguments.rate)
    return max([*statuses, 1 if any(it["findings"] for it in trials) else 0])


def spread(values, form="{:.1f}"):
    """The median and the worst."""
    values = [value for value in values if value is not None]
    if not values:
        return "-"
    return f"{form} / {form}".format(statistics.median(values), max(values))


def times_of_bytes(trials, rate):
    """How long peers took to join, over what one link of that rate needs for the bytes: what comes
    to a peer comes over its own link, from all others together."""
    mbit = float(rate.split(",")[0].removesuffix("mbit"))
    return [seconds / (megabytes * 8 / mbit) for it in trials if it.get("joined")
            for seconds, megabytes in [it["joined"]] if megabytes > 0]


def row(scenario, trials, rate):
    named = [seconds for it in trials for seconds in it["named"]]
    unnamed = sum(1 for seconds in named if seconds is None)
    paces = [it["pace"] for it in trials if it["pace"] is not None]
    exits = {}
    for it in trials:
        ended = it["exits"].get(it["victim"])
        exits[ended] = exits.get(ended, 0) + 1
    identical = sum(1 for it in trials if len(it["claims"]) == 1)
    together = sorted({len(it["agreed"]) for it in trials})
    return [
        scenario.name, len(trials), spread(named) + (f", {unnamed} not" if unnamed else ""),
        spread([it["pause"] for it in trials]),
        f"{statistics.median(paces):.2f}" if paces else "-",
        spread([it["connected"] for it in trials]),
        spread([it.get("first_round") for it in trials]),
        spread([it["joined"][0] for it in trials if it.get("joined")]) + ", x " +
        spread(times_of_bytes(trials, rate), "{:.2f}"),
        spread([it.get("catch_up") for it in trials]),
        f"{identical} of {len(trials)}, on " + " or ".join(map(str, together)),
        ", ".join(f"{count} x {ended}" for ended, count in sorted(exits.items(), key=str)),
        spread([it["loss_rise"] for it in trials], "{:.3f}"),
        sum(1 for it in trials if it["findings"]),
    ]


HEADINGS = ["scenario", "trials", "named after, s", "pause of the others, s", "their pace",
            "connected, s", "first round, s", "joined, s, x its bytes' time", "caught up, s",
            "identical", "its status", "rise of the loss", "not well"]


def print_table(scenarios, trials, rate):
    print("Two figures: the median and the worst.\n")
    print("| " + " | ".join(HEADINGS) + " |")
    print("|" + " --- |" * len(HEADINGS))
    for scenario in scenarios:
        own = [it for it in trials if it["scenario"] == scenario.name]
        if own:
            print("| " + " | ".join(str(cell) for cell in row(scenario, own, rate)) + " |")
    for it in trials:
        for finding in it["findings"]:
            print(f"- {it['scenario']}, trial {it['number']}: {finding}")
    sys.stdout.flush()


# ---- the others


def measure_goodput(arguments):
    file = ClusterFile(arguments.ako, str(HERE / "acceptance.yaml"))
    found = []
    with network_for(arguments, file, "goodput") as network:
        folder = os.path.join(arguments.output, f"goodput-{time.strftime('%H%M%S')}")
        for every in (None, 60, 15):
            measured = goodput.measure(arguments.ako, file, network, folder, every,
                                       60 * arguments.minutes)
            add(os.path.join(arguments.output, "goodput.jsonl"), measured)
            found.append(measured)
    print(goodput.table(found), flush=True)
    return 1 if any(it["findings"] for it in found) else 0


def measure_accuracy(arguments):
    found = []
    for seed in range(arguments.seed, arguments.seed + arguments.times):
        measured = accuracy.measure(arguments, seed)
        add(os.path.join(arguments.output, "accuracy.jsonl"), measured)
        found.append(measured)
    print(accuracy.table(found), flush=True)
    return 1 if any(it["status"] for it in found) else 0


def measure_containers(arguments):
    found = containers.measure(str(SOURCE), arguments.ako, arguments.times)
    print(containers.table(found), flush=True)
    return 1 if any(it["findings"] for it in found) else 0


COMMANDS = {"table": table, "goodput": measure_goodput, "accuracy": measure_accuracy,
            "containers": measure_containers}
TIMES = {"table": 10, "accuracy": 3, "containers": 3}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=[*COMMANDS, "all"])
    parser.add_argument("--ako", default=str(SOURCE / "build/release/ako"))
    parser.add_argument("--output", default="runs/acceptance", metavar="FOLDER")
    parser.add_argument("--times", type=int, help="trials of each scenario, or seeds")
    parser.add_argument("--minutes", type=float, default=5, help="of each run of goodput")
    parser.add_argument("--only", nargs="+", help="scenarios whose names have one of these words")
    parser.add_argument("--parallel", type=int, default=1, help="clusters side by side")
    parser.add_argument("--share", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rate", default="50mbit")
    parser.add_argument("--cpus", default="0.3")
    parser.add_argument("--delay-ms", type=float, default=5)
    parser.add_argument("--jitter-ms", type=float, default=1)
    parser.add_argument("--loss", type=float, default=0.0005)
    arguments = parser.parse_args()
    arguments.ako = os.path.abspath(arguments.ako)
    arguments.output = os.path.abspath(arguments.output)
    os.makedirs(arguments.output, exist_ok=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    times = arguments.times
    try:
        if arguments.share is not None:
            arguments.times = times or TIMES["table"]
            return share(arguments)
        status = 0
        for what in COMMANDS if arguments.what == "all" else [arguments.what]:
            arguments.times = times or TIMES.get(what)
            status = max(status, COMMANDS[what](arguments))
        return status
    except Skip as why:
        print(f"skipped: {why}")
        return SKIPPED
    except Refused as why:
        print(f"acceptance: {why}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
