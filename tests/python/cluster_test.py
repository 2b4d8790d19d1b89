"""Three real peers on this machine, each a program of programs/, with the real library.

They need AKO_LIBRARY, the path of libako.so; without it they are skipped.
"""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
import unittest

import bench

TIMEOUT_S = 120  # of a program, many times what it takes
NAMES = ("a", "b", "c")
LOCAL_SGD = ("--set", "exchange.mode=local-sgd", "--set", "exchange.local_rounds=4")

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(bench.SOURCE), "PYTHONUNBUFFERED": "1"}


class Peer:
    """One process. Its output goes to files, so that no pipe is ever full."""

    def __init__(self, folder, program, file, name, *options):
        self.out = pathlib.Path(folder) / f"{name}.out"
        self.err = pathlib.Path(folder) / f"{name}.err"
        with open(self.out, "w") as out, open(self.err, "w") as err:
            self.process = subprocess.Popen(
                [sys.executable, str(bench.PROGRAMS / program), file, name, *options],
                stdout=out, stderr=err, stdin=subprocess.DEVNULL, env=ENVIRONMENT, cwd=folder,
                start_new_session=True)

    def wait(self):
        return self.process.wait(TIMEOUT_S)

    def errors(self):
        return self.err.read_text()

    def result(self):
        return json.loads(self.out.read_text().strip().splitlines()[-1])

    def wait_until_it_trains(self):
        end = time.monotonic() + TIMEOUT_S
        while "began\n" not in self.errors():
            if time.monotonic() > end or self.process.poll() is not None:
                raise AssertionError(f"it does not train:\n{self.errors()}")
            time.sleep(0.02)


@unittest.skipUnless(bench.HAS_LIBRARY, "no library: AKO_LIBRARY is not set")
class ClusterCase(bench.Case):
    def setUp(self):
        super().setUp()
        self.file = bench.write_cluster(self.folder, NAMES)
        self.peers = []
        self.addCleanup(self.end)

    def end(self):
        for peer in self.peers:
            if peer.process.poll() is None:
                os.killpg(peer.process.pid, signal.SIGKILL)
                peer.process.wait()

    def begin(self, program, *options, own=None):
        """All peers; `own`: more options of some, by name."""
        self.peers = [Peer(self.folder, program, self.file, name, *options,
                           *(own or {}).get(name, ())) for name in NAMES]
        return self.peers

    def begin_without_patience(self, program, own):
        """All peers, of which some will refuse each other; until all have ended."""
        self.file = bench.write_cluster(self.folder, NAMES, start_wait_s=8)
        for peer in self.begin(program, own=own):
            peer.wait()

    def check_ends(self, **statuses):
        for peer, name in zip(self.peers, NAMES):
            status = peer.wait()
            self.assertEqual(status, statuses.get(name, 0), f"{name}:\n{peer.errors()}")

    def check_identical(self, names=NAMES, loss=None):
        results = [peer.result() for peer, name in zip(self.peers, NAMES) if name in names]
        for result in results:
            self.assertTrue(result["agreed"] and result["identical"], result)
            self.assertEqual(sorted(result["finished_with"]), sorted(names))
            if loss is not None:
                self.assertLess(result["final_loss"], loss)
        self.assertEqual(len({result["digest"] for result in results}), 1)
        return results


