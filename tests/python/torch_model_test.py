"""The flat vector of a torch model: views, what is in it, what is refused and noticed later."""

import copy
import io
import unittest
from unittest import mock

import numpy as np

import bench
from ako.errors import StartupError
from ako.torch_model import ModelVector, is_dense, layout_strides, row_major

torch = bench.torch
nn = torch.nn if torch else None


def small():
    torch.manual_seed(1)
    return nn.Sequential(nn.Conv2d(2, 3, 3), nn.BatchNorm2d(3), nn.Flatten(), nn.Linear(12, 2))


def train(model, optimizer, steps=1, shape=(4, 2, 4, 4)):
    for _ in range(steps):
        optimizer.zero_grad()
        model(torch.ones(shape)).pow(2).sum().backward()
        optimizer.step()


class Strides(unittest.TestCase):
    def test_dense(self):
        for shape, strides, dense in (
                ((2, 3), (3, 1), True), ((2, 3), (1, 2), True), ((2, 3), (4, 1), False),
                ((2, 3), (0, 1), False), ((), (), True), ((1, 3), (77, 1), True),
                ((2, 3, 4, 5), (60, 1, 15, 3), True), ((2, 2), (1, 1), False)):
            self.assertEqual(is_dense(shape, strides), dense, (shape, strides))

    def test_layout(self):
        self.assertIsNone(layout_strides((2, 3), (3, 1)))
        self.assertEqual(layout_strides((2, 3), (1, 2)), (1, 2))
        self.assertIsNone(layout_strides((2, 3), (4, 1)), "it becomes row-major")
        self.assertEqual(layout_strides((2, 3, 4, 5), (60, 1, 15, 3)), (60, 1, 15, 3))
        self.assertIsNone(layout_strides((4, 3, 1, 1), (3, 1, 3, 3)), "the same memory")
        self.assertEqual(layout_strides((4, 3, 1, 2), (6, 1, 99, 3)), (6, 1, 24, 3))
        self.assertIsNone(layout_strides((), ()))

    def test_row_major(self):
        self.assertEqual(row_major((2, 3, 4)), (12, 4, 1))
        self.assertEqual(row_major(()), ())


