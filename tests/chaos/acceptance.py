#!/usr/bin/env python3
"""The acceptance measurements of peers that come, go, stop and return, as markdown tables.

    tests/chaos/acceptance.py table [--times 10] [--parallel 1] [--only killed late]
    tests/chaos/acceptance.py goodput [--minutes 5] [--only never 60 15]
    tests/chaos/acceptance.py accuracy [--times 3] [--epochs 12]
    tests/chaos/acceptance.py containers [--times 3] [--only paused]
    tests/chaos/acceptance.py report [--from FOLDER ...]

table: each scenario so often at random moments, four peers with a share of a processor each, in
namespaces with links of `--rate`, delay and loss. goodput: as torchft measures it: one of four is
killed and started again at once every 60 s, or every 15 s; the steps of all that count in the end,
over those that a run without faults makes in the same time. accuracy: the same budget of samples in
a chaos run of six peers and in a quiet one. containers: kill, pause and disconnect on the Docker
engine. report: nothing is measured; the tables of what lies in these folders, together.

All figures go to FOLDER/*.jsonl, one line per trial; what lies there is not measured again, so that
a call that was ended goes on where it was, and parts may be measured one by one. After each part
FOLDER/results.json has all that lies there. What each measured value is: measures.py. Exit status:
0, 1 if a trial was judged not well or could not be made, 77 if this cannot run here.
"""

import argparse
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import accuracy
import containers
import goodput
import tables
from cluster_file import ClusterFile, Refused
from lives import Cluster
from network import SKIPPED, Broken, Network, Skip
from scenarios import chosen
from trial import SAMPLES, Bench, Trial

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parents[1]
TRIES = 4         # where the end came before the event
QUIET_S = 15      # for the pace without faults


def network_for(arguments, file, name, places=None):
    return Network(str(SOURCE), f"{name}{os.getpid()}", places or len(file.names), arguments.rate,
                   arguments.cpus, arguments.delay_ms, arguments.jitter_ms, arguments.loss,
                   arguments.seed)


def quiet_pace(arguments, file, network, folder):
    """Epochs per second of all peers together, when nothing happens."""
    cluster = Cluster(arguments.ako, file.path, file.names, network, os.path.join(folder, "quiet"),
                      ["--set", "training.epochs=1000"])
    try:
        return goodput.samples_per_s(cluster, QUIET_S) / SAMPLES
    finally:
        cluster.end_all()


# ---- the table of scenarios


def share(arguments):
    """The trials of one process of several."""
    file = ClusterFile(arguments.ako, str(HERE / "acceptance.yaml"))
    path = os.path.join(arguments.output, f"trials-{arguments.share}.jsonl")
    wanted = [(scenario, number) for number in range(1, arguments.times + 1)
              for scenario in chosen(arguments.only)]
    done = {(it["scenario"], int(it["number"])) for it in tables.read("table", [arguments.output])}
    wanted = [(scenario, number) for place, (scenario, number) in enumerate(wanted)
              if place % arguments.parallel == arguments.share and
              (scenario.name, number) not in done]
    if not wanted:
        return 0
    places = len(file.names) + 1  # the last for a second process under somebody's name
    with network_for(arguments, file, "accept", places) as network:
        folder = os.path.join(arguments.output, f"runs-{arguments.share}-{os.getpid()}")
        pace = quiet_pace(arguments, file, network, folder)
        print(f"quiet: {pace * SAMPLES:.0f} samples/s of all", flush=True)
        bench = Bench(arguments.ako, file, network, folder, arguments.seed, pace)
        made = [measure_trial(bench, scenario, number, path) for scenario, number in wanted]
    return 0 if all(made) else 1


def measure_trial(bench, scenario, number, path):
    """False if it could not be made."""
    why = f"the end came before the event {TRIES} times"
    for again in range(TRIES):
        try:
            measured = Trial(bench, scenario, number + again / 10).run()
        except goodput.NoTraining as error:
            why = str(error)
            continue
        if measured is not None:
            measured["number"] = number
            tables.add(path, measured)
            print(json.dumps(measured), flush=True)
            return True
    print(f"not made: {scenario.name}, trial {number}: {why}", flush=True)
    return False


