"""The flat vector of NumPy arrays."""

import unittest

import numpy as np

import bench  # noqa: F401  (sets the path)
from ako.errors import StartupError
from ako.vector import ArrayVector, TensorEntry


class Arrays(unittest.TestCase):
    def setUp(self):
        self.w = np.arange(6, dtype=np.float32).reshape(2, 3)
        self.b = np.array(7, dtype=np.float32)
        self.vector = ArrayVector({"w": self.w, "b": self.b})

    def test_layout(self):
        self.assertEqual(self.vector.tensors, [TensorEntry("w", (2, 3)), TensorEntry("b", ())])
        self.assertEqual(self.vector.count, 7)
        self.assertEqual(self.vector.host().tolist(), [0, 1, 2, 3, 4, 5, 7])
        self.assertEqual(self.vector.pointer(), self.vector.host().ctypes.data)

    def test_views(self):
        self.vector.host()[1] = 10
        self.assertEqual(self.vector.parameters["w"][0, 1], 10)
        self.assertEqual(self.w[0, 1], 1, "the caller's array is left alone")

    def test_in_place(self):
        self.vector.parameters["w"] -= 1
        self.vector.parameters["b"] = 3
        self.assertEqual(self.vector.host().tolist(), [-1, 0, 1, 2, 3, 4, 3])
        self.assertTrue(np.shares_memory(self.vector.parameters["w"], self.vector.host()))
        with self.assertRaises(KeyError):
            self.vector.parameters["c"] = 1
        with self.assertRaises(ValueError):
            self.vector.parameters["w"] = np.zeros(5)
        self.assertEqual(list(self.vector.parameters), ["w", "b"])
        self.assertEqual(len(self.vector.parameters), 2)

    def test_keep(self):
        kept = self.vector.keep()
        self.vector.host()[:] = 0
        self.vector.put_back(kept)
        self.assertEqual(self.vector.parameters["b"], 7)

    def test_not_finite(self):
        self.assertIsNone(self.vector.first_not_finite())
        self.vector.parameters["b"] = np.inf
        self.assertEqual(self.vector.first_not_finite(), "b")
        self.vector.parameters["w"][1, 2] = np.nan
        self.assertEqual(self.vector.first_not_finite(), "w")


class Refused(unittest.TestCase):
    def refused(self, arrays, words):
        with self.assertRaises(StartupError) as caught:
            ArrayVector(arrays)
        self.assertIn(words, str(caught.exception))
        self.assertTrue(caught.exception.hint or not arrays)

    def test_refusals(self):
        good = np.zeros((2, 3), dtype=np.float32)
        self.refused({}, "no arrays")
        self.refused({"w": np.zeros(3)}, '"w" of the model is of float64')
        self.refused({"w": good.astype(">f4")}, "Ako trains float32")
        self.refused({"v": good, "w": good.T}, '"w" of the model is not in row-major order')
        self.refused({"w": good[:0]}, '"w" of the model is empty')
        self.refused({"w": [1.0, 2.0]}, '"w" of the model is a list')
        with self.assertRaises(TypeError):
            ArrayVector({1: good})


if __name__ == "__main__":
    unittest.main()
