"""Batches without an end, and how many samples are in one."""

import collections
import unittest

import numpy as np

import bench
from ako.batches import Batches, sample_count


class Endless(unittest.TestCase):
    def test_again_and_again(self):
        batches = Batches([1, 2, 3])
        self.assertEqual([batches.next() for _ in range(7)], [1, 2, 3, 1, 2, 3, 1])

    def test_peek(self):
        batches = Batches([1, 2])
        self.assertEqual([batches.peek(), batches.peek(), batches.next(), batches.next()],
                         [1, 1, 1, 2])

    def test_empty(self):
        with self.assertRaisesRegex(ValueError, "the loader has no batch"):
            Batches([]).next()

    def test_empty_once(self):
        class Late:
            passes = 0

            def __iter__(self):
                self.passes += 1
                return iter([self.passes] if self.passes > 1 else [])

        self.assertEqual(Batches(Late()).next(), 2)

    def test_generator(self):
        batches = Batches(k for k in range(2))
        self.assertEqual([batches.next(), batches.next()], [0, 1])
        with self.assertRaisesRegex(ValueError, "so no generator"):
            batches.next()

    def test_no_loader(self):
        with self.assertRaisesRegex(TypeError, "a int is no loader"):
            Batches(3)

    def test_failure(self):
        class Broken:
            def __iter__(self):
                yield 1
                raise OSError("disk")

        batches = Batches(Broken())
        batches.next()
        with self.assertRaises(OSError):
            batches.next()
        self.assertEqual(batches.failures, 1)
        self.assertEqual(batches.next(), 1, "from the beginning")

    def test_set_epoch(self):
        class Sampler:
            def __init__(self):
                self.epochs = []

            def set_epoch(self, epoch):
                self.epochs.append(epoch)

        class Loader:
            def __init__(self):
                self.sampler = Sampler()

            def __iter__(self):
                return iter([1, 2])

        loader = Loader()
        batches = Batches(loader)
        for _ in range(5):
            batches.next()
        self.assertEqual(loader.sampler.epochs, [0, 1, 2])


class Samples(unittest.TestCase):
    def test_counts(self):
        x, y = np.zeros((8, 3)), np.zeros(8)
        Pair = collections.namedtuple("Pair", "image label")
        for batch in (x, (x, y), [x, y], {"x": x, "y": y}, Pair(x, y), [{"x": x}], ["id", x],
                      (np.float32(1), x), collections.OrderedDict(ids=list(range(8))),
                      list("abcdefgh"), [1] * 8, collections.UserDict(x=x), range(8)):
            with self.subTest(type(batch)):
                self.assertEqual(sample_count(batch), 8)

    def test_unknown(self):
        for batch in (3, "text", {}, [], None, np.float32(1)):
            with self.subTest(batch), self.assertRaisesRegex(ValueError, "samples_of=function"):
                sample_count(batch)

    @bench.needs_torch
    def test_tensors(self):
        torch = bench.torch
        self.assertEqual(sample_count((torch.zeros(5, 2), torch.zeros(5))), 5)
        self.assertEqual(sample_count({"loss": torch.tensor(1.0), "x": torch.zeros(5, 2)}), 5)


if __name__ == "__main__":
    unittest.main()
