"""Whole searches: what is computed once, stopped, resumed, and survives lost workers."""

import json
import os
import re
import signal
import subprocess

import cases

PLAN = """\
name: search
program: [/usr/bin/python3, train.py]
resumes: true
stages:
  - start: {epochs: 2}
  - train: {epochs: 2, explore: {x: [0.1, 0.2, 0.3, 0.4]}}
choose: {score: quality}
"""


OF_AKO = """\
name: search
cluster: cluster.yaml
validation: 0
stages:
  - start: {epochs: 1}
"""


class Searches(cases.Case):
    def test_shared_work_is_done_once(self):
        self.write(PLAN)
        said = self.explore()
        found = self.results()
        self.assertEqual(found["stages_computed"], 5)
        branches = [f"{x} {epoch}" for x in (0.1, 0.2, 0.3, 0.4) for epoch in (3, 4)]
        self.assertEqual(sorted(self.made()), sorted(["0.0 1", "0.0 2", *branches]))
        self.assertIn("x 0.3", said.splitlines()[-3])
        page = (self.folder / "explore/search/explore.html").read_text()
        shown = json.loads(re.search("^const search = (.*);$", page, re.MULTILINE)[1])
        self.assertEqual([trial["config"]["x"] for trial in shown["trials"]], [0.1, 0.2, 0.3, 0.4])
        self.assertEqual(shown["winners"], [2])
        self.assertEqual(len(shown["stages"]), 5)
        self.assertEqual((self.folder / "explore/search/best.yaml").read_text(), "x: 0.3\n")

    def test_found_again_in_the_next_search(self):
        self.write(PLAN)
        self.explore()
        made = self.made()
        self.write(PLAN.replace("0.4]", "0.5]").replace("name: search", "name: next"))
        self.explore()
        self.assertEqual(sorted(set(self.made()) - set(made)), ["0.5 3", "0.5 4"])
        # The beginning had been dropped, for nobody needed it any more: it is made once more.
        self.assertEqual(self.results("next")["computed_again"], 1)

    def test_what_a_program_imports_from_beside_itself_counts(self):
        (self.folder / "train.py").write_text(f"import pace\n{cases.PROGRAM}")
        (self.folder / "pace.py").write_text("STEP = 1\n")
        self.write(PLAN)
        before = self.explore("--list")
        (self.folder / "other.py").write_text("")
        self.assertEqual(self.explore("--list"), before)
        (self.folder / "pace.py").write_text("STEP = 2\n")
        self.assertNotEqual(self.explore("--list"), before)

    def test_a_failure_is_a_result(self):
        self.write(PLAN.replace("x: [0.1, 0.2, 0.3, 0.4]", "x: [0.1, 0.2], fails: [0, 1]"))
        self.explore()
        failed = [t for t in self.results()["trials"] if t["state"] == "failed"]
        self.assertEqual([t["config"]["fails"] for t in failed], [1, 1])
        self.assertIn("of no use", failed[0]["why"])

    def test_a_search_without_a_winner(self):
        self.write(PLAN.replace("x: [0.1, 0.2, 0.3, 0.4]", "fails: [1]"))
        self.explore(expect=1)

    def test_losers_are_stopped(self):
        self.write("""\
name: search
program: [/usr/bin/python3, train.py]
stages:
  - train: {epochs: 60, settings: {seconds: 0.1}, explore: {x: [0.3, 9]}}
choose: {score: quality, stop: {threshold: {epochs: 2, score: 0}}}
""")
        self.explore()
        lost = self.results()["trials"][1]
        self.assertEqual((lost["state"], "not 0 after 2 epochs" in lost["why"]), ("dropped", True))
        epochs = max(int(line.split()[1]) for line in self.made() if line.startswith("9"))
        self.assertLess(epochs, 60)

    def test_the_first_good_one_ends_it(self):
        self.write(PLAN.replace("score: quality", "score: quality, stop: {first_good: 3.79}"))
        self.explore(slots=1)
        states = [trial["state"] for trial in self.results()["trials"]]
        self.assertEqual(states, ["done", "done", "dropped", "dropped"][:1] + states[1:])
        self.assertIn("dropped", states)

    def test_rungs_of_what_resumes(self):
        self.write(PLAN.replace("[0.1, 0.2, 0.3, 0.4]", "[0.3, 0.9, 5, 7]").replace(
            "score: quality", "score: quality, stop: {asha: {eta: 2, grace_epochs: 1}}"))
        self.explore()
        trials = self.results()["trials"]
        self.assertEqual(trials[0]["state"], "done")
        self.assertEqual([t["state"] for t in trials[2:]], ["dropped", "dropped"])
        self.assertEqual(self.made().count("7 4"), 0)

    def test_of_few_the_best_comes_to_its_end(self):
        """As many as go on are none of two, with eta 3."""
        self.write(PLAN.replace("[0.1, 0.2, 0.3, 0.4]", "[0.1, 0.3]").replace(
            "score: quality", "score: quality, stop: {asha: {eta: 3, grace_epochs: 1}}"))
        self.explore()
        self.assertEqual([trial["state"] for trial in self.results()["trials"]],
                         ["dropped", "done"])
        done = self.results()["trials"]
        self.explore("--resume")  # of what is finished changes nothing
        self.assertEqual([trial["state"] for trial in self.results()["trials"]],
                         [trial["state"] for trial in done])
        self.assertEqual(self.results()["stages_computed"], 0)

    def test_what_cannot_be_made_again_is_a_failure(self):
        """The beginning's data are gone, and it fails when it is made once more."""
        self.write(PLAN)
        self.explore()
        self.write(PLAN.replace("0.4]", "0.5]").replace("name: search", "name: next"))
        (self.folder / "fails").touch()
        self.explore()
        last = self.results("next")["trials"][-1]
        self.assertEqual((last["state"], "out of order" in last["why"]), ("failed", True))

    def test_sampled(self):
        self.write(PLAN.replace("[0.1, 0.2, 0.3, 0.4]", "{low: 0, high: 1}") +
                   "sampler: tpe\nbudget: {trials: 5}\n")
        self.explore()
        self.assertEqual(len(self.results()["trials"]), 5)
        self.explore("--resume")
        self.assertEqual(len(self.results()["trials"]), 5)
        self.assertEqual(self.made().count("0.0 1"), 1)

    def test_resumed(self):
        self.write(PLAN.replace("epochs: 2, explore", "epochs: 6, explore"))
        process = self.start()
        journal = self.folder / "explore/search/journal.jsonl"
        self.wait_for(lambda: journal.exists() and journal.read_text().count('"stage"') > 1,
                      "two stages")
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        before = len(list((self.folder / "explore/store/stages").iterdir()))
        self.assertIn("--resume goes on", self.explore(expect=2))
        self.explore("--resume")
        found = self.results()
        self.assertEqual(found["stages_computed"], 5 - before)
        self.assertEqual([trial["score"] for trial in found["trials"]], [7.8, 7.9, 8.0, 7.9])

    def test_a_worker_is_killed(self):
        self.write(PLAN.replace("epochs: 2, explore", "epochs: 20, explore"))
        process = self.start()
        self.wait_for(lambda: len(self.made()) > 3, "training")
        workers = subprocess.run(["pgrep", "--session", str(process.pid), "--full", "spawn_main"],
                                 capture_output=True, text=True, check=True).stdout.split()
        for worker in workers:
            os.kill(int(worker), signal.SIGKILL)
        said, _ = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0, said)
        found = self.results()
        self.assertEqual([trial["state"] for trial in found["trials"]], ["done"] * 4)
        self.assertGreaterEqual(found["lost_with_workers"], 1)

    def test_too_small(self):
        self.write(PLAN + "units: {peers: 2, cores: 2}\n")
        self.assertIn("takes 4 slots, and there are 2", self.explore(expect=2))


