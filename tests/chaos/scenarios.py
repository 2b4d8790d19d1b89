"""The scenarios of the acceptance tables: what happens to one of four peers (to two, in a
partition), and when it comes back. Values only."""

import dataclasses

# Not a number of seconds: never; when the others are in the final exchange or have just ended it;
# when their processes have ended.
NEVER, AT_THE_END, WHEN_GONE = "never", "at the end", "when gone"


@dataclasses.dataclass(frozen=True)
class Scenario:
    name: str
    kind: str             # of faults.KINDS, or nothing
    back: object          # seconds, or one of the above
    at_end: bool = False  # it strikes within half a second of the end of the training

    def seconds(self):
        return self.back if isinstance(self.back, (int, float)) else 0.0

    def returns_in_training(self):
        return isinstance(self.back, (int, float)) and not self.at_end


def _each(kind, what):
    return [Scenario(f"{what}, {text}", kind, back) for text, back in (
        ("never back", NEVER), ("back after 1 s", 1.0), ("back after 10 s", 10.0),
        ("back after 60 s", 60.0), ("back at the others' end", AT_THE_END),
        ("back when they are gone", WHEN_GONE))]


SCENARIOS = [
    Scenario("nothing", "nothing", 0.0),
    *_each("kill", "killed"),
    *_each("stop", "stopped"),
    *_each("mute", "silent in one direction"),
    Scenario("deaf: silent in the other direction, back after 10 s", "deaf", 10.0),
    *_each("cut", "cut off in both"),
    Scenario("asked to leave (SIGTERM)", "leave", NEVER),
    Scenario("hung, never back", "hang", NEVER),
    Scenario("hung, back after 10 s", "hang", 10.0),
    Scenario("late by 10 s", "late", 10.0),
    Scenario("late by 60 s", "late", 60.0),
    Scenario("never there: a spare slot", "late", NEVER),
    Scenario("a second process under its name", "second", 0.0),
    Scenario("2 and 2 apart for 10 s", "partition", 10.0),
    Scenario("3 and 1 apart at the end for 5 s", "partition3", 5.0, at_end=True),
    Scenario("2 and 2 apart at the end for 5 s", "partition", 5.0, at_end=True),
    Scenario("killed at the end, back after 1 s", "kill", 1.0, at_end=True),
]


def chosen(words):
    """Those whose names have one of the words; all without any."""
    if not words:
        return SCENARIOS
    return [it for it in SCENARIOS if any(word in it.name for word in words)]
