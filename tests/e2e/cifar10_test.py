"""CIFAR-10 in earnest: cifar-quick learns from the data set beside the repository, which lies there
as JPEG and is converted to the published binary layout. Python's standard library only; the
converter has needs of its own. Exits 77 and says why where the data cannot be had.

    cifar10_test.py --ako BUILD/ako --source REPOSITORY
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

SKIPPED = 77
PATIENCE_S = 400


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


def convert(source, folder):
    """The folder with the converted data set."""
    converter = os.path.join(source, "..", "shared", "data", "cifar10", "to-binary")
    if not os.path.exists(converter):
        skip("CIFAR-10 does not lie beside the repository")
    data = os.path.join(folder, "data")
    # With the system's own Python, for which Debian packages what the converter needs.
    done = subprocess.run(["/usr/bin/python3", converter, data], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=PATIENCE_S)
    if "ModuleNotFoundError" in done.stderr or "zstd" in done.stderr:
        skip(f"the converter lacks a package: {done.stderr.strip().splitlines()[-1]}")
    assert done.returncode == 0, done.stderr
    return data


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ako", required=True)
    parser.add_argument("--source", required=True)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ako-cifar10-") as folder:
        data = convert(os.path.abspath(arguments.source), folder)
        cluster = os.path.join(arguments.source, "experiments", "cifar10", "cluster.yaml")
        words = [arguments.ako, "launch", cluster, "--free-ports"]
        for setting in (f"data.path={data}", f"output={folder}/runs", "training.epochs=0.4",
                        "training.evaluate_every=0"):
            words += ["--set", setting]
        done = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL,
                              timeout=PATIENCE_S)
        assert done.returncode == 0, done.stdout + done.stderr
        with open(os.path.join(folder, "runs", "latest", "summary.json")) as file:
            summary = json.load(file)
    print(f"cifar-quick, 2 peers, 0.4 epochs: {100 * summary['accuracy']:.2f} %")
    assert summary["replicas_identical"], summary
    # One in ten is guessed; in 20,000 samples the network has learned to tell something.
    assert summary["accuracy"] > 0.25, summary


if __name__ == "__main__":
    main()
