"""Mistakes that users make, each with what they see; and what looks like one and is none.

With the real library where AKO_LIBRARY is set, else with the fake one; a cluster of one peer. What
takes several peers, such as models, data sets or beginnings that differ: cluster_test.py.
"""

import copy
import os
import tempfile
import threading
import unittest
import warnings

import numpy as np

import ako
import bench

torch = bench.torch
SAMPLES, BATCH = 64, 8


class MistakeCase(bench.LibraryCase):
    def join(self, model, optimizer=None, **options):
        options.setdefault("samples", SAMPLES)
        peer = ako.join(self.file, "a", model, optimizer, view="none", **options)
        self.addCleanup(peer.close)
        return peer

    def sees(self, kind, words):
        return self.assertRaisesRegex(kind, words)


class WithNumPy(MistakeCase):
    batches = [np.zeros(BATCH)] * 3

    def model(self):
        return {"w": np.zeros(3, dtype=np.float32)}

    def test_wrong_file(self):
        missing = os.path.join(self.folder, "missing.yaml")
        with self.sees(ako.StartupError, "missing.yaml"):
            ako.join(missing, "a", self.model())
        self.join(self.model())

    def test_no_file(self):
        with self.sees(ako.StartupError, "cluster file"):
            ako.join(None, "a", self.model())

    def test_wrong_peer(self):
        with self.sees(ako.StartupError, "z"):
            ako.join(self.file, "z", self.model())
        self.join(self.model())

    def test_two_at_once(self):
        first = self.join(self.model())
        with self.sees(ako.StartupError, "is a peer already"):
            ako.join(self.file, "a", self.model())
        self.assertEqual(first.progress, 0, "the first goes on")
        first.close()
        self.join(self.model())

    def test_fork(self):
        """A child may not use the peer, and its parent goes on as if nothing were."""
        with self.join(self.model()) as peer:
            rounds = peer.rounds(self.batches)
            next(rounds)
            child = os.fork()
            if child == 0:
                try:
                    next(rounds)
                except RuntimeError as error:
                    os._exit(3 if "only the process that called ako.join" in str(error) else 4)
                os._exit(5)
            self.assertEqual(os.WEXITSTATUS(os.waitpid(child, 0)[1]), 3)
            for _ in rounds:
                pass
            self.assertTrue(peer.finish().agreed)

    def test_other_thread(self):
        peer = self.join(self.model())
        seen = []

        def use():
            for call in (lambda: peer.progress, lambda: next(peer.rounds(self.batches)),
                         peer.close):
                try:
                    call()
                except RuntimeError as error:
                    seen.append(str(error))

        thread = threading.Thread(target=use)
        thread.start()
        thread.join()
        self.assertEqual(len(seen), 3)
        for said in seen:
            self.assertIn("another thread than the one that called ako.join", said)
        self.assertEqual(peer.progress, 0, "it was not closed")

    def test_finish_forgotten(self):
        with self.join(self.model()) as peer:
            for batch in peer.rounds(self.batches):
                peer.parameters["w"] += 1
        self.assertTrue(peer.finish().agreed)
        self.assertEqual(peer.parameters["w"][0], SAMPLES // BATCH)

    def test_finish_twice(self):
        with self.join(self.model()) as peer:
            list(peer.rounds(self.batches))
            self.assertIs(peer.finish(), peer.finish())

    def test_finish_before_training(self):
        with self.join(self.model()) as peer, self.sees(RuntimeError, "training has not begun"):
            peer.finish()

    def test_break_before_the_end(self):
        """Of the only peer it ends the run; where others go on: cluster_test.py."""
        with self.join(self.model()) as peer, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for batch in peer.rounds(self.batches):
                break
            try:
                report = peer.finish()
            except ako.Interrupted as error:
                report = error.report
            self.assertIn(report.exit, (130, 143))
            self.assertIs(peer.finish(), report)

    def test_nothing_to_load(self):
        for loader in ([], iter([]), ()):
            with self.sees(ValueError, "the loader has no batch"):
                next(self.join(self.model()).rounds(loader))
            self.doCleanups()
            self.setUp()

    def test_generator_as_loader(self):
        batches = (batch for batch in self.batches)
        with self.sees(ValueError, "so no generator"), self.join(self.model()) as peer:
            list(peer.rounds(batches))

    def test_data_set_of_unknown_size(self):
        with self.sees(ValueError, r"ako.join\(samples=..\)"):
            next(self.join(self.model(), samples=None).rounds(self.batches))

    def test_nested_anchors(self):
        peer = self.join(self.model())
        next(peer.rounds(self.batches))
        with self.sees(RuntimeError, "inside another one"), peer.anchor(), peer.anchor():
            pass

    def test_anchor_before_training(self):
        with self.sees(RuntimeError, ".+"), self.join(self.model()).anchor():
            pass

    def test_percent(self):
        with self.join(self.model()) as peer:
            for batch in peer.rounds(self.batches):
                with self.sees(ValueError, "98.5 is no accuracy: it is 0 .. 1"):
                    peer.announce(98.5)
            with self.sees(ValueError, "98.5 is no accuracy: it is 0 .. 1"):
                peer.finish(lambda: 98.5)
            self.assertTrue(peer.finish(lambda: 0.985).agreed, "it may be said again")

    def test_views_replaced(self):
        """To assign to peer.parameters copies; the arrays that were handed in are not trained."""
        model = self.model()
        with self.join(model) as peer:
            for batch in peer.rounds(self.batches):
                peer.parameters["w"] = peer.parameters["w"] + 1
        self.assertEqual(peer.parameters["w"][0], SAMPLES // BATCH)
        self.assertEqual(model["w"][0], 0)

    def test_after_close(self):
        with self.join(self.model()) as peer:
            pass
        with self.sees(RuntimeError, "this peer is closed"):
            peer.sampler(range(4))


@bench.needs_torch
class WithTorch(MistakeCase):
    def setUp(self):
        super().setUp()
        torch.manual_seed(1)
        self.model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Linear(4, 1))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01, momentum=0.9)

    def step(self, optimizer=None):
        optimizer = optimizer or self.optimizer
        optimizer.zero_grad()
        self.model(torch.ones(BATCH, 3)).pow(2).mean().backward()
        optimizer.step()

    def loader(self, batches=3):
        data = torch.utils.data.TensorDataset(torch.zeros(BATCH * batches, 3))
        return torch.utils.data.DataLoader(data, BATCH)

    def test_types(self):
        for change, words in (
                (lambda model: model.double(), "0.weight is of torch.float64.*\n.*model.float"),
                (lambda model: model.bfloat16(), "0.weight is of torch.bfloat16.*\n.*autocast"),
                (lambda model: model.half(), "0.weight is of torch.float16.*\n.*autocast"),
                (lambda model: model.to("meta"), "0.weight is on the meta device")):
            with self.sees(ako.StartupError, words):
                self.join(change(copy.deepcopy(self.model)))

    def test_wrapped(self):
        """In DistributedDataParallel, of a group of one process."""
        distributed = torch.distributed
        if not distributed.is_available():
            self.skipTest("this torch is built without distributed")
        with tempfile.TemporaryDirectory() as folder:
            distributed.init_process_group("gloo", init_method=f"file://{folder}/group",
                                           rank=0, world_size=1)
            try:
                wrapped = torch.nn.parallel.DistributedDataParallel(self.model)
                with self.sees(ako.StartupError, "wrapped in DistributedDataParallel.*\n.*itself"):
                    self.join(wrapped)
            finally:
                distributed.destroy_process_group()

    def test_state_dict_as_model(self):
        with self.sees(ako.StartupError, "hand in a torch.nn.Module itself"):
            self.join(dict(self.model.state_dict()))

    def test_optimizer_of_another_model(self):
        other = torch.optim.SGD(copy.deepcopy(self.model).parameters(), lr=0.1)
        with self.sees(ako.StartupError, "the optimizer trains no parameter of the model"):
            self.join(self.model, other)
        self.join(self.model, self.optimizer)

    def test_optimizer_of_more_than_the_model(self):
        other = torch.nn.Linear(1, 1)
        both = torch.optim.SGD([*self.model.parameters(), *other.parameters()], lr=0.1)
        with self.assertWarnsRegex(UserWarning, "trains 2 tensors that are not of the model"):
            self.join(self.model, both)

    def test_another_optimizer_steps(self):
        """That which was handed in never does."""
        another = torch.optim.SGD(self.model.parameters(), lr=0.01)
        with bench.mock.patch("ako.peer.STEPLESS_MAX", 50), self.sees(
                RuntimeError, "never called on the optimizer that was handed to ako.join"):
            for batch in self.join(self.model, self.optimizer).rounds(self.loader()):
                self.step(another)

    def test_optimizer_made_before_or_after(self):
        """Both are right, and come to the same. One made after is not handed in, so every batch is
        a step."""
        ends = []
        for after in (False, True):
            self.doCleanups()
            self.setUp()
            with self.join(self.model, None if after else self.optimizer) as peer:
                if after:
                    self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01,
                                                     momentum=0.9)
                for batch in peer.rounds(self.loader()):
                    self.step()
                report = peer.finish()
            ends.append((report.rounds, report.digest, self.model[0].weight.tolist()))
        self.assertEqual(ends[0], ends[1])
        self.assertEqual(ends[0][0], SAMPLES // BATCH)

    def test_load_state_dict_in_the_loop(self):
        """It counts as a step of this peer."""
        state = {name: torch.full_like(value, 2.0)
                 for name, value in self.model.state_dict().items()}
        with self.join(self.model) as peer:
            for batch in peer.rounds(self.loader()):
                self.model.load_state_dict(state)
            self.assertTrue(peer.finish().agreed)
        for value in self.model.parameters():
            self.assertTrue(torch.allclose(value, torch.full_like(value, 2.0)))

    def test_half_after_join(self):
        with self.sees(RuntimeError, "0.weight no longer lies in Ako's vector.*before"):
            peer = self.join(self.model)
            self.model.half()
            next(peer.rounds(self.loader()))

    def test_half_in_the_loop(self):
        with self.sees(RuntimeError, "0.weight no longer lies in Ako's vector"):
            with self.join(self.model) as peer:
                for batch in peer.rounds(self.loader()):
                    self.model.half()

    def test_loader_shorter_than_a_round(self):
        """It is iterated again within the round."""
        with self.join(self.model, self.optimizer, local_steps=4) as peer:
            steps = 0
            for batch in peer.rounds(self.loader(batches=1)):
                self.step()
                steps += 1
            report = peer.finish()
        self.assertEqual((steps, report.rounds), (8, 2))
        self.assertEqual(report.samples, SAMPLES)

    def test_drop_last_of_too_few(self):
        data = torch.utils.data.TensorDataset(torch.zeros(3, 3))
        loader = torch.utils.data.DataLoader(data, BATCH, drop_last=True)
        with self.sees(ValueError, "with drop_last it needs as many samples as a batch"):
            next(self.join(self.model).rounds(loader))

    def test_step_inside_the_anchor(self):
        with self.sees(RuntimeError, "Train outside of it"):
            with self.join(self.model, self.optimizer) as peer:
                for batch in peer.rounds(self.loader()):
                    with peer.anchor():
                        self.step()

    def test_not_finite(self):
        with self.sees(ako.NotFinite, "the first is in 1.bias") as caught:
            with self.join(self.model, self.optimizer) as peer:
                for batch in peer.rounds(self.loader()):
                    self.step()
                    with torch.no_grad():
                        self.model[1].bias.fill_(float("nan"))
        self.assertTrue(caught.exception.hint)
        self.assertEqual(caught.exception.report.exit, 3)

    def test_loss_with_its_graph(self):
        """A tensor may be handed in as it is."""
        with self.join(self.model, self.optimizer) as peer, warnings.catch_warnings():
            warnings.simplefilter("error")
            for batch in peer.rounds(self.loader()):
                self.step()
                peer.loss(self.model(torch.ones(1, 3)).sum())

    def test_model_is_used_after_close(self):
        with self.join(self.model, self.optimizer) as peer:
            for batch in peer.rounds(self.loader()):
                self.step()
        self.step()
        self.assertTrue(torch.isfinite(self.model(torch.ones(1, 3))).all())


if __name__ == "__main__":
    unittest.main()
