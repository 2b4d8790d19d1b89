"""`ako launch` in a testbed for some seconds, for the experiments of this folder. Standard library
only."""

import json
import pathlib
import signal
import subprocess
import sys

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(REPOSITORY / "experiments"))
import runs  # noqa: E402

TESTBED = REPOSITORY / "deploy/testbed"
# Settings of every run: LeNet on MNIST, for longer than it is let run.
SETTINGS = ("training.batch=64", "training.evaluate_every=0",
            "training.learning_rate=0.02", "training.epochs=400")


def launched(program, testbed, settings, seconds, folder):
    """Summary and metrics lines by peer of a run in the testbed of that name, which is asked to
    stop after so many seconds; SystemExit with what it said if it left none."""
    words = [program, "launch", REPOSITORY / "experiments/mnist/cluster.yaml", "--plain", "--in",
             f"{TESTBED} --name {testbed} exec {{number}} --", "--output-dir", folder]
    for setting in (*SETTINGS, *settings):
        words += ["--set", setting]
    launch = subprocess.Popen([str(word) for word in words], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
    try:
        launch.wait(seconds)
    except subprocess.TimeoutExpired:
        launch.send_signal(signal.SIGINT)
    said = launch.communicate(timeout=60)[0]
    if not (folder / "summary.json").exists():
        raise SystemExit(f"no summary with {settings}\n{said}")
    lines = {file.stem.removeprefix("metrics-"): runs.Runs(file).lines
             for file in sorted(folder.glob("metrics-*.jsonl"))}
    summary = (folder / "summary.json").read_text()
    return json.loads(summary, object_hook=runs.renamed), lines


def rows_of(path):
    """What was measured so far: a file with a row in each line, if it is there."""
    return runs.Runs(path).lines


def samples_per_s(summary):
    """Of all peers that train, while they do."""
    return sum(peer["samples"] / peer["train_seconds"] for peer in summary["peers"]
               if peer["train_seconds"])
