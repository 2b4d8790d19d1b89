"""Rungs, what is kept, and what is dropped."""

import types
import unittest

from ako.explore.choosing import Kept, Rungs, best, ranking, to_drop


def plan(direction="maximize", asha=(3, 1)):
    return types.SimpleNamespace(direction=direction, asha=asha)


def trial(number, score, state="done"):
    return types.SimpleNamespace(number=number, score=score, state=state)


class Choosing(unittest.TestCase):
    def test_the_best_third_goes_on_and_nobody_waits(self):
        rungs = Rungs(plan())
        for number, score in enumerate((0.5, 0.9)):
            rungs.arrive(trial(number, score), 1.0)
        self.assertIsNone(rungs.promotable())
        rungs.arrive(trial(2, 0.1), 1.0)
        self.assertEqual(rungs.promotable(), (1, 1.0))
        rungs.promoted.add((1, 1.0))
        self.assertIsNone(rungs.promotable())
        for number, score in ((3, 0.2), (4, 0.3), (5, 0.4)):
            rungs.arrive(trial(number, score), 1.0)
        self.assertEqual(rungs.promotable(), (0, 1.0))  # who had to wait may still rise

    def test_the_highest_rung_first(self):
        rungs = Rungs(plan(asha=(2, 1)))
        for rung in (1.0, 2.0):
            for number in (0, 1):
                rungs.arrive(trial(number, number), rung)
        self.assertEqual(rungs.promotable(), (1, 2.0))

    def test_a_loss_is_better_the_lower(self):
        rungs = Rungs(plan("minimize", (2, 1)))
        rungs.arrive(trial(0, 0.2), 1.0)
        rungs.arrive(trial(1, 0.4), 1.0)
        self.assertEqual(rungs.promotable(), (0, 1.0))
        found = best(plan("minimize"), [trial(0, 0.3), trial(1, 0.1), trial(2, 0.0, "dropped")])
        self.assertEqual([it.number for it in found], [1, 0])

    def test_branches_are_ranked_by_name_too(self):
        self.assertEqual(ranking(plan(), {"a": 0.1, "b": 0.3, "c": 0.2}), ["b", "c", "a"])


class Keeping(unittest.TestCase):
    def test_what_nobody_reads_goes_at_once(self):
        kept = {"a": Kept(10, 5, 0), "b": Kept(10, 5, 1), "c": Kept(10, 5, 0)}
        self.assertEqual(to_drop(kept, 1e9, {"c"}), ["a"])

    def test_what_is_worth_least_goes_first(self):
        kept = {"cheap": Kept(10, 1, 1, read_at=9), "dear": Kept(10, 50, 1, read_at=1),
                "often": Kept(10, 1, 9, read_at=2)}
        self.assertEqual(to_drop(kept, 20, set()), ["cheap"])
        self.assertEqual(to_drop(kept, 10, set()), ["cheap", "often"])
        self.assertEqual(to_drop(kept, 20, set(), policy="lru"), ["dear"])
        self.assertEqual(to_drop(kept, 0, {"cheap", "dear"}), ["often"])