@bench.needs_torch
class Views(unittest.TestCase):
    def test_layout(self):
        vector = ModelVector(small())
        self.assertEqual([(one.name, one.shape) for one in vector.tensors], [
            ("0.weight", (3, 2, 3, 3)), ("0.bias", (3,)), ("1.weight", (3,)), ("1.bias", (3,)),
            ("3.weight", (2, 12)), ("3.bias", (2,)), ("1.running_mean", (3,)),
            ("1.running_var", (3,))])
        self.assertEqual(vector.count, 54 + 3 + 3 + 3 + 24 + 2 + 3 + 3)
        self.assertEqual(vector.pointer(), vector.host().ctypes.data)

    def test_same_memory(self):
        model = small()
        vector = ModelVector(model)
        vector.host()[:] = 1
        self.assertTrue(all((tensor == 1).all() for tensor in model.parameters()))
        self.assertTrue((model[1].running_var == 1).all())
        with torch.no_grad():
            model[3].bias.fill_(5)
        self.assertEqual((vector.host() == 5).sum(), 2)

    def test_same_values_and_objects(self):
        model = small()
        before, state = list(model.parameters()), copy.deepcopy(model.state_dict())
        ModelVector(model)
        self.assertTrue(all(a is b for a, b in zip(before, model.parameters())))
        for name, value in model.state_dict().items():
            self.assertTrue(torch.equal(value, state[name]), name)

    def test_trains_the_same(self):
        """With an optimizer made before, with momentum, to the last bit."""
        states = []
        for with_vector in (False, True):
            model = small()
            optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
            train(model, optimizer)
            if with_vector:
                vector = ModelVector(model)
            train(model, optimizer, 3)
            states.append(torch.cat([p.detach().flatten() for p in model.parameters()]))
        self.assertTrue(torch.equal(*states))
        self.assertTrue(np.array_equal(vector.host()[:len(states[1])], states[1].numpy()))

    def test_gradients_stay(self):
        model = nn.Linear(2, 1)
        model(torch.ones(1, 2)).sum().backward()
        gradient = model.weight.grad
        ModelVector(model)
        self.assertIs(model.weight.grad, gradient)

    def test_channels_last(self):
        model = small().to(memory_format=torch.channels_last)
        expected = copy.deepcopy(model[0].weight.detach())
        vector = ModelVector(model)
        self.assertTrue(model[0].weight.is_contiguous(memory_format=torch.channels_last))
        self.assertTrue(torch.equal(model[0].weight, expected))
        self.assertEqual(vector.tensors[0].strides, (18, 1, 6, 2))
        self.assertEqual(vector.host()[:54].tolist(),
                         expected.permute(0, 2, 3, 1).reshape(-1).tolist())

    def test_not_dense(self):
        model = nn.Linear(3, 2)
        model.weight = nn.Parameter(torch.arange(12.0).reshape(2, 6)[:, ::2])
        vector = ModelVector(model)
        self.assertTrue(model.weight.is_contiguous())
        self.assertEqual(vector.host()[:6].tolist(), [0, 2, 4, 6, 8, 10])
        self.assertIsNone(vector.tensors[0].strides)

    def test_tied(self):
        model = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))
        model[1].weight = model[0].weight
        vector = ModelVector(model)
        self.assertEqual([one.name for one in vector.tensors], ["0.weight", "0.bias", "1.bias"])
        vector.host()[:9] = 4
        self.assertIs(model[1].weight, model[0].weight)
        self.assertEqual(model[1].weight.sum().item(), 36)
        vector.check(True)

    def test_shared_module_and_buffer(self):
        norm = nn.BatchNorm1d(2)
        model = nn.Sequential(norm, norm)
        model.register_buffer("mean", norm.running_mean)
        vector = ModelVector(model)
        names = [one.name for one in vector.tensors]
        self.assertEqual(names, ["0.weight", "0.bias", "mean", "0.running_var"])
        self.assertIs(model.mean, norm.running_mean)

    def test_local(self):
        """Frozen parameters, buffers that are not float32, not saved, or empty."""
        model = nn.Linear(2, 2)
        model.bias.requires_grad_(False)
        model.register_buffer("steps", torch.zeros(3, dtype=torch.int64))
        model.register_buffer("halves", torch.zeros(3, dtype=torch.float16))
        model.register_buffer("unsaved", torch.zeros(3), persistent=False)
        model.register_buffer("empty", torch.zeros(0))
        model.register_buffer("none", None)
        model.register_parameter("nothing", None)
        model.register_buffer("saved", torch.zeros(3))
        vector = ModelVector(model)
        self.assertEqual([one.name for one in vector.tensors], ["weight", "saved"])
        self.assertRegex(vector.frozen, "^[0-9a-f]{64}$")

    def test_constant(self):
        """What is not finite is trained by nobody, and must be the same at all peers."""
        digests = []
        for value in (float("-inf"), float("inf")):
            model = nn.Linear(2, 2)
            model.register_buffer("mask", torch.full((2, 2), value).triu(1))
            vector = ModelVector(model)
            self.assertEqual([one.name for one in vector.tensors], ["weight", "bias"])
            digests.append(vector.frozen)
        self.assertEqual(len(set(digests)), 2)

    def test_batch_norm_keeps_its_views(self):
        model = small()
        vector = ModelVector(model)
        train(model, torch.optim.SGD(model.parameters(), lr=0.01))
        vector.check(True)
        self.assertEqual(int(model[1].num_batches_tracked), 1)

    def test_compiled(self):
        if not hasattr(torch, "compile"):
            self.skipTest("this torch has no compile")
        model = nn.Linear(2, 1)
        vector = ModelVector(torch.compile(model, backend="eager"))
        self.assertEqual([one.name for one in vector.tensors], ["weight", "bias"])

    def test_load_state_dict(self):
        model = small()
        vector = ModelVector(model)
        model.load_state_dict({name: torch.full_like(value, 3)
                               for name, value in small().state_dict().items()})
        vector.check(True)
        self.assertTrue((vector.host() == 3).all())

    def test_saved_and_copied(self):
        model = small()
        ModelVector(model)
        file = io.BytesIO()
        torch.save(model.state_dict(), file)
        file.seek(0)
        other = small()
        other.load_state_dict(torch.load(file))
        again = copy.deepcopy(model)
        for one, two, three in zip(model.parameters(), other.parameters(), again.parameters()):
            self.assertTrue(torch.equal(one, two) and torch.equal(one, three))
            self.assertNotEqual(one.data_ptr(), three.data_ptr())

    def test_keep(self):
        model = small()
        vector = ModelVector(model)
        kept, before = vector.keep(), vector.host().copy()
        vector.host()[:] = 0
        vector.put_back(kept)
        self.assertTrue(np.array_equal(vector.host(), before))

    def test_host_memory_of_its_own(self):
        """As for a model on another device: load and store copy the vector."""
        model = small()
        vector = ModelVector(model, shared=False)
        self.assertEqual(vector.host()[0], model[0].weight.flatten()[0])
        vector.host()[:] = 2
        self.assertFalse((model[3].bias == 2).any())
        vector.load()
        self.assertTrue((model[3].bias == 2).all())
        with torch.no_grad():
            model[3].bias.zero_()
        vector.store()
        self.assertEqual((vector.host() == 0).sum(), 2)
        vector.check(True)

    def test_parameters(self):
        model = small()
        vector = ModelVector(model)
        self.assertIs(vector.parameters["3.weight"], model[3].weight)
        self.assertIs(vector.parameters["1.running_var"], model[1].running_var)


