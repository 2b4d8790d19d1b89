"""Figures of one trial, from the metrics lines of its lives (one a second each). Values only.

The clock is this machine's monotonic one. A line says when it was made by the clock of its process;
the two are brought together by the line that was seen here with the least delay.
"""

import re
import statistics

JOINS = re.compile(r"joins a run that is at .*: ([\d.e+]+) MB to come")
JOINED = re.compile(r"has joined after ([\d.]+) s")
BEFORE_S = 6.0     # the pace before an event is the median over these
AFTER_S = 8.0      # and a pause is looked for in these
SLOW_BELOW = 0.7   # of that pace: seconds in which less was done belong to a pause
SMOOTHED_OVER_S = 3.0
STALE_MORE = 10    # rounds: who is no further behind than twice as far as before, and this


class Second:
    """What one life did between two of its lines."""

    def __init__(self, before, line, offset):
        self.begin, self.end = before["time"] + offset, line["time"] + offset
        self.seconds = max(line["time"] - before["time"], 1e-3)
        self.samples = line["samples"] - before["samples"]
        self.samples_per_s = self.samples / self.seconds
        self.loss = line["loss"] if self.samples > 0 else None
        self.line = line


def seconds_of(life):
    if len(life.metrics) < 2:
        return []
    offset = min(line.at - line.own["time"] for line in life.metrics)
    own = [line.own for line in life.metrics]
    return [Second(before, line, offset) for before, line in zip(own, own[1:])
            if line["phase"] in ("waiting", "training")]


def pace_before(seconds, moment):
    found = [it.samples_per_s for it in seconds if moment - BEFORE_S < it.end <= moment]
    return statistics.median(found) if found else None


def pause(seconds, moment):
    """(the longest pause after a moment in seconds, the pace after it as a share of that
    before)."""
    before = pace_before(seconds, moment)
    after = [it for it in seconds if moment < it.end <= moment + AFTER_S]
    if not before or not after:
        return None, None
    longest = now = 0.0
    for it in after:
        share = it.samples_per_s / before
        now = now + it.seconds * (1 - share) if share < SLOW_BELOW else 0.0
        longest = max(longest, now)
    done = sum(it.samples_per_s * it.seconds for it in after)
    return longest, done / sum(it.seconds for it in after) / before


def pauses(lives, moment):
    """Of several: the longest pause, and the mean pace."""
    found = [pause(seconds_of(life), moment) for life in lives]
    found = [it for it in found if it[0] is not None]
    if not found:
        return None, None
    return max(it[0] for it in found), statistics.mean(it[1] for it in found)


def staleness(line):
    return max((link["staleness_rounds"] for link in line["links"] if link["live"]), default=0)


def first_round(seconds, moment, fresh_as=None):
    """When a life made its first round after a moment, in a second in which it was not further
    behind than `fresh_as` allows; (moment, the line), or None."""
    typical = statistics.median([it.samples_per_s for it in seconds if it.samples > 0] or [1])
    bound = None if fresh_as is None else 2 * fresh_as + STALE_MORE
    for it in seconds:
        if it.end <= moment or it.samples <= 0:
            continue
        if bound is not None and staleness(it.line) > bound:
            continue
        taken = min(it.seconds, it.samples / typical)
        return max(it.end - taken, moment), it.line
    return None


def joined(said):
    """(seconds, megabytes) that a peer says it took to join a run; None if it did not."""
    megabytes = seconds = None
    for _, text in said:
        if match := JOINS.search(text):
            megabytes = float(match[1])
        elif match := JOINED.search(text):
            seconds = float(match[1])
    return None if seconds is None or megabytes is None else (seconds, megabytes)


def stale_before(seconds, moment):
    found = [staleness(it.line) for it in seconds if moment - BEFORE_S < it.end <= moment]
    return statistics.median(found) if found else None


def loss_rise(lives, moment, end):
    """The largest rise of the smoothed loss of several after a moment, over what it was then."""
    points = sorted((it.end, it.loss) for life in lives for it in seconds_of(life)
                    if it.loss is not None and it.end <= end)
    smoothed, at, then, highest = None, None, None, 0.0
    for end_of_second, loss in points:
        if smoothed is None:
            smoothed, at = loss, end_of_second
        weight = 1 - 2.718281828 ** -((end_of_second - at + 0.25) / SMOOTHED_OVER_S)
        smoothed, at = smoothed + weight * (loss - smoothed), end_of_second
        if end_of_second <= moment:
            then = smoothed
        elif then is not None:
            highest = max(highest, smoothed - then)
    return highest if then is not None else None
