#!/usr/bin/env python3
"""Final test accuracy of LeNet on MNIST: four peers under several conditions of the exchange
beside one process with the summed batch and the same learning rate.

    experiments/mnist/accuracy.py [--ako BUILD/ako] [--epochs 4] [--seeds 1 2 3]

Python's standard library only.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent.parent
BATCH = "training.batch_per_peer=64"
CONDITIONS = {
    "one process, batch 256": ["training.batch_per_peer=256",
                               "peers=[{name: a, address: '127.0.0.1:7701'}]"],
    "4 peers, P = 8": [BATCH, "exchange.partitions=8"],
    "4 peers, auto, 20 Mbit/s": [BATCH, "exchange.link_mbit=20"],
    "4 peers, auto, loopback": [BATCH],
}


def train(arguments, settings, seed):
    with tempfile.TemporaryDirectory() as folder:
        words = [arguments.ako, "launch", str(REPOSITORY / "experiments/mnist/cluster.yaml"),
                 "--free-ports"]
        for setting in [*settings, f"training.epochs={arguments.epochs}", f"seed={seed}",
                        f"output={folder}", "training.evaluate_every=0"]:
            words += ["--set", setting]
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        summary = json.loads((pathlib.Path(folder) / "latest/summary.json").read_text())
    assert summary["replicas_identical"], "the replicas differ"
    return summary


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ako", default=str(REPOSITORY / "build/release/ako"))
    parser.add_argument("--epochs", type=float, default=4)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    arguments = parser.parse_args()
    reference = None
    print(f"{'condition':28}{'accuracy % per seed':>26}{'median':>9}"
          f"{'less than one process':>24}{'s':>7}")
    for name, settings in CONDITIONS.items():
        summaries = [train(arguments, settings, seed) for seed in arguments.seeds]
        accuracies = [100 * summary["accuracy"] for summary in summaries]
        median = statistics.median(accuracies)
        reference = median if reference is None else reference
        seconds = statistics.median(summary["seconds"] for summary in summaries)
        print(f"{name:28}{' '.join(f'{a:.2f}' for a in accuracies):>26}{median:9.2f}"
              f"{reference - median:24.2f}{seconds:7.0f}", flush=True)


if __name__ == "__main__":
    main()
