"""What the tests of `ako explore` share: folders, plans, and searches as processes."""

import json
import os
import pathlib
import subprocess
import tempfile
import textwrap
import time
import unittest

AKO = os.environ["AKO"]
PROGRAM = """\
import os, sys, time
from ako.explore import trial
x = trial.get("x", 0.0)
if trial.get("fails"):
    sys.exit("of no use")
if os.path.exists("fails"):
    sys.exit("out of order")
begin = 0
if trial.start:
    begin = int((trial.start / "epoch").read_text())
for epoch in range(begin + 1, int(trial.until) + 1):
    time.sleep(trial.get("seconds", 0.05))
    (trial.folder / "epoch").write_text(str(epoch))
    with open("made.txt", "a") as made:
        made.write(f"{x} {epoch}\\n")
    trial.report(epoch, epoch - abs(x - 0.3))
"""
CLUSTER = """\
run: tiny
model: {name: synthetic, parameters: 2000, compute_ms: 1, samples: 2000}
training: {batch: 10, evaluate_every: 0.25, must_learn: false}
exchange: {mode: local}
peers: {count: 1}
"""


class Case(unittest.TestCase):
    def setUp(self):
        found = tempfile.TemporaryDirectory(prefix="ako-explore-")
        self.addCleanup(found.cleanup)
        self.folder = pathlib.Path(found.name)
        (self.folder / "train.py").write_text(PROGRAM)
        (self.folder / "cluster.yaml").write_text(CLUSTER)

    def write(self, text, name="plan.yaml"):
        path = self.folder / name
        path.write_text(textwrap.dedent(text))
        return path

    def start(self, *words, slots=2):
        return subprocess.Popen(
            [AKO, "explore", "plan.yaml", "--plain", "--slots", str(slots), *map(str, words)],
            cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, start_new_session=True)

    def explore(self, *words, expect=0, **more):
        process = self.start(*words, **more)
        said, _ = process.communicate(timeout=120)
        self.assertEqual(process.returncode, expect, said)
        return said

    def results(self, name="search"):
        return json.loads((self.folder / f"explore/{name}/results.json").read_text())

    def wait_for(self, condition, what):
        until = time.monotonic() + 40
        while not condition():
            self.assertLess(time.monotonic(), until, what)
            time.sleep(0.05)

    def made(self):
        """Each epoch that a program has made: its x and the number."""
        path = self.folder / "made.txt"
        return path.read_text().splitlines() if path.exists() else []
