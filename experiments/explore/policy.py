#!/usr/bin/env python3
"""With room for a part of what stages leave for others: what has to be read or made again, by the
rule of `ako explore` (accesses left times cost, by the byte) and by LRU?

    policy.py [--share 0.25] [PLAN]     # explore-levels.yaml if left out

The plan's tree is walked as the driver does, with one slot and with several, and the very functions
decide; stages cost their epochs, and leave as much each. Nothing is trained.
"""

import argparse
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "src/python"))
from ako.explore.choosing import Kept, to_drop  # noqa: E402
from ako.explore.plan import read_plan  # noqa: E402
from ako.explore.tree import Tree  # noqa: E402


class Walk:
    """Of all trials; with `limit` stages at most that are kept."""

    def __init__(self, trials, limit, policy, slots):
        self.trials, self.limit, self.policy, self.slots = trials, limit, policy, slots
        self.kept, self.made, self.clock, self.most = {}, {}, 0, 0
        self.epochs = self.again = 0

    def run(self):
        waiting = list(self.trials)
        while waiting:
            for trial in waiting[:self.slots]:  # side by side: one stage of each in turn
                if trial.next().key not in self.made:
                    self.make(trial.next())
                trial.at += 1
                self.drop()
            waiting = [trial for trial in waiting if trial.next()]

    def make(self, stage):
        if stage.key in self.kept:
            return
        if stage.parent:
            self.make(stage.parent)
            self.kept[stage.parent.key].read_at = self.clock
        self.clock += 1
        cost = stage.until - stage.begin
        self.epochs += cost
        self.again += cost if stage.key in self.made else 0
        self.made[stage.key] = stage
        self.kept[stage.key] = Kept(1, cost, 0, self.clock)
        self.most = max(self.most, len(self.kept))

    def readers(self, key):
        return {stage.key for trial in self.trials for stage in trial.stages[trial.at:]
                if stage.parent and stage.parent.key == key}

    def drop(self):
        for key, it in self.kept.items():
            # LRU knows nothing of what is to come.
            it.accesses = len(self.readers(key)) if self.policy == "worth" else 1
        for key in to_drop(self.kept, self.limit, set(), self.policy):
            del self.kept[key]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plan", nargs="?", default=str(HERE / "explore-levels.yaml"))
    parser.add_argument("--share", type=float, default=0.25)
    arguments = parser.parse_args()
    plan = read_plan(arguments.plan)
    for slots in (1, 2, 4, 8):
        line = {"slots": slots}
        for policy in ("worth", "lru"):
            tree = Tree(plan, "", {"exchange.mode": "local"}, True)
            trials = [tree.trial(k, config) for k, config in enumerate(plan.grid())]
            inner = {stage.parent.key for it in trials for stage in it.stages if stage.parent}
            walk = Walk(trials, arguments.share * len(inner), policy, slots)
            walk.run()
            line.update({"intermediates": len(inner), f"{policy}_epochs": walk.epochs,
                         f"{policy}_again": walk.again})
        print(json.dumps(line))


if __name__ == "__main__":
    main()