class WithNumPy(ClusterCase):
    def test_line(self):
        # Rounds of no length would be over at the first peer before the others have begun.
        self.begin("line.py", "--epochs", "6", "--sleep", "0.003")
        self.check_ends()
        results = self.check_identical(loss=1e-3)
        self.assertGreaterEqual(sum(result["samples"] for result in results), 18_000 * 0.9)

    def test_exception_in_one(self):
        self.begin("line.py", "--epochs", "4", "--sleep", "0.01", own={"b": ["--fail-at", "20"]})
        self.check_ends(b=1)
        self.assertIn("ZeroDivisionError: of the program", self.peers[1].errors())
        self.check_ended("program", "ZeroDivisionError: of the program",
                         r"b ended after round \d+: its program ended \(ZeroDivisionError: of the "
                         r"program\); what it gave up to round \d+ stays")

    def check_ended(self, cause, why, said):
        """The others go on, and both name b with its cause, in the log and in the report."""
        for result in self.check_identical(("a", "c"), loss=0.1):
            (left,) = result["left_peers"]
            self.assertEqual((left["peer"], left["cause"]), ("b", cause))
            self.assertRegex(left["why"], why)
            self.assertEqual(result["lost_peers"], [])
        for peer in (self.peers[0], self.peers[2]):
            self.assertRegex(peer.errors(), said)
        return left

    def test_step_explodes_in_one(self):
        self.begin("line.py", "--epochs", "4", "--sleep", "0.01",
                   own={"b": ["--explode-at", "20"]})
        self.check_ends(b=3)
        self.assertIn("ako.NotFinite: the update of round", self.peers[1].errors())
        self.assertIn("lower the learning rate of the program's", self.peers[1].errors())
        left = self.check_ended("numbers", "the update of round .* is far beyond what is usual",
                                r"b ended at round \d+: its numbers are not to be trusted \(the ")
        self.assertEqual(left["since"], left["rounds"] + 1)

    def test_losses_of_one_are_no_numbers(self):
        self.begin("line.py", "--epochs", "6", "--sleep", "0.01",
                   own={"b": ["--no-loss-from", "20"]})
        self.check_ends(b=3)
        self.assertIn("is not finite: after 20 such rounds in a row this peer ends",
                      self.peers[1].errors())
        self.assertIn("b  20 losses are not numbers", self.peers[1].errors())
        left = self.check_ended("numbers", "^20 losses in a row are not finite$",
                                r"b ended after round \d+: its numbers are not to be trusted from "
                                r"round \d+ on \(20 losses in a row are not finite\)")
        self.assertEqual(left["since"], left["rounds"] - 18)

    def test_killed(self):
        self.begin("line.py", "--epochs", "8", "--sleep", "0.02", own={"b": ["--die-at", "20"]})
        self.check_ends(b=-signal.SIGKILL)
        results = self.check_identical(("a", "c"), loss=0.1)
        self.assertEqual(results[0]["lost_peers"], ["b"])

    def test_interrupted(self):
        self.begin("line.py", "--epochs", "1000", "--sleep", "0.01")
        for peer in self.peers:
            peer.wait_until_it_trains()
        self.peers[1].process.send_signal(signal.SIGINT)
        self.check_ends(b=130)
        self.assertIn("ako.Interrupted", self.peers[1].errors())
        for result in (self.peers[0].result(), self.peers[2].result()):
            self.assertEqual(result["exit"], 7)
            self.assertEqual(sorted(result["finished_with"]), list(NAMES))

    def test_stop(self):
        """One of them has seen enough: all agree, and nobody is interrupted."""
        self.begin("line.py", "--epochs", "1000", "--sleep", "0.003",
                   own={"b": ["--stop-at", "40"]})
        self.check_ends()
        results = [peer.result() for peer in self.peers]
        self.assertEqual([result["exit"] for result in results], [7, 130, 7])
        self.assertEqual(len({result["digest"] for result in results}), 1)

    def test_terminated(self):
        """It leaves alone, and the others go on."""
        self.begin("line.py", "--epochs", "10", "--sleep", "0.01")
        for peer in self.peers:
            peer.wait_until_it_trains()
        self.peers[1].process.send_signal(signal.SIGTERM)
        self.check_ends(b=143)
        self.assertIn("NoAgreementWarning: this peer left", self.peers[1].errors())
        results = self.check_identical(("a", "c"), loss=0.1)
        self.assertEqual([left["peer"] for left in results[0]["left_peers"]], ["b"])

    def test_break_in_one(self):
        """What it has learned stays with the others."""
        self.begin("line.py", "--epochs", "6", "--sleep", "0.01", own={"b": ["--break-at", "20"]})
        self.check_ends()
        self.assertIn("NoAgreementWarning: this peer left", self.peers[1].errors())
        left = self.peers[1].result()
        self.assertEqual((left["ending"], left["exit"], left["rounds"]), ("left", 143, 20))
        self.assertEqual(left["evaluated"], 0)
        self.check_identical(("a", "c"), loss=0.1)

    def test_local_sgd(self):
        """Where all wait for each other, with the anchor within a round."""
        self.begin("line.py", *LOCAL_SGD, "--anchor-at", "5")
        self.check_ends()
        self.check_identical(loss=0.1)

    def test_local_sgd_left_early(self):
        """Nobody can leave alone there: all stop, and nobody waits for a round that none makes."""
        began = time.monotonic()
        self.begin("line.py", *LOCAL_SGD, "--epochs", "1000", own={"b": ["--break-at", "30"]})
        for peer in self.peers:
            peer.wait()
        self.assertLess(time.monotonic() - began, 60)
        results = [peer.result() for peer in self.peers]
        self.assertEqual({result["agreed"] for result in results}, {True})
        self.assertEqual(len({result["digest"] for result in results}), 1)

    def test_local_sgd_fails(self):
        began = time.monotonic()
        self.begin("line.py", *LOCAL_SGD, "--epochs", "1000", own={"b": ["--fail-at", "30"]})
        for peer in self.peers:
            peer.wait()
        self.assertLess(time.monotonic() - began, 60)
        self.assertIn("ZeroDivisionError", self.peers[1].errors())
        self.check_broken(5, r"peer b is gone, .*: it ended( after round \d+)?: its program ended "
                          r"\(ZeroDivisionError: of the program\)")

    def check_broken(self, status, *said):
        """The others end for b, with its cause."""
        for peer in (self.peers[0], self.peers[2]):
            self.assertEqual(peer.process.returncode, status, peer.errors())
            for text in said:
                self.assertRegex(peer.errors(), text)

    def test_local_sgd_step_explodes_in_one(self):
        """Whose numbers are fine is told to look at b, and not at a learning rate of its own."""
        self.begin("line.py", *LOCAL_SGD, "--epochs", "1000", own={"b": ["--explode-at", "30"]})
        for peer in self.peers:
            peer.wait()
        self.assertEqual(self.peers[1].process.returncode, 3, self.peers[1].errors())
        self.check_broken(3, r"peer b is gone, .*: it ended at round \d+: its numbers are not to "
                          r"be trusted \(the update of round \d+ is far beyond what is usual",
                          "look at the data, the learning rate and the log of peer b")
        for peer in (self.peers[0], self.peers[2]):
            self.assertNotIn("lower the learning rate", peer.errors())

    def refused(self, own, *words):
        """All start, and the odd one does not train with the others; both say why."""
        self.begin_without_patience("line.py", own=own)
        for name, said in zip(NAMES, (peer.errors() for peer in self.peers)):
            if name in own or name == "a":
                for word in words:
                    self.assertRegex(said, word, name)

    def test_another_model(self):
        self.refused({"b": ["--extra"]}, r"tensors\.more")

    def test_another_data_set(self):
        self.refused({"b": ["--samples", "2999"]},
                     r"data\.train_count differs: .*2,999 items", "3,000 items")

    def test_another_data_digest(self):
        """Who says none is told apart from who says one, too."""
        self.refused({"b": ["--data-digest", "0f"]}, r"data\.digest differs: ", "0f", "nothing")

    def test_initial_of_the_lowest(self):
        """Where they begin does not matter but for the first one, and who comes late has it too."""
        self.file = bench.write_cluster(self.folder, NAMES, start_wait_s=5,
                                        exchange=", start_peers_min: 2")
        own = {"b": ["--start", "40"], "c": ["--start", "-3000"]}
        options = ("--epochs", "12", "--sleep", "0.02", "--initial", "lowest")
        self.peers = [Peer(self.folder, "line.py", self.file, name, *options, *own.get(name, ()))
                      for name in ("a", "b")]
        for peer in self.peers:
            peer.wait_until_it_trains()
        self.peers.append(Peer(self.folder, "line.py", self.file, "c", *options, *own["c"]))
        self.check_ends()
        self.assertIn("joins a run", self.peers[2].errors())
        self.check_identical(loss=1e-2)

    def test_lowest_returns(self):
        """Another process of the first peer takes over what its own process began with."""
        self.begin("line.py", "--epochs", "24", "--sleep", "0.02", "--initial", "lowest",
                   own={"a": ["--die-at", "20"], "b": ["--start", "7"]})
        self.peers[0].wait()
        self.peers[0] = Peer(self.folder, "line.py", self.file, "a", "--epochs", "24", "--sleep",
                             "0.02", "--initial", "lowest", "--start", "500")
        self.check_ends()
        self.check_identical(loss=1e-2)

    def test_one_means_the_same(self):
        self.refused({"b": ["--initial", "lowest"]}, "initial: ")

    def test_another_beginning(self):
        self.refused({"b": ["--start", "0.5"]}, "parameters")


