#!/usr/bin/env python3
"""Is the bottleneck named that is there? One known bottleneck at a time, or none, in the testbed.

    experiments/bottleneck/inject.py --runs 20 --results bottleneck.jsonl

Every run draws mode, rate of all links, seed and the peer that the bottleneck is at from its kind
and number. Four peers of a third of a core each train LeNet on MNIST for --seconds and are asked to
stop; the label that `ako launch` gives is compared with what was injected. What is in the results
is not run again; the confusion matrix is printed at the end. Kinds:

    none        all alike
    processor   a third of the others' quota for one peer
    neighbour   programs that compute in one peer's control group
    egress      a sixth of the others' rate for what one peer sends
    ingress     the same for what one peer receives
    link        an eighteenth from one peer to the next, whose link needs but a third of the rate

Needs root and a program in build/release, or --program. Standard library only.
"""

import argparse
import collections
import json
import pathlib
import random
import signal
import subprocess
import sys
import tempfile

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent.parent
TESTBED = REPOSITORY / "deploy/testbed"
NAME = "bottleneck"
PEERS, CPUS = 4, 0.33
RATES = (50, 100, 200)  # Mbit/s
FAST_RATES = (500, 1000)  # at which the processor is what rounds are made of
MODES = ("ako", "ring", "parameter-server", "local-sgd")
NARROW = 6      # so many times less of it
NEIGHBOURS = 3  # programs that compute
KINDS = ("none", "processor", "neighbour", "egress", "ingress", "link")
QUEUE = ("burst", "32kb", "latency", "50ms")


def call(*words):
    subprocess.run([str(word) for word in words], check=True)


class Case:
    """What one run is of: drawn from its kind and number alone."""

    def __init__(self, kind, number):
        draw = random.Random(f"{kind} {number}")
        self.kind = kind
        self.number = number
        self.mode = draw.choice(MODES)
        self.rate = draw.choice(FAST_RATES if kind in ("processor", "neighbour") else RATES)
        self.at = draw.randrange(PEERS)
        self.seed = draw.randrange(1000)

    @property
    def name(self):
        return "abcd"[self.at]

    @property
    def to(self):
        """Where a narrow link leads: in a ring, the only one that carries anything."""
        return (self.at + 1) % PEERS

    def expected(self):
        return {"none": "none", "processor": f"processor of {self.name}",
                "neighbour": f"processor of {self.name}", "egress": f"egress of {self.name}",
                "ingress": f"ingress of {self.name}",
                "link": f"link {self.name} -> {'abcd'[self.to]}"}[self.kind]

    def key(self):
        return {"kind": self.kind, "number": self.number, "mode": self.mode, "rate": self.rate,
                "at": self.name}


def space(peer):
    return f"ako-{NAME}-{peer + 1}"


def narrow_link(case):
    """Of two classes: what goes to one peer, and the rest."""
    device = ("dev", "eth0")
    tc = ("tc", "-n", space(case.at))
    call(*tc, "qdisc", "replace", *device, "root", "handle", "1:", "htb", "default", "10")
    for number, rate in ((10, case.rate), (20, case.rate / NARROW / (PEERS - 1))):
        call(*tc, "class", "add", *device, "parent", "1:", "classid", f"1:{number}", "htb", "rate",
             f"{rate:g}mbit", "burst", "32kb", "quantum", "3000")
        call(*tc, "qdisc", "add", *device, "parent", f"1:{number}", "bfifo", "limit",
             int(rate * 1e6 / 8 * 0.05) + 32_000)
    call(*tc, "filter", "add", *device, "parent", "1:", "protocol", "ip", "u32", "match", "ip",
         "dst", f"10.99.0.{case.to + 1}", "flowid", "1:20")


def inject(case):
    """The network and the quotas; returns the programs that are to be ended."""
    quotas = [CPUS] * PEERS
    if case.kind == "processor":
        quotas[case.at] = CPUS / 3
    call(TESTBED, "--name", NAME, "up", "--peers", PEERS, "--rate", f"{case.rate}mbit", "--cpus",
         ",".join(f"{quota:g}" for quota in quotas))
    slow = ("root", "tbf", "rate", f"{case.rate / NARROW:g}mbit", *QUEUE)
    if case.kind == "egress":
        call("tc", "-n", space(case.at), "qdisc", "replace", "dev", "eth0", *slow)
    if case.kind == "ingress":
        call("tc", "-n", f"ako-{NAME}-bridge", "qdisc", "replace", "dev", f"port{case.at + 1}",
             *slow)
    if case.kind == "link":
        narrow_link(case)
    if case.kind != "neighbour":
        return []
    return [subprocess.Popen([TESTBED, "--name", NAME, "exec", str(case.at + 1), "--", "sh", "-c",
                              "while :; do :; done"]) for _ in range(NEIGHBOURS)]


