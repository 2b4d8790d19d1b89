"""The life of a Peer, with a fake library: rounds, anchor and the log; and of one with torch."""

import logging
import os
import signal
import unittest

import numpy as np

import ako
import bench
from ako import _library
from ako.peer import STEPLESS_MAX
from peer_case import Descent, PeerCase


class Joining(PeerCase):
    def test_what_the_library_is_told(self):
        self.join(Descent(), set=["training.epochs=2", "run=x"], output_dir="out", view="live",
                  local_steps=3)
        self.assertEqual(self.library.options, {
            "file": self.file.encode(), "peer": b"a", "view": _library.View.LIVE,
            "output_dir": b"out", "overrides": [b"training.epochs=2", b"run=x"]})
        self.assertEqual(self.library.layout, [("w", (2, 3), None), ("b", (2,), None)])
        self.assertEqual(self.library.requirements,
                         {"optimizer": "Descent", "local_steps": "3", "frozen": "none"})

    def test_data_digest(self):
        for digest, told in ((b"\x0f\xa0", "0fa0"), ("sha: 1", "sha: 1"), (-7, "-7"),
                             (b"\xff" * 32, "ff" * 32)):
            with self.subTest(digest=digest):
                self.join(data_digest=digest).close()
                self.assertEqual(self.library.data_digest, told)
        self.join().close()
        self.assertIsNone(self.library.data_digest)
        for digest in ("", "a\nb", b"\xff" * 33, "f" * 65):
            with self.subTest(digest=digest), self.assertRaisesRegex(ValueError, "data_digest"):
                self.join(data_digest=digest)

    def test_one_setting(self):
        self.join(set="training.epochs=2")
        self.assertEqual(self.library.options["overrides"], [b"training.epochs=2"])

    def test_name(self):
        self.assertEqual(self.join().name, "a")

    def test_arguments(self):
        for options, error in (({"view": "loud"}, ValueError), ({"samples": 0}, ValueError),
                               ({"local_steps": 0}, ValueError),
                               ({"samples_per_round": -1}, ValueError)):
            with self.assertRaises(error):
                self.join(**options)
        with self.assertRaises(TypeError):
            ako.join(self.file, "a")
        with self.assertRaises(TypeError):
            ako.join(self.file, "a", [1, 2])
        self.assertFalse(self.library.open, "closed after each")

    def test_closed_after_an_error(self):
        with self.assertRaises(ako.StartupError):
            ako.join(self.file, "a", {"w": np.zeros(3)})
        self.assertFalse(self.library.open)
        self.join()

    def test_version(self):
        self.assertEqual(ako.__version__, "0.0.0")


