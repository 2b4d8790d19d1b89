#!/usr/bin/env python3
"""What a Swarm of one node does to a run, and what became of it; as faults.py for Slurm.

    swarm_faults.py [--faults "a node drained"] [--repeats 10]
    swarm_faults.py --table

Three peers train LeNet on MNIST as services, each with a container of its own; some seconds into
the training one fault happens. With its only node drained a Swarm has no place for any of them
until the node is there again, after DRAINED_S. What is in swarm.jsonl is not run again. A Docker
engine that is in no swarm.
"""

import argparse
import json
import pathlib
import re
import shutil
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
sys.path[:0] = [str(REPOSITORY / "tests/e2e"), str(HERE.parent)]
import runs  # noqa: E402
from bench import wait_for  # noqa: E402
from engine import prepare, run, works  # noqa: E402
from engines_test import IMAGE, Bench, build_image, in_a_swarm, of_stack  # noqa: E402

PEERS = 3
SETTLED_S, DRAINED_S, PATIENCE_S = 4, 5, 240
KINDS = {"container": ("ps", "--all"), "service": ("service", "ls"), "network": ("network", "ls"),
         "volume": ("volume", "ls"), "secret": ("secret", "ls"), "config": ("config", "ls")}


def container_of(stack, peer):
    return run("docker", "ps", "--quiet", "--filter",
               f"label=com.docker.swarm.service.name={stack}_{peer}").strip()


def kill_a_peer(stack):
    run("docker", "kill", "--signal", "KILL", container_of(stack, "p3"))


def drain_the_node(_):
    node = run("docker", "info", "--format", "{{.Swarm.NodeID}}").strip()
    run("docker", "node", "update", "--availability", "drain", node)
    wait_for(lambda: not run("docker", "ps", "--quiet").strip(), "an empty node", 60)
    time.sleep(DRAINED_S)
    run("docker", "node", "update", "--availability", "active", node)


def remove_a_service(stack):
    run("docker", "service", "rm", f"{stack}_p3")


FAULTS = {
    "none": lambda _: None,
    "a peer killed": kill_a_peer,
    "a node drained": drain_the_node,
    "a service removed": remove_a_service,
}


def rounds_of(stack, peer):
    """The newest that it has said, in any of its lives."""
    said = run("docker", "service", "logs", "--raw", f"{stack}_{peer}")
    found = re.findall(r"round +(\d+)", said)
    return int(found[-1]) if found else 0


def left_behind(stack):
    return {kind: left.split() for kind, words in KINDS.items()
            if (left := of_stack(stack, *words))}


def all_went_on(folder):
    """Did every peer go on from a checkpoint of its own?"""
    logs = [[path.read_text() for path in peer.glob("*/log-p*.txt")] for peer in folder.glob("p?")]
    return all(any("its newest checkpoint is" in text for text in texts) for texts in logs)


def measure(bench, fault, repeat, cluster):
    folder = bench.submit(cluster, "--engine", "swarm", "--image", IMAGE, "--peers", PEERS,
                          "--cpus", "0.5", "--set", "training.epochs=2", "--output-dir",
                          bench.folder / f"run-{time.time_ns()}")
    stack = json.loads((folder / "submitted.json").read_text())["id"]
    wait_for(lambda: rounds_of(stack, "p1") > 0, "training", 60, 0.5)
    time.sleep(SETTLED_S)
    before = rounds_of(stack, "p1")
    FAULTS[fault](stack)
    began = time.monotonic()
    wait_for(lambda: " ended" in bench.run("status", folder), "the end", PATIENCE_S, 0.5)
    ended_s = time.monotonic() - began
    bench.run("cancel", folder)
    results = [json.loads(path.read_text()) for path in folder.glob("p*/*/result-p*.json")
               if not path.parent.is_symlink()]
    finished = [result for result in results if result["exit"] == 0]
    return {"fault": fault, "repeat": repeat, "round_at_fault": before,
            "lives": len(results), "finished": len(finished),
            "identical": len({result["digest"] for result in finished}) == 1,
            "went_on": all_went_on(folder), "exits": sorted(result["exit"] for result in results),
            "rounds": sorted(result["rounds"] for result in finished),
            "accuracy": max((result.get("accuracy") or 0 for result in finished), default=0),
            "ended_s": round(ended_s, 1), "left": left_behind(stack)}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--faults", type=lambda text: text.split(","), default=list(FAULTS))
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--table", action="store_true")
    arguments = parser.parse_args()
    found = runs.Runs(HERE / "swarm.jsonl")
    if arguments.table:
        return table(found)
    if in_a_swarm():
        sys.exit("this engine is in a swarm already, which is not ours to use")
    folder = tempfile.mkdtemp(prefix="ako-swarm-faults-")
    arguments.ako, arguments.source = REPOSITORY / "build/release/ako", str(REPOSITORY)
    bench = Bench(arguments, folder)
    prepare(bench.source)
    build_image(bench)
    run("docker", "swarm", "init", "--advertise-addr", "127.0.0.1")
    try:
        for repeat in range(arguments.repeats):
            for fault in arguments.faults:
                if not found.find(fault=fault, repeat=repeat):
                    line = measure(bench, fault, repeat, HERE / "cluster.yaml")
                    found.add(line)
                    print(json.dumps(line), flush=True)
    finally:
        works("docker", "swarm", "leave", "--force")
    shutil.rmtree(folder)


def table(found):
    print("| fault | runs | ended identical | peers that finished | accuracy, % | left behind |\n"
          "|---|---|---|---|---|---|")
    for fault in FAULTS:
        lines = found.of(fault=fault)
        if lines:
            accuracies = sorted(line["accuracy"] for line in lines)
            print(f"| {fault} | {len(lines)} | {sum(line['identical'] for line in lines)} | "
                  f"{min(line['finished'] for line in lines)} to "
                  f"{max(line['finished'] for line in lines)} | "
                  f"{100 * accuracies[len(accuracies) // 2]:.2f} | "
                  f"{sum(len(line['left']) for line in lines)} |")


if __name__ == "__main__":
    main()