def table(arguments):
    if not chosen(arguments.only):
        raise Refused("no scenario has a name with one of these words")
    words = [sys.executable, __file__, *sys.argv[1:]]
    shares = [subprocess.Popen([*words, "--share", str(number)])
              for number in range(arguments.parallel)]
    try:
        statuses = [process.wait() for process in shares]
        # Where only some could run, or one was killed, trials are missing.
        return statuses[0] if len(set(statuses)) == 1 and statuses[0] >= 0 else 1
    finally:
        for process in shares:
            if process.poll() is None:
                process.terminate()
                process.wait()


# ---- the others


def asked(arguments, word):
    return not arguments.only or any(it in word for it in arguments.only)


def lies_there(arguments, part):
    """What was measured before, by what makes it the same."""
    keys = tables.PARTS[part][1]
    return {tuple(it.get(key) for key in keys) for it in tables.read(part, [arguments.output])}


def measure_goodput(arguments):
    file = ClusterFile(arguments.ako, str(HERE / "acceptance.yaml"))
    seconds, done = 60 * arguments.minutes, lies_there(arguments, "goodput")
    wanted = [every for every in (None, 60, 15) if (every, seconds) not in done and
              asked(arguments, "never" if every is None else str(every))]
    if not wanted:
        return 0
    with network_for(arguments, file, "goodput") as network:
        folder = os.path.join(arguments.output, f"goodput-{time.strftime('%H%M%S')}")
        for every in wanted:
            measured = goodput.measure(arguments.ako, file, network, folder, every, seconds)
            tables.add(os.path.join(arguments.output, "goodput.jsonl"), measured)
            print(json.dumps(measured), flush=True)
    return 0


def measure_accuracy(arguments):
    done = lies_there(arguments, "accuracy")
    for seed in range(arguments.seed, arguments.seed + arguments.times):
        if (seed, arguments.epochs) not in done:
            measured = accuracy.measure(arguments, seed)
            tables.add(os.path.join(arguments.output, "accuracy.jsonl"), measured)
            print(json.dumps(measured), flush=True)
    return 0


def measure_containers(arguments):
    done = lies_there(arguments, "containers")
    wanted = [(what, number) for what in containers.AWAY_S if asked(arguments, what)
              for number in range(1, arguments.times + 1) if (what, number) not in done]
    if wanted:
        path = os.path.join(arguments.output, "containers.jsonl")
        containers.measure(str(SOURCE), arguments.ako, wanted,
                           lambda measured: tables.add(path, measured))
    return 0


def report(arguments, parts):
    """All that lies in the folders, as tables, and as one file for programs."""
    folders, status, results = arguments.folders or [arguments.output], 0, {}
    for part in tables.PARTS:
        found = tables.read(part, folders)
        results[part] = found
        if found and part in parts:
            print(f"\n{tables.TABLES[part](found)}", flush=True)
            status |= 1 if tables.not_well(part, found) else 0
    with open(os.path.join(arguments.output, "results.json"), "w") as file:
        file.write(json.dumps(results, indent=1) + "\n")
    return status


COMMANDS = {"table": table, "goodput": measure_goodput, "accuracy": measure_accuracy,
            "containers": measure_containers}
TIMES = {"table": 10, "accuracy": 3, "containers": 3}


def parse():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=[*COMMANDS, "all", "report"])
    parser.add_argument("--ako", default=str(SOURCE / "build/release/ako"))
    parser.add_argument("--output", default="runs/acceptance", metavar="FOLDER")
    parser.add_argument("--times", type=int, help="trials of each scenario, or seeds")
    parser.add_argument("--minutes", type=float, default=5, help="of each run of goodput")
    parser.add_argument("--epochs", type=float, default=12, help="of each run of accuracy")
    parser.add_argument("--only", nargs="+", metavar="WORD",
                        help="those of a part whose names have one of these words")
    parser.add_argument("--from", nargs="+", dest="folders", metavar="FOLDER",
                        help="where results of `report` lie; else --output")
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
    return arguments


def measure(arguments):
    times = arguments.times
    if arguments.share is not None:
        arguments.times = times or TIMES["table"]
        return share(arguments)
    if arguments.what == "report":
        return report(arguments, tables.PARTS)
    status = 0
    for what in COMMANDS if arguments.what == "all" else [arguments.what]:
        arguments.times = times or TIMES.get(what)
        status = max(status, COMMANDS[what](arguments), report(arguments, [what]))
    return status


def main():
    arguments = parse()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        return measure(arguments)
    except Skip as why:
        print(f"skipped: {why}")
        return SKIPPED
    except (Broken, goodput.NoTraining) as why:
        print(f"FAILED: {why}", flush=True)
        return 1
    except Refused as why:
        print(f"acceptance: {why}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