class Rounds(PeerCase):
    def test_story(self):
        with self.join(Descent(), samples=100) as peer:
            self.assertEqual(peer.run_folder, "")
            seen = []
            for batch in peer.rounds([np.zeros(20), np.ones(20)]):
                seen.append(int(batch[0]))
                peer._steps._optimizer.step()
                peer.loss(0.5)
            report = peer.finish()
            self.assertEqual(peer.run_folder, "runs/fake")
        self.assertEqual(seen, [0, 1, 0, 1, 0])
        self.assertEqual(self.library.samples_per_round, 20)
        self.assertEqual(self.library.losses, [0.5] * 5)
        self.assertEqual((report.rounds, report.samples, report.exit), (5, 100, 0))
        self.assertTrue(report.agreed and report.identical and not report.left)
        self.assertEqual(report.finished_with, ("a",))
        self.assertEqual(peer.parameters["w"].tolist(), [[-5.0] * 3] * 2)
        self.assertEqual(self.library.calls, ["open", "report", "close"])

    def test_without_an_optimizer(self):
        with self.join(samples=10) as peer:
            for batch in peer.rounds([[1, 2]]):
                peer.parameters["b"] += 1
        self.assertEqual(self.library.rounds, 5)
        self.assertEqual(self.library.losses, [None] * 5)
        self.assertEqual(peer.parameters["b"].tolist(), [5.0, 5.0])

    def test_first_batch_is_used(self):
        with self.join(samples=2) as peer:
            self.assertEqual(list(peer.rounds([[1], [2], [3]])), [[1], [2]])

    def test_waiting(self):
        self.library.waits = 2
        with self.join(samples=2) as peer:
            self.assertEqual(len(list(peer.rounds([[1]]))), 2)

    def test_accumulation(self):
        optimizer = Descent()
        with self.join(optimizer, samples=60, samples_per_round=6) as peer:
            for k, batch in enumerate(peer.rounds([[1, 2]]), 1):
                peer.loss(k % 3)
                if k % 3 == 0:
                    optimizer.step()
        self.assertEqual(k, 30)
        self.assertEqual(self.library.rounds, 10)
        self.assertEqual(self.library.losses, [1.0] * 10, "means")

    def test_accumulation_that_was_not_said(self):
        optimizer = Descent()
        with self.join(optimizer, samples=8) as peer:
            with self.assertWarnsRegex(UserWarning, "has 6 samples and counts as 2") as caught:
                for k, batch in enumerate(peer.rounds([[1, 2]]), 1):
                    if k % 3 == 0:
                        optimizer.step()
        self.assertEqual(caught.filename, __file__)
        self.assertEqual(self.library.rounds, 4)

    def test_local_steps(self):
        optimizer = Descent()
        with self.join(optimizer, samples=60, local_steps=3) as peer:
            for k, batch in enumerate(peer.rounds([[1, 2]]), 1):
                optimizer.step()
        self.assertEqual((k, self.library.rounds, self.library.samples_per_round), (30, 10, 6))

    def test_several_steps_for_a_batch(self):
        optimizer = Descent()
        with self.join(optimizer, samples=4) as peer:
            for batch in peer.rounds([[1, 2]]):
                optimizer.step()
                optimizer.step()
        self.assertEqual(self.library.rounds, 2)
        self.assertEqual(self.library.parameters.tolist(), [-4.0] * 8)

    def test_never_a_step(self):
        with self.assertRaisesRegex(RuntimeError, r"optimizer.step\(\) was never called"):
            with self.join(Descent(), samples=10) as peer:
                for k, batch in enumerate(peer.rounds([[1]])):
                    pass
        self.assertEqual(k, STEPLESS_MAX - 1)
        self.assertEqual(self.library.rounds, 0)

    def test_break_ends_no_round(self):
        optimizer = Descent()
        peer = self.join(optimizer, samples=10)
        for batch in peer.rounds([[1]]):
            optimizer.step()
            break
        self.assertEqual(self.library.rounds, 0)
        for batch in peer.rounds([[1]]):
            optimizer.step()
        self.assertEqual(self.library.rounds, 10)
        self.assertEqual(self.library.parameters.tolist(), [-10.0] * 8, "what was left is no step")

    def test_loops_in_turn(self):
        """As for each epoch."""
        optimizer = Descent()
        with self.join(optimizer, samples=10) as peer:
            for epoch in range(5):
                for k, batch in enumerate(peer.rounds([[1]])):
                    optimizer.step()
                    if k == 3:
                        break
        self.assertEqual(self.library.rounds, 10)

    def test_loops_at_once(self):
        peer = self.join(samples=10)
        with self.assertRaisesRegex(RuntimeError, "another loop"):
            for one, other in zip(peer.rounds([[1]]), peer.rounds([[2]])):
                pass

    def test_samples_of(self):
        peer = self.join(samples=10)
        next(peer.rounds(["xx"], samples_of=len))
        self.assertEqual(self.library.samples_per_round, 2)
        peer.close()
        peer = self.join(samples=10)
        peer.batch_samples = lambda batch: 7
        next(peer.rounds(["xx"]))
        self.assertEqual(self.library.samples_per_round, 7)

    def test_size_is_not_known(self):
        with self.assertRaisesRegex(ValueError, r"ako.join\(samples=..\)"):
            next(self.join().rounds([[1]]))

    def test_sampler(self):
        self.library.trainers, self.library.place = 2, 1
        peer = self.join()
        sampler = peer.sampler(list(range(10)), shuffle=False)
        peer.sampler(list(range(4)))
        next(peer.rounds([[1]]))
        self.assertEqual(self.library.samples, 10, "the first counts")
        indices = iter(sampler)
        self.assertEqual([next(indices) for _ in range(6)], [5, 6, 7, 8, 9, 5])

    def test_standing(self):
        peer = self.join(samples=10)
        self.assertEqual((peer.progress, peer.standing.seed, peer.standing.trainers), (0, 1, 1))
        rounds = peer.rounds([[1]])
        for _ in range(6):
            next(rounds)
        self.assertEqual((peer.progress, peer.standing.rounds), (0.5, 5))
        self.assertIs(peer.evaluates, True)

    def test_loader_fails(self):
        def loader():
            raise OSError("disk")
            yield

        class Loader:
            passes = 0

            def __iter__(self):
                self.passes += 1
                return loader() if self.passes > 1 else iter([[1]])

        with self.assertRaisesRegex(OSError, "disk"):
            list(self.join(samples=9).rounds(Loader()))
        self.assertEqual(self.library.rounds, 1)

    def test_loader_fails_after_a_stop(self):
        """As that of a DataLoader does whose processes Ctrl-C has ended too."""
        class Loader:
            def __iter__(self):
                yield [1]
                os.kill(os.getpid(), signal.SIGINT)
                raise RuntimeError("DataLoader worker exited unexpectedly")

        with self.assertRaises(ako.Interrupted), self.assertLogs("ako", "WARNING") as logged:
            with self.join(samples=9) as peer:
                for batch in peer.rounds(Loader()):
                    pass
        self.assertEqual(self.library.rounds, 1)
        self.assertIn("DataLoader worker exited unexpectedly", logged.output[0])