@bench.needs_torch
class Frozen(unittest.TestCase):
    def digest(self, change=None, dtype=None):
        torch.manual_seed(1)
        model = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 1))
        model[0].requires_grad_(False)
        model[0].to(dtype or torch.float32)
        if change:
            change(model)
        return ModelVector(model).frozen

    def test_digest(self):
        digests = [self.digest(), self.digest(lambda model: model[0].bias.data.add_(1)),
                   self.digest(lambda model: model[1].bias.requires_grad_(False)),
                   self.digest(dtype=torch.bfloat16), self.digest(dtype=torch.float64)]
        self.assertEqual(len(set(digests)), 5)
        self.assertEqual(self.digest(), digests[0])
        self.assertEqual(self.digest(lambda model: model[1].bias.data.add_(1)), digests[0])
        self.assertEqual(ModelVector(nn.Linear(1, 1)).frozen, "none")

    def test_kinds(self):
        model = nn.Linear(1, 1)
        for k, value in enumerate((torch.zeros(()), torch.zeros(2, 3).T, torch.zeros(2).bool(),
                                   torch.zeros(2, dtype=torch.complex64))):
            model.register_parameter(f"p{k}", nn.Parameter(value, requires_grad=False))
        self.assertRegex(ModelVector(model).frozen, "^[0-9a-f]{64}$")

    def test_thawed(self):
        model = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 1))
        model[0].requires_grad_(False)
        vector = ModelVector(model)
        vector.check(True)
        model[0].requires_grad_(True)
        vector.check(False)
        with self.assertRaisesRegex(RuntimeError, "0.weight was frozen when ako.join"):
            vector.check(True)


@bench.needs_torch
class Moved(unittest.TestCase):
    def noticed(self, change, thorough=False, name="0.weight"):
        model = small()
        vector = ModelVector(model)
        change(model)
        with self.assertRaisesRegex(RuntimeError, f"{name} no longer lies in Ako's vector"):
            vector.check(thorough)

    def test_at_once(self):
        self.noticed(lambda model: model.half())
        self.noticed(lambda model: model.double())
        self.noticed(lambda model: model.to("meta"))
        self.noticed(lambda model: model.to(memory_format=torch.channels_last))

    def test_thorough(self):
        def replace(model):
            model[3].weight = nn.Parameter(torch.zeros(2, 12))

        def replace_buffer(model):
            model[1].running_mean = torch.zeros(3)

        def delete(model):
            del model[3].bias

        self.noticed(replace, True, "3.weight")
        self.noticed(replace_buffer, True, "1.running_mean")
        self.noticed(delete, True, "3.bias")
        self.noticed(lambda model: torch.nn.utils.parametrizations.orthogonal(model[3]), True,
                     "3.weight")

    def test_assigned(self):
        model = small()
        vector = ModelVector(model)
        try:
            model.load_state_dict(small().state_dict(), assign=True)
        except TypeError:
            self.skipTest("this torch does not assign")
        with self.assertRaisesRegex(RuntimeError, "change it in place"):
            vector.check(False)


