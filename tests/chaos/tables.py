"""The acceptance tables, from what was measured: lines of JSON, one per trial, in any number of
files and folders, so that parts that were measured apart are joined. Values only.
"""

import glob
import json
import os
import statistics

import accuracy
import containers
import goodput
from scenarios import SCENARIOS

# part: (its files, what makes two lines the same measurement)
PARTS = {"table": ("trials-*.jsonl", ("scenario", "number")),
         "goodput": ("goodput.jsonl", ("every", "seconds_asked")),
         "accuracy": ("accuracy.jsonl", ("seed", "epochs")),
         "containers": ("containers.jsonl", ("what", "number"))}


def read(part, folders):
    """The measurements of a part that lie in these folders; of two that are the same, the first."""
    pattern, keys = PARTS[part]
    found = {}
    for folder in folders:
        for path in sorted(glob.glob(os.path.join(folder, pattern))):
            with open(path) as file:
                for line in file:
                    if line.endswith("\n"):  # else half of one: the program was ended
                        measured = json.loads(line)
                        found.setdefault(tuple(measured.get(key) for key in keys), measured)
    return list(found.values())


def add(path, measured):
    with open(path, "a") as file:
        file.write(json.dumps(measured) + "\n")


def spread(values, form="{:.1f}"):
    """The median and the worst."""
    values = [value for value in values if value is not None]
    if not values:
        return "-"
    return f"{form} / {form}".format(statistics.median(values), max(values))


def times_of_bytes(trials):
    """How long peers took to join, over what one link of that rate needs for the bytes: what comes
    to a peer comes over its own link, from all others together."""
    found = []
    for it in trials:
        if it.get("joined") and it["joined"][1] > 0 and it.get("rate"):
            seconds, megabytes = it["joined"]
            mbit = float(it["rate"].split(",")[0].removesuffix("mbit"))
            found.append(seconds / (megabytes * 8 / mbit))
    return found


def main_row(scenario, trials):
    named = [seconds for it in trials for seconds in it["named"]]
    unnamed = sum(1 for seconds in named if seconds is None)
    paces = [it["pace"] for it in trials if it["pace"] is not None]
    identical = sum(1 for it in trials if len(it["claims"]) == 1)
    together = sorted({len(it["agreed"]) for it in trials})
    return [scenario.name, len(trials),
            spread(named) + (f", {unnamed} not" if unnamed else ""),
            spread([it["pause"] for it in trials]),
            f"{statistics.median(paces):.2f}" if paces else "-",
            spread([it.get("catch_up") for it in trials]),
            f"{identical} of {len(trials)}, on " + " or ".join(map(str, together)),
            spread([it["loss_rise"] for it in trials], "{:.3f}")]


def more_row(scenario, trials):
    exits = {}
    for it in trials:
        ended = it["exits"].get(it["victim"])
        exits[ended] = exits.get(ended, 0) + 1
    return [scenario.name, spread([it["connected"] for it in trials]),
            spread([it.get("first_round") for it in trials]),
            spread([it["joined"][0] for it in trials if it.get("joined")]) + ", x " +
            spread(times_of_bytes(trials), "{:.2f}"),
            ", ".join(f"{count} x {ended}" for ended, count in sorted(exits.items(), key=str)),
            sum(1 for it in trials if it["findings"])]


MAIN = (main_row, ["scenario", "trials", "named after, s", "pause of the others' pace, s",
                   "their pace", "catch-up, s", "identical", "largest rise of the smoothed loss"])
MORE = (more_row, ["scenario", "connected, s", "first round, s", "joined, s, x its bytes' time",
                   "its status", "not well"])


def of_trials(trials):
    lines = ["Two figures: the median and the worst."]
    for make, headings in (MAIN, MORE):
        lines += ["", "| " + " | ".join(headings) + " |", "|" + " --- |" * len(headings)]
        for scenario in SCENARIOS:
            own = [it for it in trials if it["scenario"] == scenario.name]
            if own:
                lines.append("| " + " | ".join(str(cell) for cell in make(scenario, own)) + " |")
    return "\n".join([*lines, *(f"- {it['scenario']}, trial {it['number']}: {finding}"
                                for it in trials for finding in it["findings"])])


TABLES = {"table": of_trials, "goodput": goodput.table, "accuracy": accuracy.table,
          "containers": containers.table}


def not_well(part, found):
    return any(it["status"] if part == "accuracy" else it["findings"] for it in found)
