#!/usr/bin/env python3
"""Trains Ako's LeNet with PyTorch's DistributedDataParallel in a testbed that is up, one worker per
peer (deploy/testbed), and says what it took.

    deploy/testbed up --peers 4 --rate 50mbit --cpus 0.25
    experiments/compare-mnist/peers/run_ddp.py --python VENV/bin/python [--name testbed]
        [--target 0.985 ...] [--data FOLDER]
        [arguments of `ddp.py train`, such as --epochs 4 --batch 64]

Prints a line of JSON for each worker, then one for the run: the medians of its round times over the
workers, the curve (evaluated when all have ended, outside the groups of --cpus) and the seconds to
each target. Python's standard library only; the workers need PyTorch (requirements.txt).
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TESTBED = str(HERE.parents[2] / "deploy/testbed")
WORKER = str(HERE / "ddp.py")
DATA = str(HERE.parents[1] / "mnist/data")
TARGETS = (0.985, 0.99)


def peers_of(testbed):
    found = subprocess.run([*testbed, "status"], stdout=subprocess.PIPE, text=True)
    if found.returncode != 0:
        sys.exit(found.returncode)
    return json.loads(found.stdout)["peers"]


def train(testbed, python, peers, folder, data, words):
    """One process per peer; what each printed last."""
    # One thread each: all workers share the processor, as Ako's peers do.
    environment = dict(os.environ, OMP_NUM_THREADS="1", GLOO_SOCKET_IFNAME="eth0")
    running = []
    try:
        for worker, peer in enumerate(peers):
            running.append(subprocess.Popen(
                [*testbed, "exec", str(peer["peer"]), "--", python, WORKER, "train",
                 f"--worker={worker}", f"--workers={len(peers)}",
                 f"--master={peers[0]['address']}", f"--out={folder}", f"--data={data}",
                 *words],
                stdout=subprocess.PIPE, text=True, env=environment))
        texts = [process.communicate()[0] for process in running]
    finally:
        for process in running:
            process.kill()
    if any(process.returncode != 0 for process in running):
        sys.exit("run_ddp.py: a worker failed, see above")
    return [json.loads(text.splitlines()[-1]) for text in texts]


def evaluate(python, folder, data):
    """On the test set of the data that was trained on."""
    done = subprocess.run([python, WORKER, "evaluate", f"--out={folder}", f"--data={data}"],
                          check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout)


def seconds_to(points, target):
    """Interpolated between two marks, as `ako compare` does; None if it is never reached."""
    for before, point in zip([None, *points], points):
        if point["accuracy"] < target:
            continue
        if before is None:
            return point["seconds"]
        share = (target - before["accuracy"]) / (point["accuracy"] - before["accuracy"])
        return before["seconds"] + share * (point["seconds"] - before["seconds"])
    return None


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--name", default="testbed", help="of the testbed")
    parser.add_argument("--python", default=sys.executable, help="one that has PyTorch")
    parser.add_argument("--data", type=os.path.abspath, default=DATA,
                        help="the folder with images like MNIST's, to train on and to evaluate on")
    parser.add_argument("--target", type=float, action="append", help="an accuracy, 0 .. 1")
    arguments, words = parser.parse_known_args()
    testbed = [TESTBED, "--name", arguments.name]
    peers = peers_of(testbed)
    with tempfile.TemporaryDirectory(prefix="ddp-") as folder:
        workers = train(testbed, arguments.python, peers, folder, arguments.data,
                        words)
        for worker in workers:
            print(json.dumps(worker), flush=True)
        points = evaluate(arguments.python, folder, arguments.data)

    def middle(key):
        return statistics.median(worker[key]["p50"] for worker in workers if worker[key])

    print(json.dumps({
        "mode": "pytorch-ddp", "peers": len(peers), "rate": peers[0]["egress"],
        "cpus": peers[0]["cpus"], "words": words, "rounds": workers[0]["rounds"],
        "train_seconds": max(worker["train_seconds"] for worker in workers),
        "round_ms": {"p50": middle("round_ms")},
        "compute_round_ms": {"p50": middle("compute_round_ms")}
        if workers[0]["compute_round_ms"] else None,
        "accuracy": points[-1]["accuracy"],
        "seconds_to": {str(target): seconds_to(points, target)
                       for target in arguments.target or TARGETS},
        "curve": {"evaluated": "after", "peer": "worker 0", "points": points}}))


if __name__ == "__main__":
    main()
