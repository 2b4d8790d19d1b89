#!/usr/bin/env python3
"""Does every cut-off run go on, and does `ako verify` see what was changed?

    recover.py kills [--modes ring,ako] [--times 100]
    recover.py verify [--times 10]          # so many runs as they are, and so many changed
    recover.py table                        # of recovered.jsonl, nothing is run

`kills`: three peers are killed at a random moment, all at once, and started again with --resume,
over and over: one run. A recovery is right when every peer goes on from a checkpoint at least as
new as the newest that was whole on all disks (mode ako: on its own) before the kill.

`verify`: runs of each mode in which rounds are alike, verified; then one bit of one tensor of a
checkpoint is changed by chance, with a checksum that is right, and the run is verified again.
"""

import argparse
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
sys.path[:0] = [str(HERE.parent), str(REPOSITORY / "tests/e2e"), str(HERE)]
import runs  # noqa: E402
from study import AKO, MODES, words  # noqa: E402
from verifying import change  # noqa: E402

PEERS = ("p1", "p2", "p3")
WAIT_S = 60
CLUSTER = """\
run: study
model: {name: synthetic, parameters: 100000, compute_ms: 2, samples: 100000000}
training: {batch: 1, epochs: 1, evaluate_every: 0, checkpoint_every: 0.0000002, must_learn: false}
exchange: {mode: ring}
peers: {count: 3}
"""
VERIFIED = """\
run: study
model: mlp
data: {path: %s}
training: {epochs: 1, evaluate_every: 0.5, checkpoint_every: 0.15}
exchange: {mode: ring}
peers: {count: 2}
"""
GOES_ON = re.compile(r"(p\d) .*?(?:goes on from round|has its rows from a checkpoint of round) "
                     r"(\d+)")


def rounds_of(folder, peer):
    return {int(path.stem.rsplit("-", 1)[1]) for path in folder.glob(f"state-{peer}-*.safetensors")}


def newest_of_all(folder, alone):
    """[peer] the least that it has to go on from."""
    rounds = [rounds_of(folder, peer) for peer in PEERS]
    if alone:
        return [max(one, default=0) for one in rounds]
    return [max(set.intersection(*rounds), default=0)] * len(PEERS)


def descendants(pid):
    tree = subprocess.run(["ps", "-e", "-o", "pid=,ppid="], capture_output=True, text=True,
                          check=True).stdout
    pairs = [tuple(map(int, line.split())) for line in tree.splitlines()]
    found, more = [pid], [pid]
    while more:
        more = [child for child, parent in pairs if parent in more]
        found += more
    return found


def kill_all(process):
    for pid in descendants(process.pid):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    return process.communicate()[0]


def one_start(mode, folder, number, before, chance):
    """Starts it, from the run folder of the start before, and cuts it off. (text, run folder)"""
    run = folder / f"run-{number}"
    words = [AKO, "launch", folder / "cluster.yaml", "--plain", "--free-ports", "--output-dir", run]
    words += [word for setting in MODES[mode] for word in ("--set", setting)]
    words += ["--resume", before] if before else []
    process = subprocess.Popen([str(word) for word in words], stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    alone = mode in ("ako", "local")
    least = newest_of_all(before, alone) if before else [0] * len(PEERS)
    until = time.monotonic() + WAIT_S
    while time.monotonic() < until and process.poll() is None:
        if run.exists() and all(now > then for now, then in zip(newest_of_all(run, alone), least)):
            break
        time.sleep(0.01)
    time.sleep(chance.uniform(0, 0.3))  # the moment of the fault, not a synchronisation
    return kill_all(process), run


def kills(mode, times, found):
    chance = random.Random(mode)
    alone = mode in ("ako", "local")
    with tempfile.TemporaryDirectory(prefix="ako-recover-") as place:
        folder = pathlib.Path(place)
        (folder / "cluster.yaml").write_text(CLUSTER)
        _, before = one_start(mode, folder, 0, None, chance)
        right = 0
        for number in range(1, times + 1):
            expected = newest_of_all(before, alone)
            text, run = one_start(mode, folder, number, before, chance)
            said = {peer: int(of_round) for peer, of_round in GOES_ON.findall(text)}
            if all(said.get(peer, -1) >= least for peer, least in zip(PEERS, expected)):
                right += 1
            else:
                print(f"{mode}, start {number}: {said}, expected {expected}:\n{text}", flush=True)
            before = run
        found.add({"what": "kills", "mode": mode, "times": times, "right": right})


def verify(mode, times, found):
    chance = random.Random(mode)
    with tempfile.TemporaryDirectory(prefix="ako-recover-") as place:
        folder = pathlib.Path(place)
        (folder / "cluster.yaml").write_text(VERIFIED % (REPOSITORY / "experiments/mnist/data"))
        right = {"as it is": 0, "changed": 0}
        for number in range(times):
            run = folder / f"run-{number}"
            runs.launch(AKO, folder / "cluster.yaml", MODES[mode], "--free-ports",
                        "--set", f"seed={number + 1}", "--output-dir", run)

            def exit_of():
                return subprocess.run([AKO, "verify", run], stdin=subprocess.DEVNULL,
                                      capture_output=True, check=False).returncode
            right["as it is"] += exit_of() == 0
            # Not before the first round that all have: nothing leads there.
            first = min(rounds_of(run, "p1") & rounds_of(run, "p2"))
            victim = chance.choice(sorted(
                run / f"state-{peer}-{of_round}.safetensors"
                for peer in ("p1", "p2") for of_round in rounds_of(run, peer)
                if of_round >= first))
            with victim.open("rb") as file:
                head = json.loads(file.read(int.from_bytes(file.read(8), "little")))
            change(victim, chance.choice(sorted(
                name for name, tensor in head.items()
                if name != "__metadata__" and tensor["dtype"] == "F32")))
            right["changed"] += exit_of() == 4
        for what, count in right.items():
            found.add({"what": f"verify, {what}", "mode": mode, "times": times, "right": count})


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("kills", "verify", "table"))
    parser.add_argument("--modes", type=words, default=list(MODES))
    parser.add_argument("--times", type=int, default=0)
    arguments = parser.parse_args()
    found = runs.Runs(HERE / "recovered.jsonl")
    if arguments.what == "table":
        print("| what | mode | right | of |\n|---|---|---|---|")
        for line in found.lines:
            print(f"| {line['what']} | {line['mode']} | {line['right']} | {line['times']} |")
        return
    for mode in arguments.modes:
        if arguments.what == "kills":
            kills(mode, arguments.times or 100, found)
        elif mode != "ako":
            verify(mode, arguments.times or 10, found)


if __name__ == "__main__":
    main()
