#!/usr/bin/env python3
"""Methods of training a PyTorch model on several machines, on shaped links: each in turn, for the
same time. The experiments are the folders pytorch-text and pytorch-cifar beside this one.

    run.py text --python VENV/bin/python --rate 50mbit --out results.jsonl [--seconds 100]
        [--methods ako-1,ako-4,ako-16,ddp,ddp-fp16,diloco-16] [--set KEY=VALUE]

Appends a line of JSON for each: {"label", "rate", "rounds": [..], "cpu_seconds", "curve"}. A curve
has [seconds, validation loss] or [seconds, test accuracy]. `alone` is one process of one peer, with
the batches of all. Needs root, for deploy/testbed makes network namespaces.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
METHODS = "ako-1,ako-4,ako-16,ddp,ddp-fp16,diloco-16"


def write_cluster(folder, peers):
    lines = "".join(f'  - {{name: {"abcdefgh"[k]}, address: "{peer["address"]}:7701"}}\n'
                    for k, peer in enumerate(peers))
    path = pathlib.Path(folder) / "cluster.yaml"
    path.write_text("run: shaped\nmodel: external\ntraining: {epochs: 1}\n"
                    f"output: {folder}/runs\nexchange: {{finish_linger_s: 3}}\npeers:\n{lines}")
    return str(path)


def run_one(options, label, testbed, peers, folder):
    method, _, steps = label.rpartition("-")
    if not steps.isdigit():
        method, steps = label, "1"
    environment = dict(os.environ, OMP_NUM_THREADS="1", GLOO_SOCKET_IFNAME="eth0",
                       PYTHONPATH=os.pathsep.join([str(HERE), str(ROOT / "src/python")]))
    worker_program = str(HERE.parent / f"pytorch-{options.experiment}" / "train.py")
    words = ["--method", method, "--steps", steps, "--workers", str(len(peers)), "--seconds",
             str(options.seconds), "--master", peers[0]["address"], "--file",
             write_cluster(folder, peers)]
    for setting in options.set:
        words += ["--set", setting]
    places = [[*testbed, "exec", str(peer["peer"]), "--"] for peer in peers]
    if method == "alone":
        places = [[]]  # beside the testbed: its batches are what counts, and not its time
    running = [subprocess.Popen([*place, options.python, worker_program, "--worker", str(worker),
                                 *words], stdout=subprocess.PIPE, text=True, env=environment)
               for worker, place in enumerate(places)]
    try:
        said = [json.loads(it.communicate(timeout=20 * options.seconds)[0].splitlines()[-1])
                for it in running]
    finally:
        for it in running:
            it.kill()
    return {"label": label, "rate": options.rate, "seconds": options.seconds, "set": options.set,
            "rounds": [it["rounds"] for it in said],
            "cpu_seconds": sum(it["cpu_seconds"] for it in said), "curve": said[0]["curve"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("experiment", choices=("text", "cifar"))
    parser.add_argument("--python", default=sys.executable, help="one that has PyTorch and NumPy")
    parser.add_argument("--rate", default="50mbit")
    parser.add_argument("--peers", type=int, default=4)
    parser.add_argument("--cpus", default="0.5")
    parser.add_argument("--seconds", type=float, default=100)
    parser.add_argument("--methods", default=METHODS)
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--out", default="results.jsonl")
    options = parser.parse_args()
    testbed = [str(ROOT / "deploy/testbed"), "--name", "shaped"]
    subprocess.run([*testbed, "up", "--peers", str(options.peers), "--rate", options.rate,
                    "--shape", "both", "--cpus", options.cpus], check=True)
    try:
        status = subprocess.run([*testbed, "status"], stdout=subprocess.PIPE, text=True, check=True)
        peers = json.loads(status.stdout)["peers"]
        for label in options.methods.split(","):
            with tempfile.TemporaryDirectory(prefix="ako-text-") as folder:
                line = run_one(options, label, testbed, peers, folder)
            with open(options.out, "a", encoding="utf-8") as out:
                out.write(json.dumps(line) + "\n")
            print(f"{label:>13} at {options.rate}: rounds {line['rounds']}, "
                  f"{line['curve'][-1][1]:.4f} after {line['curve'][-1][0]:.0f} s", flush=True)
    finally:
        subprocess.run([*testbed, "down"], check=False)


if __name__ == "__main__":
    main()