def words_of(case, program, folder):
    peers = ", ".join(f"{{name: {'abcd'[k]}, address: '10.99.0.{k + 1}:7701'}}"
                      for k in range(PEERS))
    settings = [f"peers=[{peers}]", f"exchange.mode={case.mode}", f"seed={case.seed}",
                "training.batch_per_peer=64", "training.epochs=40", "training.evaluate_every=0",
                "training.learning_rate=0.02"]
    if case.mode == "parameter-server":
        settings.append("exchange.servers=4")
    if case.mode == "local-sgd":
        settings.append("exchange.local_rounds=4")
    words = [program, "launch", REPOSITORY / "experiments/mnist/cluster.yaml", "--plain", "--in",
             f"{TESTBED} --name {NAME} exec {{number}} --", "--output-dir", folder]
    for setting in settings:
        words += ["--set", setting]
    return [str(word) for word in words]


def run(case, arguments):
    with tempfile.TemporaryDirectory() as folder:
        results = pathlib.Path(folder) / "run"
        neighbours = inject(case)
        try:
            launch = subprocess.Popen(words_of(case, arguments.program, results),
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            try:
                launch.wait(arguments.seconds)  # it trains for longer
            except subprocess.TimeoutExpired:
                launch.send_signal(signal.SIGINT)
            said = launch.communicate(timeout=60)[0]
        finally:
            for neighbour in neighbours:
                neighbour.kill()
                neighbour.wait()
            call(TESTBED, "--name", NAME, "down")
        summary = results / "summary.json"
        if not summary.exists():
            sys.exit(f"{case.key()}: no summary\n{said}")
        told = json.loads(summary.read_text())
        lines = {name: (results / f"metrics-{name}.jsonl").read_text().splitlines()
                 for name in "abcd"}
    found = told["bottleneck"] or {"label": "unknown", "evidence": ""}
    pace = sum(peer["images"] for peer in told["peers"]) / arguments.seconds
    usages = {}
    for name, text in lines.items():
        training = [line for line in map(json.loads, text) if line["phase"] == "training"]
        if not training:
            continue
        last = training[-1]
        usages[name] = last["usage"] | {"links": {link["peer"]: link["usage"]
                                                  for link in last["links"]}}
    return case.key() | {"expected": case.expected(), "label": found["label"],
                         "evidence": found["evidence"], "images_per_s": pace, "usage": usages}


def matrix(rows):
    """Right and wrong labels by kind."""
    print("| injected | right | of | else named |\n|---|---|---|---|")
    for kind in KINDS:
        here = [row for row in rows if row["kind"] == kind]
        wrong = collections.Counter(
            f"{row['label'].split(' of ')[0].split(' ')[0]} ({row['mode']})" for row in here
            if row["label"] != row["expected"])
        if here:
            print(f"| {kind} | {len(here) - sum(wrong.values())} | {len(here)} | "
                  f"{', '.join(f'{name}: {count}' for name, count in wrong.items())} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--program", default=REPOSITORY / "build/release/ako")
    parser.add_argument("--results", type=pathlib.Path, default="bottleneck.jsonl")
    parser.add_argument("--runs", type=int, default=20, help="of each kind")
    parser.add_argument("--kinds", nargs="+", default=KINDS, choices=KINDS)
    parser.add_argument("--seconds", type=float, default=14)
    arguments = parser.parse_args()
    rows = []
    if arguments.results.exists():
        rows = [json.loads(line) for line in arguments.results.read_text().splitlines()]
    for number in range(arguments.runs):
        for kind in arguments.kinds:
            case = Case(kind, number)
            if any(row["kind"] == kind and row["number"] == number for row in rows):
                continue
            rows.append(run(case, arguments))
            row = rows[-1]
            with arguments.results.open("a") as file:
                file.write(json.dumps(row) + "\n")
            print(f"{kind} {number} {case.mode} {case.rate} Mbit/s: {row['label']}"
                  f"{'' if row['label'] == row['expected'] else ' NOT ' + row['expected']}; "
                  f"{row['evidence']}", flush=True)
    matrix(rows)


main()
