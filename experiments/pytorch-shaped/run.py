#!/usr/bin/env python3
"""Methods of training a PyTorch model on several machines, on shaped links: each in turn, for the
same time. The experiments are the folders pytorch-text and pytorch-cifar beside this one.

    run.py text --python VENV/bin/python --rate 50mbit --out results.jsonl [--seconds 100]
        [--methods ako-1,ako-4,ako-16,ddp,ddp-fp16,diloco-16] [--set KEY=VALUE] [--seed 1]
        [--kill 3@0.4] [--cpus 0.5,0.5,0.5,0.125]

Appends a line of JSON for each: {"label", "rate", "rounds": [..], "cpu_seconds", "curve"}. A curve
has [seconds, validation loss] or [seconds, test accuracy, ..]. `alone` is one process of one peer,
with the batches of all. `--kill`: this worker dies after this share of the time, and its rounds are
not known. Needs root, for deploy/testbed makes network namespaces.
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
                    f"output: {folder}/runs\nexchange: {{leave_timeout_s: 7.5}}\npeers:\n{lines}")
    return str(path)


def run_one(options, label, testbed, peers, folder):
    method, _, steps = label.rpartition("-")
    if not steps.isdigit():
        method, steps = label, "1"
    environment = dict(os.environ, OMP_NUM_THREADS="1", GLOO_SOCKET_IFNAME="eth0",
                       PYTHONPATH=os.pathsep.join([str(HERE), str(ROOT / "src/python")]))
    worker_program = str(HERE.parent / f"pytorch-{options.experiment}" / "train.py")
    words = ["--method", method, "--steps", steps, "--workers", str(len(peers)), "--seconds",
             str(options.seconds), "--master", peers[0]["address"], "--seed", str(options.seed),
             "--file", write_cluster(folder, peers)]
    for word in ("variant", "outer"):
        given = getattr(options, word)
        words += [f"--{word}", *given.split(",")] if given else []
    for setting in options.set:
        words += ["--set", setting]
    places = [[*testbed, "exec", str(peer["peer"]), "--"] for peer in peers]
    if method == "alone":
        places = [[]]  # beside the testbed: its batches are what counts, and not its time
    victim, share = (float(it) for it in options.kill.split("@")) if options.kill else (-1, 0)
    running = []
    for worker, place in enumerate(places):
        own = ["--worker", str(worker), *(["--dies-at", str(share)] if worker == victim else []),
               *(["--states", f"{folder}/states.pt"] if worker == 0 else [])]
        running.append(subprocess.Popen([*place, options.python, worker_program, *own, *words],
                                        stdout=subprocess.PIPE, text=True, env=environment))
    try:
        said = [it.communicate(timeout=20 * options.seconds)[0] for it in running]
    finally:
        for it in running:
            it.kill()
    judge = [options.python, worker_program, "--judge", f"{folder}/states.pt"]
    if options.variant:
        judge += ["--variant", options.variant]
    judged = subprocess.run(judge, stdout=subprocess.PIPE, text=True, env=environment, check=True)
    # A worker that was killed has said nothing.
    told = [json.loads(text.splitlines()[-1]) if text.strip() else {} for text in said]
    return {"label": label, "rate": options.rate, "seconds": options.seconds, "seed": options.seed,
            "cpus": options.cpus, "kill": options.kill, "set": options.set,
            "variant": options.variant, "outer": options.outer,
            "rounds": [it.get("rounds") for it in told],
            "cpu_seconds": sum(it.get("cpu_seconds", 0) for it in told),
            "error": told[0].get("error"), "curve": json.loads(judged.stdout)}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("experiment", choices=("text", "cifar", "lora"))
    parser.add_argument("--python", default=sys.executable, help="one that has PyTorch and NumPy")
    parser.add_argument("--rate", default="50mbit")
    parser.add_argument("--peers", type=int, default=4)
    parser.add_argument("--cpus", default="0.5")
    parser.add_argument("--seconds", type=float, default=100)
    parser.add_argument("--methods", default=METHODS)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--outer", metavar="RATE,MOMENTUM", help="of ako-outer-STEPS")
    parser.add_argument("--variant", help="of the experiment: see its train.py")
    parser.add_argument("--kill", metavar="WORKER@SHARE", help="of the time")
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
            with tempfile.TemporaryDirectory(prefix="ako-shaped-") as folder:
                line = run_one(options, label, testbed, peers, folder)
            with open(options.out, "a", encoding="utf-8") as out:
                out.write(json.dumps(line) + "\n")
            last = line["curve"][-1] if line["curve"] else [0, float("nan")]
            print(f"{label:>13} at {options.rate}: rounds {line['rounds']}, {last[1]:.4f} after "
                  f"{last[0]:.0f} s {line['error'] or ''}", flush=True)
    finally:
        subprocess.run([*testbed, "down"], check=False)


if __name__ == "__main__":
    main()
