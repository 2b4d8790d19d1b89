#!/usr/bin/env python3
"""What checkpoints cost the pace of a run, and whether a run that was cut off ends as well as one
that nobody disturbed.

    experiments/checkpoints/measure.py [--ako BUILD/ako] pace [--turns 7] [--modes ako ring]
    experiments/checkpoints/measure.py [--ako BUILD/ako] resume [--seeds 5] [--epochs 2]

`pace` trains LeNet on MNIST with four peers, in turn without checkpoints and with one every so many
epochs, and compares samples per second within each turn. `resume` cuts the power of a run half-way
(SIGKILL to all processes), goes on from the checkpoints, and compares the final accuracy with that
of the whole run of the same seed. Python's standard library only.
"""

import argparse
import glob
import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(REPOSITORY / "experiments"))
import runs  # noqa: E402

CLUSTER = REPOSITORY / "experiments/mnist/cluster.yaml"
EVERY = (0, 1, 0.25, 0.1)


def words(arguments, folder, **keys):
    sets = {"output": folder, "training.evaluate": "after", "training.evaluate_every": 0, **keys}
    text = [arguments.ako, "launch", str(CLUSTER), "--free-ports", "--plain"]
    for key, value in sets.items():
        text += ["--set", f"{key}={value}"]
    return text


def newest(folder):
    """Of the runs in this folder the one that was begun last."""
    return max((entry for entry in os.scandir(folder) if not entry.is_symlink()),
               key=lambda entry: (os.stat(entry.path).st_ctime, entry.name)).path


def summary(folder):
    with open(os.path.join(newest(folder), "summary.json")) as file:
        return json.load(file, object_hook=runs.renamed)


def samples_per_s(arguments, mode, every):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(words(arguments, folder, **{
            "exchange.mode": mode, "training.epochs": arguments.epochs,
            "training.checkpoint_every": every}), check=True, stdout=subprocess.DEVNULL)
        return sum(peer["samples_per_s"] for peer in summary(folder)["peers"])


def pace(arguments):
    for mode in arguments.modes:
        measured = {every: [] for every in EVERY}
        for _ in range(arguments.turns):
            for every in EVERY:
                measured[every].append(samples_per_s(arguments, mode, every))
        print(f"{mode}: samples/s of all peers, medians of {arguments.turns} turns")
        for every in EVERY:
            lost = [100 * (1 - one / none) for one, none in zip(measured[every], measured[0])]
            print(f"  a checkpoint every {every or 'none':>5} epochs: "
                  f"{statistics.median(measured[every]):8.0f}, lost "
                  f"{statistics.median(lost):5.2f} % ({min(lost):.2f} to {max(lost):.2f})",
                  flush=True)


def kill_all(process):
    """As a loss of power: nobody can say a word."""
    pid = process.pid
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        children = [int(child) for child in file.read().split()]
    for one in [*children, pid]:
        os.kill(one, signal.SIGKILL)
    process.wait()


def progress_of(folder):
    """0 .. 1, as the peers' newest metrics say."""
    found = 0
    for path in glob.glob(f"{folder}/*/metrics-*.jsonl"):
        with open(path) as file:
            lines = [line for line in file if line.endswith("\n")]
        if lines:
            found = max(found, json.loads(lines[-1])["progress"])
    return found


def accuracy(arguments, seed, cut):
    keys = {"seed": seed, "training.epochs": arguments.epochs, "training.checkpoint_every": 0.25}
    with tempfile.TemporaryDirectory() as folder:
        command = words(arguments, folder, **keys)
        if cut:
            run = subprocess.Popen(command, stdout=subprocess.DEVNULL)
            while progress_of(folder) < 0.5:
                time.sleep(0.05)
            kill_all(run)
            command = words(arguments, folder, **keys) + ["--resume"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        ended = summary(folder)
        assert ended["replicas_identical"], "the peers differ"
        return 100 * ended["accuracy"]


def resume(arguments):
    differences = []
    for seed in range(1, arguments.seeds + 1):
        whole, cut = (accuracy(arguments, seed, cut) for cut in (False, True))
        differences.append(cut - whole)
        print(f"seed {seed}: {whole:.2f} % whole, {cut:.2f} % cut off half-way, "
              f"{cut - whole:+.2f}", flush=True)
    print(f"mean difference {statistics.mean(differences):+.2f} points, "
          f"largest {max(differences, key=abs):+.2f}")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ako", default=str(REPOSITORY / "build/release/ako"))
    commands = parser.add_subparsers(required=True)
    pace_words = commands.add_parser("pace")
    pace_words.add_argument("--turns", type=int, default=7)
    pace_words.add_argument("--modes", nargs="+", default=["ako", "ring"])
    pace_words.add_argument("--epochs", type=float, default=2)
    pace_words.set_defaults(action=pace)
    resume_words = commands.add_parser("resume")
    resume_words.add_argument("--seeds", type=int, default=5)
    resume_words.add_argument("--epochs", type=float, default=2)
    resume_words.set_defaults(action=resume)
    arguments = parser.parse_args()
    arguments.action(arguments)


if __name__ == "__main__":
    main()
