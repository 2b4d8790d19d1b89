"""`ako launch --until` and `--from`: a run in two halves, and branches of it."""

import json
import subprocess

import cases


class Branches(cases.Case):
    def launch(self, name, *words, expect=0):
        done = subprocess.run(
            [cases.AKO, "launch", "cluster.yaml", "--free-ports", "--plain", "--output-dir", name,
             "--set", "peers={count: 2}", *words], cwd=self.folder, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, expect, done.stdout + done.stderr)
        path = self.folder / name / "result-p1.json"
        return json.loads(path.read_text()) if path.exists() else done.stdout + done.stderr

    def states(self, name):
        return sorted(path.name for path in (self.folder / name).glob("state-*"))

    def test_two_halves_are_the_whole(self):
        for mode in ("ring", "local-sgd", "parameter-server"):
            mode_words = ["--set", f"exchange.mode={mode}"]
            if mode == "local-sgd":
                mode_words += ["--set", "exchange.local_rounds=10"]
            whole = self.launch(f"{mode}-whole", *mode_words)
            half = self.launch(f"{mode}-half", *mode_words, "--until", "0.5")
            self.assertEqual(half["rounds"], whole["rounds"] // 2)
            self.assertEqual(self.states(f"{mode}-half"),
                             [f"state-p{k}-{half['rounds']}.safetensors" for k in (1, 2)])
            rest = self.launch(f"{mode}-rest", *mode_words, "--from", f"{mode}-half")
            self.assertEqual(rest["digest"], whole["digest"], mode)
            self.assertEqual(self.states(f"{mode}-rest"), [])  # what is another run's stays there
            other = self.launch(f"{mode}-other", *mode_words, "--from", f"{mode}-half", "--set",
                                "training.learning_rate=0.01")
            self.assertNotEqual(other["digest"], whole["digest"])

    def test_in_the_mode_ako(self):
        ako = ["--set", "exchange.mode=ako"]
        half = self.launch("half", *ako, "--until", "0.5")
        rest = self.launch("rest", *ako, "--from", "half", "--set", "training.momentum=0.5")
        self.assertTrue(half["identical"] and rest["identical"])
        self.assertGreater(rest["rounds"], half["rounds"])

    def test_what_cannot_branch(self):
        ring = ["--set", "exchange.mode=ring"]
        self.launch("half", *ring, "--until", "0.5")
        for words, why in ((["--set", "training.batch.local=20"], "another training.batch.local"),
                           (["--set", "seed=2"], "another seed")):
            said = self.launch(why.split()[1], *ring, *words, "--from", "half", expect=2)
            self.assertIn(why, said)
        said = self.launch("none", *ring, "--from", "nowhere", expect=2)
        self.assertIn("--from: there is no folder nowhere", said)
        self.launch("none", *ring, "--from", "half", "--resume", "half", expect=2)
