"""What is shared, what branches, and how stages are named."""

import dataclasses

import cases
from ako.explore.plan import read_plan
from ako.explore.tree import Tree

CLUSTER = "name: search\ncluster: cluster.yaml\n"


class Trees(cases.Case):
    def trials(self, text, mode="local", constant=True, base="base"):
        plan = read_plan(str(self.write(CLUSTER + text)))
        tree = Tree(plan, base, {"exchange.mode": mode}, constant)
        return [tree.trial(number, config) for number, config in enumerate(plan.grid())]

    def keys(self, trials):
        return [[stage.key for stage in trial.stages] for trial in trials]

    def test_shares_what_comes_before(self):
        trials = self.trials("""\
stages:
  - start: {epochs: 2}
  - train: {epochs: 1, explore: {training.learning_rate: [0.1, 0.2]}}
""")
        one, other = trials
        self.assertEqual(one.stages[0].key, other.stages[0].key)
        self.assertNotEqual(one.stages[1].key, other.stages[1].key)
        self.assertEqual([(s.begin, s.until, s.branches) for s in one.stages],
                         [(0, 2, False), (2, 3, True)])

    def test_a_change_recomputes_its_descendants_alone(self):
        text = """\
stages:
  - start: {epochs: 2, settings: {training.momentum: 0.9}}
  - train: {epochs: 1, explore: {training.learning_rate: [0.1, 0.2]}}
"""
        before = self.keys(self.trials(text))
        later = self.keys(self.trials(text.replace("0.2", "0.3")))
        self.assertEqual(before[0], later[0])
        self.assertEqual(before[1][0], later[1][0])
        self.assertNotEqual(before[1][1], later[1][1])
        first = self.keys(self.trials(text.replace("0.9", "0.8")))
        self.assertFalse({*before[0], *before[1]} & {*first[0], *first[1]})
        self.assertFalse({*before[0]} & {*self.keys(self.trials(text, base="other"))[0]})

    def test_lengths_are_cut_from_one(self):
        text = "stages:\n  - train: {explore: {epochs: [1, 2, 4]}}\n"
        trials = self.trials(text)
        self.assertEqual([[s.until for s in trial.stages] for trial in trials],
                         [[1], [1, 2], [1, 2, 4]])
        self.assertEqual(len({key for keys in self.keys(trials) for key in keys}), 3)
        # A schedule looks at the epochs to come.
        falling = self.trials(text, constant=False)
        self.assertEqual(len({key for keys in self.keys(falling) for key in keys}), 3)
        self.assertEqual([len(trial.stages) for trial in falling], [1, 1, 1])

    def test_what_branches(self):
        """Another batch, mode or number of peers takes the model over, and no more."""
        text = """\
stages:
  - start: {epochs: 1}
  - train: {epochs: 1, explore: {%s}}
"""
        for explored, mode, branches in (
                ("training.learning_rate: [0.3]", "ako", True),
                ("training.batch.local: [32]", "local", True),
                ("training.batch.local: [32]", "ako", False),
                ("exchange.mode: [ring]", "ako", False),
                ("units.peers: [2]", "local", False),
                ("data.augmentation.flip: [true]", "local", False)):
            [trial] = self.trials(text % explored, mode)
            self.assertEqual(trial.stages[1].branches, branches, explored)

    def test_rungs(self):
        [trial] = self.trials("""\
stages:
  - start: {epochs: 1}
  - train: {epochs: 3, explore: {training.momentum: [0.5]}}
choose: {stop: {asha: {eta: 2, grace_epochs: 0.5}}}
""")
        self.assertEqual([s.until for s in trial.stages], [1, 1.5, 2, 3, 4])

    def test_values_that_change_together(self):
        [trial] = self.trials("stages:\n  - train: {epochs: 1, explore: {how: [{training.momentum: "
                              "0.5, training.optimizer: lars}]}}\n")
        self.assertEqual(dict(trial.stages[0].settings)["training.optimizer"], "lars")
        self.assertNotIn("how", dict(trial.stages[0].settings))

    def test_data(self):
        [trial] = self.trials("stages:\n  - data: {explore: {normalise: [none], subset: [0.5]}}\n"
                              "  - train: {epochs: 1}\n")
        said = dict(trial.stages[0].settings)
        self.assertEqual((said["data.subset"], said["data.normalisation.deviation"],
                          said["data.validation"]), (0.5, 1, 0.1))

    def test_stages_are_values(self):
        [trial] = self.trials("stages:\n  - train: {epochs: 1}\n")
        with self.assertRaises(dataclasses.FrozenInstanceError):
            trial.stages[0].until = 2
