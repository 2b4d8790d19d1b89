"""The share of the data set of one peer."""

import itertools
import unittest

import bench
from ako.sampler import ShareSampler, make_sampler


def take(sampler, count):
    return list(itertools.islice(iter(sampler), count))


def shares(size, trainers, shuffle, seed=1):
    return [ShareSampler(size, place, trainers, seed, shuffle, lambda share: 0)
            for place in range(trainers)]


class Shares(unittest.TestCase):
    def test_disjoint_and_whole(self):
        for shuffle in (False, True):
            for size, trainers in ((10, 3), (3, 3), (100, 7), (5, 1)):
                parts = [take(one, one.share) for one in shares(size, trainers, shuffle)]
                self.assertEqual(sorted(itertools.chain(*parts)), list(range(size)))
                self.assertLessEqual(max(map(len, parts)) - min(map(len, parts)), 1)

    def test_in_order(self):
        second = shares(10, 3, shuffle=False)[1]
        self.assertEqual(take(second, 7), [3, 4, 5, 3, 4, 5, 3])

    def test_sorted_by_class(self):
        """Each peer has of every class, of a set that has one class after the other."""
        for one in shares(300, 3, shuffle=True):
            classes = {item // 100 for item in take(one, one.share)}
            self.assertEqual(classes, {0, 1, 2})

    def test_new_order_each_pass(self):
        one = shares(100, 2, shuffle=True)[0]
        both = take(one, 100)
        self.assertEqual(sorted(both[:50]), sorted(both[50:]))
        self.assertNotEqual(both[:50], both[50:])

    def test_same_again(self):
        first, second = shares(100, 2, True)[1], shares(100, 2, True)[1]
        self.assertEqual(take(first, 120), take(second, 120))
        self.assertNotEqual(take(first, 50), take(shares(100, 2, True, seed=2)[1], 50))

    def test_iterated_again(self):
        one, other = shares(100, 2, True)[0], shares(100, 2, True)[0]
        both = take(other, 100)
        self.assertEqual(take(one, 50) + take(one, 50), both, "a second pass, in its own order")

    def test_goes_on(self):
        asked = []
        later = ShareSampler(100, 0, 2, 1, True, lambda share: asked.append(share) or 1)
        self.assertEqual(asked, [], "not before it is iterated")
        self.assertEqual(take(later, 50), take(shares(100, 2, True)[0], 100)[50:])
        self.assertEqual(asked, [50])

    def test_too_small(self):
        with self.assertRaisesRegex(ValueError, "2 samples is too small for 3 peers"):
            shares(2, 3, True)

    def test_no_length(self):
        with self.assertRaises(TypeError):
            len(shares(10, 1, True)[0])

    @bench.needs_torch
    def test_data_loader(self):
        torch = bench.torch
        data = torch.utils.data.TensorDataset(torch.arange(10))
        sampler = make_sampler(10, 1, 2, 1, False, lambda share: 0)
        self.assertIsInstance(sampler, torch.utils.data.Sampler)
        for workers in (0, 2):
            loader = torch.utils.data.DataLoader(data, 3, sampler=sampler, num_workers=workers)
            batches = [batch.tolist() for (batch,) in itertools.islice(loader, 3)]
            self.assertEqual(batches, [[5, 6, 7], [8, 9, 5], [6, 7, 8]])


if __name__ == "__main__":
    unittest.main()