class OfAko(cases.Case):
    def test_goes_on_where_only_the_model_is_taken_over(self):
        """Another mode begins at the parent's model, and its rungs branch from one another."""
        self.write(OF_AKO + """\
  - train: {epochs: 1, explore: {exchange.mode: [ring], training.momentum: [0.5, 0.8, 0.9]}}
choose: {score: loss, stop: {asha: {eta: 2, grace_epochs: 0.25}}}
units: {peers: 2}
""")
        self.explore()
        trials = self.results()["trials"]
        self.assertIn("done", [trial["state"] for trial in trials])
        self.assertEqual([trial["why"] for trial in trials if trial["state"] == "failed"], [])
        done = next(trial for trial in trials if trial["state"] == "done")
        self.assertEqual([point[0] for point in done["curve"]][-1], 2)
        self.assertEqual(sorted(point[0] for point in done["curve"]),
                         [point[0] for point in done["curve"]])
        best = (self.folder / "explore/search/best.yaml").read_text()
        self.assertIn("mode: ring", best)
        self.assertIn("count: 2", best)

    def test_trains_branches_and_keeps_bits(self):
        self.write(OF_AKO + """\
  - train: {explore: {training.learning_rate: [0.05, 0.1], epochs: [1, 2]}}
choose: {score: loss}
""")
        self.explore()
        found = self.results()
        self.assertEqual([trial["state"] for trial in found["trials"]], ["done"] * 4)
        self.assertEqual(found["stages_computed"], 5)
        # The same without a search: the rate does not change, so the branch is one run of 3 epochs.
        subprocess.run([cases.AKO, "launch", "cluster.yaml", "--free-ports", "--plain",
                        "--output-dir", "alone", "--set", "training.epochs=3"], cwd=self.folder,
                       check=True, capture_output=True, stdin=subprocess.DEVNULL)
        alone = (self.folder / "alone/result-p1.json").read_text()
        self.assertIn(found["trials"][1]["digest"], alone)
        self.explore(expect=2)

    def test_a_key_that_no_file_has(self):
        self.write("name: search\ncluster: cluster.yaml\nstages:\n  - train: {epochs: 1, explore: "
                   "{training.learning_rat: [1]}}\n")
        said = self.explore(expect=2)
        self.assertIn("plan.yaml:4: ", said)
        self.assertIn("did you mean training.learning_rate", said)
