#!/usr/bin/env python3
"""Does `training.learners: auto` follow a processor's quota that changes during a run?

    experiments/learners/quota.py            # three runs of a minute and a half, and the table
    experiments/learners/quota.py --table    # of the runs made so far; trains nothing

One peer trains LeNet in a control group of `deploy/testbed` with two cores, then one, then two
again, for half a minute each. Every run is a line of quota.jsonl: of each part the learners of its
last seconds and their samples per second, how long after its beginning that number was first
trained, and what the peer said. Needs root and an idle machine. Standard library only.
"""

import argparse
import collections
import json
import pathlib
import re
import runpy
import signal
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent
TESTBED = REPOSITORY / "deploy/testbed"
sys.path.insert(0, str(HERE.parent))
import runs  # noqa: E402

NAME = "learners"
PARTS = (2, 1, 2)  # cores
PART_S = 30
LAST_S = 15  # of a part: what it came to
STAYS_S = 6  # of which more than half have a number that is no mere attempt
PATIENCE_S = 60


def testbed(*words):
    subprocess.run([TESTBED, "--name", NAME, *words], check=True)


def wait_for_rounds(process, path):
    """Until it trains."""
    until = time.monotonic() + PATIENCE_S
    while not (path.exists() and any(line["phase"] == "training" for line in lines_of(path))):
        if process.poll() is not None or time.monotonic() > until:
            said = (path.parent.parent / "said").read_text()
            raise SystemExit(f"it does not train; it said:\n{said}")
        time.sleep(0.1)


def lines_of(path):
    """Those that are whole."""
    text = path.read_text()
    return [json.loads(line, object_hook=runs.renamed)
            for line in text[:text.rfind("\n") + 1].splitlines()]


def train(ako, seed, folder):
    """Through all parts. What the peer said, its metrics, and when (by them) each part began."""
    tools = runpy.run_path(str(TESTBED))
    groups, period_us = tools["cpu_groups"](), tools["CPU_PERIOD_US"]
    with open(folder / "said", "w") as said:
        process = subprocess.Popen(
            [TESTBED, "--name", NAME, "exec", "1", "--", ako, "launch", HERE / "cluster.yaml",
             "--plain", "--free-ports", "--output-dir", folder / "run", "--set",
             "training.learners=auto", "--set", "training.epochs=1000", "--set",
             "training.evaluate_every=0", "--set", f"seed={seed}"],
            stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT)
        try:
            path = folder / "run" / "metrics-a.jsonl"
            wait_for_rounds(process, path)
            begins = []
            for cores in PARTS:
                groups.limit(NAME, 1, cores * period_us)
                begins.append(lines_of(path)[-1]["time"])  # to a second
                time.sleep(PART_S)
            process.send_signal(signal.SIGINT)
            process.wait(PATIENCE_S)
        finally:
            process.kill()
    return (folder / "said").read_text(), lines_of(path), begins


def parts_of(lines, begins):
    parts = []
    for cores, begin in zip(PARTS, begins):
        inside = [line for line in lines if line["phase"] == "training" and
                  begin < line["time"] <= begin + PART_S]
        last = [line for line in inside if line["time"] > begin + PART_S - LAST_S]
        learners = collections.Counter(line["learners"] for line in last).most_common(1)[0][0]
        numbers = [line["learners"] for line in inside]
        first = next(line["time"] for place, line in enumerate(inside)
                     if numbers[place:place + STAYS_S].count(learners) > STAYS_S / 2)
        parts.append({"cores": cores, "learners": learners, "after_s": round(first - begin, 1),
                      "samples_per_s": round(statistics.median(line["samples_per_s"]
                                                              for line in last))})
    return parts


def measure(made, ako, seed):
    testbed("up", "--peers", "1", "--rate", "1000mbit", "--cpus", str(PARTS[0]))
    try:
        with tempfile.TemporaryDirectory() as folder:
            said, lines, begins = train(ako, seed, pathlib.Path(folder))
    finally:
        testbed("down")
    changes = [line.strip() for line in said.splitlines() if re.search(r"\blearners?\b", line)]
    made.add({"seed": seed, "parts": parts_of(lines, begins), "said": changes})


def table(made):
    print("| cores | learners | samples per second | that many after, s |\n|---|---|---|---|")
    for place, cores in enumerate(PARTS):
        of_runs = [line["parts"][place] for line in made.of()]
        cells = (", ".join(str(part[key]) for part in of_runs)
                 for key in ("learners", "samples_per_s", "after_s"))
        print(f"| {cores} | {' | '.join(cells)} |")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ako", default=str(REPOSITORY / "build/release/ako"))
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--table", action="store_true", help="of the runs made so far")
    arguments = parser.parse_args()
    made = runs.Runs(HERE / "quota.jsonl")
    for seed in [] if arguments.table else arguments.seeds:
        if not made.find(seed=seed):
            measure(made, arguments.ako, seed)
    table(made)


if __name__ == "__main__":
    main()
