#!/usr/bin/env python3
"""Does a run under Slurm take what it was granted, and no more? And does the next one start when
there is room?

    grants.py groups [--repeats 10]     # cores and memory, by the counters of control groups
    grants.py slots [--repeats 10]      # three jobs on four slots, beside three of Slurm alone
    grants.py --table

A Slurm of its own (deploy/engines/local-slurm): for `groups` one node of two processors, whose
jobs Slurm keeps in control groups of v1: in half of the runs they are held to their cores, as
clusters do, in the other half only counted, for who is held cannot show that it would have taken
more. Two peers of one core each. A line for each run in grants.jsonl. Root.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
sys.path.insert(0, str(HERE.parent))
import runs  # noqa: E402

AKO = REPOSITORY / "build/release/ako"
LOCAL_SLURM = [str(REPOSITORY / "deploy/engines/local-slurm"), "--name", "grants"]
GROUPS = pathlib.Path("/sys/fs/cgroup")
MEMORY_MB = 400  # of each peer
SLEEP_S = 8


def said_by(*words):
    return subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL).stdout


def submit(output, peers, *words, settings=()):
    more = [word for setting in settings for word in ("--set", setting)]
    said = said_by(AKO, "submit", HERE / "cluster.yaml", "--engine", "slurm", "--peers", peers,
                   "--time", "10", "--set", f"output={output}", *more, *words)
    folder = pathlib.Path(said.split(":", 1)[0]).resolve()
    return folder, json.loads((folder / "submitted.json").read_text())["id"]


def state_of(job):
    said = said_by("scontrol", "show", "job", "--oneliner", job)
    return re.search(r"JobState=(\S+)", said)[1]


def number(path):
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return None


class Counters:
    """Of one job, read again and again while it runs."""

    def __init__(self, job):
        self.job, self.memory, self.failures, self.cores = job, {}, 0, {}
        self.before = {}  # by step: when, and its nanoseconds of processors

    def read(self):
        for group in GROUPS.glob(f"memory/slurm_n*/uid_*/job_{self.job}"):
            most = number(group / "memory.max_usage_in_bytes")
            limit = number(group / "memory.limit_in_bytes")
            if most and limit:
                self.memory[str(group)] = (most, limit)
                self.failures = max(self.failures, number(group / "memory.failcnt") or 0)
        for group in GROUPS.glob(f"cpuacct/slurm_n*/uid_*/job_{self.job}/step_[0-9]*"):
            used, now = number(group / "cpuacct.usage"), time.monotonic_ns()
            if used is None:
                continue
            key = str(group)
            then, before = self.before.setdefault(key, (now, used))
            if now - then > 1e9:
                self.cores.setdefault(key, []).append((used - before) / (now - then))
                self.before[key] = (now, used)


def groups(repeat, output, how):
    _, job = submit(output, 2, "--memory", MEMORY_MB, settings=["training.epochs=0.5"])
    counters = Counters(job)
    while state_of(job) in ("PENDING", "RUNNING", "COMPLETING"):
        counters.read()
        time.sleep(0.1)
    per_step = [max(values) for values in counters.cores.values()]
    means = [sum(values) / len(values) for values in counters.cores.values()]
    shares = [most / limit for most, limit in counters.memory.values()]
    return {"what": "groups", "repeat": repeat, "groups": how, "state": state_of(job),
            "granted_cores": 1, "steps": len(per_step), "cores_mean": round(max(means), 3),
            "cores_most": round(max(per_step), 3), "memory_share": round(max(shares), 3),
            "memory_refused": counters.failures}


def first_sign(path):
    return path.exists() and path.stat().st_size > 0


def third_starts(ids, began):
    """Seconds from the first end among the first two to the third's first sign of life."""
    ended = None
    while True:
        now = time.monotonic()
        if ended is None and any(state_of(job) not in ("PENDING", "RUNNING") for job in ids[:2]):
            ended = now
        if began():
            return now - ended if ended else None
        time.sleep(0.02)


def slots(repeat, output):
    ours, folders = [], []
    for epochs in (0.3, 1.5, 0.3):  # the first ends first
        folder, job = submit(output, 2, settings=[f"training.epochs={epochs}"])
        ours.append(job)
        folders.append(folder)
    waited_s = third_starts(ours, lambda: any(folders[2].glob("attempt-0")))
    while any(state_of(job) in ("PENDING", "RUNNING", "COMPLETING") for job in ours):
        time.sleep(0.2)
    states = [state_of(job) for job in ours]
    logs = [pathlib.Path(output) / f"alone-{repeat}-{k}.txt" for k in range(3)]
    alone = [said_by("sbatch", "--parsable", "--ntasks=2", "--time=10", f"--output={log}",
                     "--wrap", f"echo begun; sleep {seconds}").strip()
             for log, seconds in zip(logs, (SLEEP_S, 3 * SLEEP_S, 1))]
    alone_s = third_starts(alone, lambda: first_sign(logs[2]))
    for job in alone:
        subprocess.run(["scancel", job], check=False)
    while any(state_of(job) in ("PENDING", "RUNNING", "COMPLETING") for job in alone):
        time.sleep(0.2)
    return {"what": "slots", "repeat": repeat, "states": states, "third_starts_s": waited_s,
            "slurm_alone_s": alone_s}


def table(found):
    for what in ("groups", "slots"):
        for line in found.of(what=what):
            print(json.dumps(line))


UP = {"hold": ["--nodes", "1", "--cpus", "2", "--control-groups", "hold"],
      "count": ["--nodes", "1", "--cpus", "2", "--control-groups", "count"],
      "slots": ["--nodes", "4"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("groups", "slots"), nargs="?")
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--table", action="store_true")
    arguments = parser.parse_args()
    found = runs.Runs(HERE / "grants.jsonl")
    if arguments.table or not arguments.what:
        return table(found)
    for how in ("hold", "count") if arguments.what == "groups" else ("slots",):
        measure(found, how, arguments.repeats)


def measure(found, how, repeats):
    subprocess.run([*LOCAL_SLURM, "up", *UP[how]], check=True)
    os.environ["SLURM_CONF"] = said_by(*LOCAL_SLURM, "env").strip().split("=", 1)[1]
    try:
        with tempfile.TemporaryDirectory(prefix="ako-grants-") as output:
            for repeat in range(repeats):
                line = {"what": "slots"} if how == "slots" else {"what": "groups", "groups": how}
                if found.find(**line, repeat=repeat):
                    continue
                found.add(slots(repeat, output) if how == "slots" else
                          groups(repeat, output, how))
                print(json.dumps(found.lines[-1]), flush=True)
    finally:
        said_by(*LOCAL_SLURM, "down")


if __name__ == "__main__":
    main()
