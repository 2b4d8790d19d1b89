"""Counting steps of an optimizer without changing anything else of it."""

import unittest
import warnings

import bench
from ako.steps import BatchCounter, StepCounter


class Plain:
    """An optimizer that is none of torch's."""

    def __init__(self):
        self.steps = []

    def step(self, closure=None, *, rate=1):
        """Steps."""
        self.steps.append((closure, rate))
        return "result"


class Counting(unittest.TestCase):
    def test_passed_through(self):
        optimizer = Plain()
        counter = StepCounter(optimizer)
        self.assertEqual(optimizer.step("closure", rate=2), "result")
        self.assertEqual(optimizer.steps, [("closure", 2)])
        self.assertEqual(counter.count, 1)
        self.assertEqual(optimizer.step.__doc__, "Steps.")
        self.assertIs(optimizer.step.__self__, optimizer)

    def test_batches_do_not_count(self):
        counter = StepCounter(Plain())
        counter.batch_is_done()
        self.assertEqual(counter.count, 0)

    def test_failed_step(self):
        class Failing(Plain):
            def step(self):
                raise ValueError

        optimizer = Failing()
        counter = StepCounter(optimizer)
        with self.assertRaises(ValueError):
            optimizer.step()
        self.assertEqual(counter.count, 0)

    def test_close(self):
        optimizer = Plain()
        counter = StepCounter(optimizer)
        counter.close()
        self.assertNotIn("step", vars(optimizer))
        optimizer.step()
        self.assertEqual(counter.count, 0)

    def test_close_with_a_wrapper_below(self):
        optimizer = Plain()
        below = optimizer.step = lambda: None
        StepCounter(optimizer).close()
        self.assertIs(optimizer.step, below)

    def test_close_with_a_wrapper_above(self):
        optimizer = Plain()
        counter = StepCounter(optimizer)
        counted = optimizer.step
        above = optimizer.step = lambda: counted()
        counter.close()
        self.assertIs(optimizer.step, above)
        optimizer.step()
        self.assertEqual(len(optimizer.steps), 1)

    def test_no_optimizer(self):
        with self.assertRaisesRegex(TypeError, "a list, has no method step"):
            StepCounter([])
        counter = BatchCounter()
        counter.batch_is_done()
        self.assertEqual(counter.count, 1)
        counter.close()


@bench.needs_torch
class OfTorch(unittest.TestCase):
    def setUp(self):
        self.torch = bench.torch
        self.model = self.torch.nn.Linear(3, 1)
        self.optimizer = self.torch.optim.SGD(self.model.parameters(), lr=0.1)

    def train(self, steps=1):
        for _ in range(steps):
            self.optimizer.zero_grad()
            self.model(self.torch.ones(2, 3)).sum().backward()
            self.optimizer.step()

    def test_scheduler_before_and_after(self):
        for before in (True, False):
            with self.subTest(before), warnings.catch_warnings():
                warnings.simplefilter("error")
                self.setUp()
                if before:
                    scheduler = self.torch.optim.lr_scheduler.StepLR(self.optimizer, 1)
                    counter = StepCounter(self.optimizer)
                else:
                    counter = StepCounter(self.optimizer)
                    scheduler = self.torch.optim.lr_scheduler.StepLR(self.optimizer, 1)
                for k in range(3):
                    self.train()
                    scheduler.step()
                    self.assertEqual(counter.count, k + 1)
                self.assertAlmostEqual(self.optimizer.param_groups[0]["lr"], 1e-4)
                counter.close()
                self.train()

    def test_schedulers_still_warn(self):
        counter = StepCounter(self.optimizer)
        scheduler = self.torch.optim.lr_scheduler.StepLR(self.optimizer, 1)
        with self.assertWarnsRegex(UserWarning, "before `optimizer.step"):
            scheduler.step()
        self.assertEqual(counter.count, 0)

    def test_closure(self):
        optimizer = self.torch.optim.LBFGS(self.model.parameters(), max_iter=2)
        counter = StepCounter(optimizer)

        def closure():
            optimizer.zero_grad()
            loss = self.model(self.torch.ones(2, 3)).pow(2).sum()
            loss.backward()
            return loss

        self.assertGreater(optimizer.step(closure).item(), 0)
        self.assertEqual(counter.count, 1)

    def test_gradient_scaler(self):
        """A scaler that found an infinity skips the step."""
        counter = StepCounter(self.optimizer)
        try:
            scaler = self.torch.amp.GradScaler("cpu")
        except AttributeError:
            self.skipTest("this torch has no scaler for the CPU")
        for factor, steps in ((float("inf"), 0), (1.0, 1)):
            self.optimizer.zero_grad()
            scaler.scale(self.model(self.torch.ones(2, 3)).sum() * factor).backward()
            scaler.step(self.optimizer)
            scaler.update()
            self.assertEqual(counter.count, steps)

    def test_saved_and_copied(self):
        StepCounter(self.optimizer)
        self.train()
        state = self.optimizer.state_dict()
        self.optimizer.load_state_dict(state)
        self.train()


if __name__ == "__main__":
    unittest.main()