@bench.needs_torch
class WithTorch(ClusterCase):
    def test_sgd(self):
        self.begin("classifier.py")
        self.check_ends()
        self.check_classifiers()

    def test_adamw(self):
        self.begin("classifier.py", "--optimizer", "adamw")
        self.check_ends()
        self.check_classifiers()

    def test_recipe(self):
        """Groups of parameters, a schedule by progress, autocast, accumulation, clipping."""
        self.begin("classifier.py", "--optimizer", "recipe", "--epochs", "16")
        self.check_ends()
        self.check_classifiers()

    def test_initial_of_the_lowest(self):
        self.begin("classifier.py", "--initial", "lowest",
                   own={"b": ["--seed", "2"], "c": ["--seed", "3"]})
        self.check_ends()
        self.check_classifiers()

    def test_forked_loader(self):
        self.begin("classifier.py", "--workers", "2", "--method", "fork")
        self.check_ends()
        self.check_classifiers()

    def test_spawned_loader(self):
        self.begin("classifier.py", "--workers", "2", "--method", "spawn")
        self.check_ends()
        self.check_classifiers()

    def test_interrupted_with_loaders(self):
        """As by Ctrl-C at a terminal: all processes of the group hear it."""
        for method in ("fork", "spawn"):
            with self.subTest(method):
                self.begin("classifier.py", "--workers", "2", "--method", method,
                           "--epochs", "1000")
                for peer in self.peers:
                    peer.wait_until_it_trains()
                os.killpg(self.peers[1].process.pid, signal.SIGINT)
                self.check_ends(b=130)
                for peer in (self.peers[0], self.peers[2]):
                    self.assertEqual(sorted(peer.result()["finished_with"]), list(NAMES))

    def test_another_layer(self):
        self.begin_without_patience("classifier.py", own={"b": ["--extra"]})
        for peer in self.peers[:2]:
            for count in (8, 10):
                self.assertRegex(peer.errors(),
                                 rf"parameters: .*in {count} tensors (here|at [abc])")
            self.assertRegex(peer.errors(), r"tensors\.3\.weight: \d+ 16 here, \d+ 16 at [abc]")

    def test_another_optimizer(self):
        self.begin_without_patience("classifier.py", own={"b": ["--optimizer", "adamw"]})
        for peer in self.peers[:2]:
            self.assertIn("AdamW betas=", peer.errors())
            self.assertIn("SGD dampening=", peer.errors())

    def check_classifiers(self):
        results = self.check_identical(loss=0.2)
        self.assertEqual(len({result["state"] for result in results}), 1)
        evaluated = [accuracy for result in results for accuracy in result["evaluated"]]
        self.assertTrue(evaluated, "one of them has evaluated the anchor")
        self.assertGreater(max(evaluated), 0.8)


if __name__ == "__main__":
    unittest.main()