@bench.needs_torch
class Refused(unittest.TestCase):
    def refused(self, model, what, hint):
        before = [(id(value), value.data_ptr()) for value in model.parameters()
                  if type(value) is nn.Parameter and value.layout == torch.strided]
        with self.assertRaises(StartupError) as caught:
            ModelVector(model)
        self.assertIn(what, caught.exception.what)
        self.assertIn(hint, caught.exception.hint)
        self.assertEqual(before, [
            (id(value), value.data_ptr()) for value in model.parameters()
            if type(value) is nn.Parameter and value.layout == torch.strided], "left as it was")

    def test_types(self):
        self.refused(small().double(), "0.weight is of torch.float64", "model.float()")
        self.refused(small().bfloat16(), "0.weight is of torch.bfloat16", "torch.autocast")
        self.refused(small().half(), "Ako trains float32", "keep float32 parameters")
        model = small()
        model[3].double()
        self.refused(model, "3.weight is of torch.float64", "model.float()")
        model = nn.Linear(1, 1)
        model.phase = nn.Parameter(torch.zeros(2, dtype=torch.complex64))
        self.refused(model, "phase is of torch.complex64", "freeze it")

    def test_no_values(self):
        self.refused(nn.Linear(2, 2, device="meta"), "weight is on the meta device", "to_empty")
        self.refused(nn.Sequential(nn.LazyLinear(3)), "0.weight has no shape yet", "once")
        model = nn.Linear(2, 2)
        model.register_buffer("mean", torch.zeros(3, device="meta"))
        self.refused(model, "mean is on the meta device", "to_empty")
        model = nn.Linear(2, 2)
        model.extra = nn.Parameter(torch.eye(2).to_sparse())
        self.refused(model, "extra is sparse", "to_dense")

    def test_nothing_to_train(self):
        self.refused(nn.ReLU(), "no parameters", "")
        self.refused(nn.Linear(1, 1).requires_grad_(False), "requires_grad is False of all 2",
                     "requires_grad_(True)")

    def test_same_memory_twice(self):
        model = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))
        model[1].weight.data = model[0].weight.data
        self.refused(model, "0.weight and 1.weight are two parameters in the same memory",
                     "the same Parameter object")

    def test_wrapped(self):
        def wrapper(name):
            def forward(self, x):
                return self.module(x)

            def make(self, module):
                nn.Module.__init__(self)
                self.module = module

            return type(name, (nn.Module,), {"__module__": "torch.nn.parallel.fake",
                                             "__init__": make, "forward": forward})

        for name in ("DistributedDataParallel", "FullyShardedDataParallel"):
            self.refused(wrapper(name)(small()), f"wrapped in {name}", "the module itself")
        self.refused(nn.DataParallel(small()), "wrapped in DataParallel", "the module itself")

    def test_devices(self):
        """Without a second device: one that is said to be on another."""
        model = small()
        with mock.patch.object(ModelVector, "_move_in") as move_in, mock.patch.object(
                torch.Tensor, "device", new_callable=mock.PropertyMock) as device:
            device.side_effect = [torch.device("cpu"), torch.device("cpu"), torch.device("cpu"),
                                  torch.device("cuda:1"), torch.device("cpu"),
                                  torch.device("cuda:1")]
            with self.assertRaises(StartupError) as caught:
                ModelVector(model)
        move_in.assert_not_called()
        self.assertEqual(caught.exception.what, "0.weight is on cpu and 0.bias on cuda:1: Ako "
                                                "needs a model on one device")


if __name__ == "__main__":
    unittest.main()
