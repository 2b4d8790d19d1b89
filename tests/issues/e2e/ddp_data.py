"""`run_ddp.py --data X` trained on X and evaluated on MNIST, whatever X was: the argument was
passed on to the workers only. Needs no PyTorch: a program that says what it was called with stands
in for the Python that has it, and another for the testbed."""

import json
import os
import subprocess
import sys

from bench import check, check_equal

TESTBED = """#!/bin/sh
# testbed --name NAME exec NUMBER -- COMMAND...
shift 5
exec "$@"
"""
PYTHON = """#!/bin/sh
# Instead of PYTHON ddp.py COMMAND ARGUMENTS...
printf '%s\\n' "$*" >> "$CALLS"
case $2 in
train) echo '{"rounds": 1, "train_seconds": 1, "round_ms": {"p50": 1}, "compute_round_ms": null}' ;;
evaluate) echo '[{"seconds": 1, "accuracy": 1}]' ;;
esac
"""
# Only where the testbed is found, and what it says of its peers, is replaced.
RUN = """
import sys
sys.path.insert(0, sys.argv.pop(1))
import run_ddp
run_ddp.TESTBED = sys.argv.pop(1)
run_ddp.peers_of = lambda testbed: [
    {"peer": n, "address": "127.0.0.1", "egress": "1mbit", "cpus": 1} for n in (1, 2)]
run_ddp.main()
"""


def stand_in(bench, name, text):
    path = os.path.join(bench.folder, name)
    with open(path, "w") as file:
        file.write(text)
    os.chmod(path, 0o755)
    return path


def case_ddp_data(bench):
    source = os.path.abspath(bench.source)
    folder = os.path.join(source, "experiments/compare-mnist/peers")
    calls = os.path.join(bench.folder, "calls")
    done = subprocess.run(
        [sys.executable, "-c", RUN, folder, stand_in(bench, "testbed", TESTBED), "--python",
         stand_in(bench, "python", PYTHON), "--data", "somewhere/else", "--epochs=2"],
        cwd=bench.folder, env=dict(os.environ, CALLS=calls), capture_output=True, text=True,
        stdin=subprocess.DEVNULL, timeout=60)
    check_equal(done.returncode, 0, f"exit; it said:\n{done.stdout}{done.stderr}")
    check_equal(json.loads(done.stdout.splitlines()[-1])["accuracy"], 1, "accuracy")
    with open(calls) as file:
        called = file.read().splitlines()
    check_equal(len(called), 3, "two workers and one evaluation")
    data = os.path.join(bench.folder, "somewhere/else")
    for line in called:
        check(f"--data={data}" in line.split(), f"reads the data it was given: {line}")
    for line in called[:2]:
        check("--epochs=2" in line.split(), f"what else was given is passed on: {line}")