class Numbers(PeerCase):
    def test_not_finite(self):
        with self.assertRaises(ako.NotFinite) as caught:
            with self.join(samples=10) as peer:
                for batch in peer.rounds([[1]]):
                    peer.parameters["b"][1] = np.nan
        self.assertEqual(caught.exception.what, "a parameter is not finite (the first is in b)")
        self.assertEqual(caught.exception.hint, "use a smaller learning rate")
        self.assertEqual(caught.exception.report.exit, 3)
        self.assertEqual(self.library.calls, ["open", "report", "close"])

    def test_losses_not_finite(self):
        """The library counts them and ends this peer; of a round some of whose losses are numbers
        these alone count."""
        self.library.refused_round = 4
        losses = [[1.0], [np.nan, 2.0, np.inf, 4.0], [np.nan, np.inf], [np.nan], []]
        with self.assertRaisesRegex(ako.NotFinite, "20 losses in a row") as caught:
            with self.join(samples=1000) as peer:
                for of_round, _ in zip(losses, peer.rounds([[1]] * 1000)):
                    for loss in of_round:
                        peer.loss(loss)
        self.assertEqual(caught.exception.exit, 3)
        np.testing.assert_array_equal(self.library.losses, [1.0, 3.0, np.nan])

    def test_give_up(self):
        for ending, kind, status in (("failed", ako.StartupError, 2), ("broken", ako.Error, 5),
                                     ("numbers", ako.NotFinite, 3),
                                     ("interrupted", ako.Interrupted, 130)):
            self.library.give_up = ending
            with self.assertRaises(kind) as caught:
                with self.join(samples=10) as peer:
                    list(peer.rounds([[1]]))
            self.assertEqual(caught.exception.exit, status)
            self.assertEqual(caught.exception.what, "it cannot go on")
            self.assertEqual(caught.exception.hint, "wait for it")
            self.assertEqual(caught.exception.report.ending, ending)
            self.assertFalse(self.library.open)


