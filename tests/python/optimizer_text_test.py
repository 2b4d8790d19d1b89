"""An optimizer in one line, and whether it is one of the model."""

import unittest

import bench
from ako.errors import StartupError
from ako.optimizer_text import BYTES_MAX, check_optimizer, optimizer_text


@bench.needs_torch
class TorchCase(unittest.TestCase):
    def setUp(self):
        self.torch = bench.torch
        self.model = self.torch.nn.Sequential(self.torch.nn.Linear(3, 4),
                                              self.torch.nn.Linear(4, 1))


class Text(TorchCase):
    def test_kinds(self):
        optim = self.torch.optim
        weights = list(self.model.parameters())
        self.assertEqual(optimizer_text(optim.SGD(weights, lr=0.1, momentum=0.9, nesterov=True)),
                         "SGD dampening=0 lr=0.1 momentum=0.9 nesterov=True weight_decay=0")
        self.assertEqual(optimizer_text(optim.AdamW(weights)),
                         "AdamW betas=(0.9, 0.999) eps=1e-08 lr=0.001 weight_decay=0.01")
        self.assertEqual(optimizer_text(None), "none")

    def test_groups(self):
        same = self.torch.optim.SGD([{"params": [p]} for p in self.model.parameters()], lr=0.1)
        self.assertEqual(optimizer_text(same),
                         "SGD dampening=0 lr=0.1 momentum=0 weight_decay=0 groups=4")
        other = self.torch.optim.SGD([{"params": self.model[0].parameters(), "lr": 0.2},
                                      {"params": self.model[1].parameters()}], lr=0.1)
        self.assertEqual(optimizer_text(other),
                         "SGD dampening=0 lr=0.2 momentum=0 weight_decay=0 | "
                         "dampening=0 lr=0.1 momentum=0 weight_decay=0")

    def test_scheduled(self):
        """A warm-up has changed the rate already; the first one counts."""
        optimizer = self.torch.optim.SGD(self.model.parameters(), lr=0.1)
        before = optimizer_text(optimizer)
        self.torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 0.001)
        self.assertLess(optimizer.param_groups[0]["lr"], 0.01)
        self.assertEqual(optimizer_text(optimizer), before)

    def test_rate_as_tensor(self):
        optimizer = self.torch.optim.SGD(self.model.parameters(), lr=0.5)
        optimizer.param_groups[0]["lr"] = self.torch.tensor(0.5)
        self.assertIn("lr=0.5", optimizer_text(optimizer))

    def test_long(self):
        groups = [{"params": [p], "lr": 0.1 / (k + 1)}
                  for k, p in enumerate(self.torch.nn.Linear(2, 2).weight for _ in range(30))]
        text = optimizer_text(self.torch.optim.SGD(groups, lr=0.1))
        self.assertLessEqual(len(text.encode()), BYTES_MAX)
        self.assertRegex(text, r"^SGD groups=30 sha256=[0-9a-f]{64}$")

    def test_not_of_torch(self):
        class Own:
            def step(self):
                """Nothing."""

        self.assertEqual(optimizer_text(Own()), "Own")


class OfTheModel(TorchCase):
    def test_whole_and_part(self):
        SGD = self.torch.optim.SGD
        self.assertEqual(check_optimizer(SGD(self.model.parameters(), lr=1), self.model), 0)
        self.assertEqual(check_optimizer(SGD(self.model[1].parameters(), lr=1), self.model), 0)

    def test_others(self):
        other = self.torch.nn.Linear(1, 1)
        with self.assertRaisesRegex(StartupError, "trains no parameter of the model"):
            check_optimizer(self.torch.optim.SGD(other.parameters(), lr=1), self.model)
        both = [*self.model.parameters(), *other.parameters()]
        self.assertEqual(check_optimizer(self.torch.optim.SGD(both, lr=1), self.model), 2)

    def test_only_frozen(self):
        self.model[0].requires_grad_(False)
        optimizer = self.torch.optim.SGD(self.model[0].parameters(), lr=1)
        with self.assertRaises(StartupError):
            check_optimizer(optimizer, self.model)
        whole = self.torch.optim.SGD(self.model.parameters(), lr=1)
        self.assertEqual(check_optimizer(whole, self.model), 0)


if __name__ == "__main__":
    unittest.main()
