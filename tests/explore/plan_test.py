"""What a plan may say, and what is refused with its line."""

import cases
from ako.explore.plan import PlanError, read_plan

HEAD = "name: search\nprogram: [python3, train.py]\n"


class Plans(cases.Case):
    def refused(self, text):
        with self.assertRaises(PlanError) as caught:
            read_plan(str(self.write(text)))
        return str(caught.exception)

    def test_reads(self):
        plan = read_plan(str(self.write(HEAD + """\
stages:
  - start: {epochs: 2, settings: {rate: 0.1}}
  - train: {epochs: 3, explore: {x: [1, 2], y: [a, b, c]}}
choose: {score: quality, keep: 2, stop: {asha: {eta: 2, grace_epochs: 0.5}}}
""")))
        self.assertEqual([stage.epochs for stage in plan.stages], [2, 3])
        self.assertEqual(plan.grid()[1], {"x": 1, "y": "b"})
        self.assertEqual(len(plan.grid()), 6)
        self.assertEqual((plan.asha, plan.keep), ((2, 0.5), 2))

    def test_refuses_with_the_line(self):
        stages = "stages:\n  - train: {epochs: 1, explore: {x: [1]}}\n"
        for text, words in (
                (HEAD + stages + "chose: {keep: 1}\n", "plan.yaml:5: chose: there is no such key; "
                                                       "did you mean choose?"),
                (HEAD + stages + "choose: {keep: 0}\n", "plan.yaml:5: keep: expected a whole"),
                (HEAD + stages + "choose:\n  stop: {asha: {}, first_good: 1}\n",
                 "exclude each other"),
                (HEAD + stages + "sampler: tpe\n", "plan.yaml:5: sampler: tpe needs budget"),
                (HEAD + "stages:\n  - train: {explore: {x: [1]}}\n", "plan.yaml:4: train: for how"),
                (HEAD + "stages:\n  - train: {epochs: 1, explore: {x: {low: 2, high: 1}}}\n",
                 "plan.yaml:4: x: expected a list"),
                (HEAD + "stages:\n  - train: {epochs: 1, explore: {x: {low: 1, high: 2}}}\n",
                 "x is a range"),
                (HEAD + "stages:\n  - train: {epochs: 1}\n  - data: {}\n", "data come before"),
                (HEAD + "name: again\n" + stages, "plan.yaml:3: name: stands twice"),
                ("name: a\ncluster: none.yaml\n" + stages, "there is no file"),
                ("name: a\ncluster: cluster.yaml\nchoose: {score: beauty}\n" + stages,
                 "plan.yaml:3: score: no run reports it"),
                (HEAD.replace("search", "../x") + stages, "plan.yaml:1: name: expected at most 64"),
                (HEAD + stages + "resumes: often\n", "expected true or false"),
                (HEAD + "stages:\n  - train: {epochs: 1, settings: {training.epochs: 2}}\n",
                 "plan.yaml:4: train: training.epochs is said by epochs of the plan"),
                (HEAD + "stages:\n  - data: {explore: {normalise: [half]}}\n", "expected none or"),
                (HEAD + "stages:\n  - train: {epochs: 1, keep: 2}\n", "said by choose.keep"),
                (HEAD + stages + "budget: {trials: .inf}\n", "plan.yaml:5: trials: expected a"),
                ("name: a\ncluster: cluster.yaml\ndirection: minimize\n" + stages,
                 "plan.yaml:3: direction: is for a program"),
                ("[1]", "a plan has name"), ("a: [", "plan.yaml")):
            self.assertIn(words, self.refused(text), text)