class Anchor(PeerCase):
    def setUp(self):
        super().setUp()
        self.optimizer = Descent()
        self.peer = self.join(self.optimizer, samples=10)
        self.rounds = self.peer.rounds([[1]])
        next(self.rounds)
        self.optimizer.step()
        next(self.rounds)
        self.optimizer.step()  # not a part of the anchor yet

    def test_inside_and_after(self):
        with self.peer.anchor():
            self.assertEqual(self.peer.parameters["b"].tolist(), [-1.0, -1.0])
            self.peer.parameters["b"][:] = 9
        self.assertEqual(self.peer.parameters["b"].tolist(), [-2.0, -2.0])
        next(self.rounds)
        self.assertEqual(self.library.rounds, 2)

    def test_exception(self):
        with self.assertRaises(KeyError), self.peer.anchor():
            raise KeyError
        self.assertEqual(self.peer.parameters["b"].tolist(), [-2.0, -2.0])
        with self.peer.anchor():
            pass

    def test_nested(self):
        with self.assertRaisesRegex(RuntimeError, "inside another one"):
            with self.peer.anchor(), self.peer.anchor():
                pass
        self.assertEqual(self.peer.parameters["b"].tolist(), [-2.0, -2.0])

    def test_step_inside(self):
        with self.assertRaisesRegex(RuntimeError, "has stepped inside"), self.peer.anchor():
            self.optimizer.step()
        self.assertEqual(self.peer.parameters["b"].tolist(), [-2.0, -2.0])

    def test_round_inside(self):
        with self.assertRaisesRegex(RuntimeError, "no round ends inside"), self.peer.anchor():
            next(self.rounds)
        with self.assertRaisesRegex(RuntimeError, "no round begins inside"), self.peer.anchor():
            next(self.peer.rounds([[1]]))

    def test_announce(self):
        with self.peer.anchor():
            pass
        next(self.rounds)
        self.peer.announce(0.5, 2)
        self.peer.announce(0.75)
        self.assertEqual(self.library.announced,
                         [(0.1, 0.5, 2.0), (0.2, 0.75, None)], "as of the anchor; as of now")

    def test_after_the_end(self):
        for _ in self.rounds:
            self.optimizer.step()
        self.library.agreed_shift = 1
        self.peer.finish()
        agreed = self.peer.parameters["b"].tolist()
        with self.peer.anchor():
            self.assertEqual(self.peer.parameters["b"].tolist(), agreed)


class Log(PeerCase):
    def test_lines(self):
        with self.assertLogs("ako", logging.INFO) as logged:
            with self.join(samples=3, view="none") as peer:
                list(peer.rounds([[1]]))
        self.assertEqual([record.getMessage() for record in logged.records],
                         ["round 1", "round 2", "round 3"])
        self.assertEqual(self.library.options["view"], _library.View.NONE)

    def test_not_taken(self):
        with self.join(samples=3) as peer:
            list(peer.rounds([[1]]))
        self.assertEqual(len(self.library.log), 3)


@bench.needs_torch
class OfTorch(bench.FakeCase):
    epochs = 20

    def test_learns(self):
        torch = bench.torch
        torch.manual_seed(1)
        x = torch.randn(64, 3)
        y = x @ torch.tensor([[1.0], [-2.0], [0.5]]) + 0.25
        data = torch.utils.data.TensorDataset(x, y)
        model = torch.nn.Linear(3, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.5)
        scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 40)
        with ako.join(self.file, "a", model, optimizer) as peer:
            loader = torch.utils.data.DataLoader(data, 16, sampler=peer.sampler(data))
            for inputs, targets in peer.rounds(loader):
                optimizer.zero_grad()
                loss = torch.nn.functional.mse_loss(model(inputs), targets)
                loss.backward()
                optimizer.step()
                scheduler.step()
                peer.loss(loss)
            report = peer.finish(lambda: (1.0, loss.item()))
        self.assertEqual(report.rounds, 80)
        self.assertLess(self.library.losses[-1], 1e-3)
        self.assertAlmostEqual(model.bias.item(), 0.25, 2)
        self.assertEqual(self.library.requirements["optimizer"],
                         "SGD dampening=0 lr=0.1 momentum=0.5 weight_decay=0")

    def test_other_host_memory(self):
        """The path of a model on a GPU, with both memories on the CPU."""
        torch = bench.torch
        from ako import torch_model

        class Apart(torch_model.ModelVector):
            def __init__(self, model):
                super().__init__(model, shared=False)

        model = torch.nn.Linear(3, 1)
        self.library.agreed_shift = 2
        with bench.mock.patch.object(torch_model, "ModelVector", Apart):
            with ako.join(self.file, "a", model, samples=1) as peer:
                for k, batch in enumerate(peer.rounds([[1]]), 1):
                    with torch.no_grad():
                        model.bias.fill_(k)
                    with peer.anchor():
                        self.assertNotEqual(model.bias.item(), k)
                    self.assertEqual(model.bias.item(), k)
        self.assertEqual(model.bias.item(), 22)


if __name__ == "__main__":
    unittest.main()
