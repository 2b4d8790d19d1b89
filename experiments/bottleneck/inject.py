#!/usr/bin/env python3
"""Is the bottleneck named that is there? One known bottleneck at a time, or none, in the testbed.

    experiments/bottleneck/inject.py --runs 20 --results bottleneck.jsonl
    experiments/bottleneck/inject.py --relieve --runs 2 --results relieved.jsonl

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
    server-network     d is the server of the others: a sixth of their rate, both ways
    server-processor   the same: a third of their quota, on links of 4 Gbit/s

With --relieve every case of the five kinds between none and the servers, in a mode in which all
wait for each other, is run three times: as it is, without what was injected, and with it while
another peer has twice its rate or quota. What is compared is samples per second.

Needs root and a program in build/release, or --program. Standard library only.
"""

import argparse
import collections
import json
import pathlib
import random
import subprocess
import tempfile

from launched import REPOSITORY, TESTBED, launched, rows_of, samples_per_s

NAME = "bottleneck"
PEERS, CPUS = 4, 0.33
RATES = (50, 100, 200)  # Mbit/s
FAST_RATES = (500, 1000)  # at which the processor is what rounds are made of
MODES = ("ako", "ring", "parameter-server", "local-sgd")
LOCKSTEP = MODES[1:]
NARROW = 6      # so many times less of it
NEIGHBOURS = 3  # programs that compute
OF_ONE_PEER = ("processor", "neighbour", "egress", "ingress", "link")
OF_THE_SERVER = ("server-network", "server-processor")
KINDS = ("none", *OF_ONE_PEER, *OF_THE_SERVER)
OF_PROCESSORS = ("processor", "neighbour", "server-processor")
RELIEVED = ("nobody", "injected", "another")
EXPERIMENTS = ("labels", "relief")
QUEUE = ("burst", "32kb", "latency", "50ms")


def call(*words):
    subprocess.run([str(word) for word in words], check=True)


class Case:
    """What one run is of: drawn from its kind and number alone."""

    def __init__(self, kind, number, modes=MODES):
        draw = random.Random(f"{kind} {number}")
        self.kind = kind
        self.number = number
        self.mode = draw.choice(modes)
        self.rate = draw.choice(FAST_RATES if kind in OF_PROCESSORS else RATES)
        self.at = draw.randrange(PEERS)
        self.seed = draw.randrange(1000)
        self.relieved = "nobody"  # or "injected": nothing is; or "another": has twice as much
        if kind in OF_THE_SERVER:
            self.mode, self.at = "parameter-server", PEERS - 1
        if kind == "server-processor":
            self.rate = 4000  # it carries what all others do

    @property
    def name(self):
        return "abcd"[self.at]

    @property
    def to(self):
        """Where a narrow link leads: in a ring, the only one that carries anything."""
        return (self.at + 1) % PEERS

    @property
    def injected(self):
        return "none" if self.relieved == "injected" else self.kind

    def expected(self):
        return {"none": "none", "processor": f"processor of {self.name}",
                "neighbour": f"processor of {self.name}", "egress": f"egress of {self.name}",
                "ingress": f"ingress of {self.name}",
                "link": f"link {self.name} -> {'abcd'[self.to]}",
                "server-network": f"network of server {self.name}",
                "server-processor": f"processor of server {self.name}"}[self.injected]

    def rates(self):
        """In Mbit/s, of every peer, both ways."""
        rates = [self.rate] * PEERS
        if self.injected == "server-network":
            rates[self.at] /= NARROW
        if self.relieved == "another" and self.kind not in OF_PROCESSORS:
            rates[(self.at + 2) % PEERS] *= 2
        return rates

    def quotas(self):
        quotas = [CPUS] * PEERS
        if self.injected in ("processor", "server-processor"):
            quotas[self.at] /= 3
        if self.relieved == "another" and self.kind in OF_PROCESSORS:
            quotas[(self.at + 2) % PEERS] *= 2
        return quotas

    def key(self):
        return {"kind": self.kind, "number": self.number, "mode": self.mode, "rate": self.rate,
                "at": self.name, "relieved": self.relieved}


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
    call(TESTBED, "--name", NAME, "up", "--peers", PEERS,
         "--rate", ",".join(f"{rate:g}mbit" for rate in case.rates()),
         "--cpus", ",".join(f"{quota:g}" for quota in case.quotas()))
    slow = ("root", "tbf", "rate", f"{case.rate / NARROW:g}mbit", *QUEUE)
    if case.injected == "egress":
        call("tc", "-n", space(case.at), "qdisc", "replace", "dev", "eth0", *slow)
    if case.injected == "ingress":
        call("tc", "-n", f"ako-{NAME}-bridge", "qdisc", "replace", "dev", f"port{case.at + 1}",
             *slow)
    if case.injected == "link":
        narrow_link(case)
    if case.injected != "neighbour":
        return []
    return [subprocess.Popen([TESTBED, "--name", NAME, "exec", str(case.at + 1), "--", "sh", "-c",
                              "while :; do :; done"]) for _ in range(NEIGHBOURS)]


def settings_of(case):
    server = case.at if case.kind in OF_THE_SERVER else None
    peers = ", ".join(f"{{name: {'abcd'[k]}, address: '10.99.0.{k + 1}:7701'"
                      f"{', role: server' if k == server else ''}}}" for k in range(PEERS))
    settings = [f"peers=[{peers}]", f"exchange.mode={case.mode}", f"seed={case.seed}"]
    if server is not None:
        settings += ["exchange.servers=1", "exchange.placement=dedicated"]
    elif case.mode == "parameter-server":
        settings.append("exchange.servers=4")
    if case.mode == "local-sgd":
        settings.append("exchange.local_rounds=4")
    return settings


def run(case, arguments):
    with tempfile.TemporaryDirectory() as folder:
        neighbours = inject(case)
        try:
            told, lines = launched(arguments.program, NAME, settings_of(case), arguments.seconds,
                                   pathlib.Path(folder) / "run")
        finally:
            for neighbour in neighbours:
                neighbour.kill()
                neighbour.wait()
            call(TESTBED, "--name", NAME, "down")
    found = told["bottleneck"] or {"label": "unknown", "evidence": ""}
    usages = {}
    for name, written in lines.items():
        training = [line for line in written if line["phase"] in ("training", "serving")]
        if not training:
            continue
        last = training[-1]
        usages[name] = last["usage"] | {"links": {link["peer"]: link["usage"]
                                                  for link in last["links"]}}
    return case.key() | {"expected": case.expected(), "label": found["label"],
                         "evidence": found["evidence"], "samples_per_s": samples_per_s(told),
                         "usage": usages}


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


def relief(rows):
    """What it is worth to relieve what was injected, and another."""
    print("| injected | mode, Mbit/s | named | samples/s | without it | another peer relieved |\n"
          "|---|---|---|---|---|---|")
    by_case = {}
    for row in rows:
        by_case.setdefault((row["kind"], row["number"]), {})[row["relieved"]] = row
    for (kind, _), by in sorted(by_case.items()):
        if len(by) < len(RELIEVED):
            continue
        injected = by["nobody"]
        pace = injected["samples_per_s"]
        others = " | ".join(f"{by[relieved]['samples_per_s'] / pace:.2f} x"
                            for relieved in RELIEVED[1:])
        print(f"| {kind} | {injected['mode']}, {injected['rate']} | {injected['label']} | "
              f"{pace:.0f} | {others} |")


def cases(arguments):
    if not arguments.relieve:
        for number in range(arguments.runs):
            yield from (Case(kind, number) for kind in arguments.kinds or KINDS)
        return
    for number in range(arguments.runs):
        for kind in arguments.kinds or OF_ONE_PEER:
            for relieved in RELIEVED:
                case = Case(kind, number, LOCKSTEP)
                case.relieved = relieved
                yield case


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--program", default=REPOSITORY / "build/release/ako")
    parser.add_argument("--results", type=pathlib.Path, default="bottleneck.jsonl")
    parser.add_argument("--runs", type=int, default=20, help="of each kind")
    parser.add_argument("--kinds", nargs="+", choices=KINDS)
    parser.add_argument("--relieve", action="store_true", help="compare paces instead of labels")
    parser.add_argument("--seconds", type=float, default=14)
    arguments = parser.parse_args()
    rows = rows_of(arguments.results)
    there = [{name: row[name] for name in Case("none", 0).key()} for row in rows]
    if any(row["experiment"] != EXPERIMENTS[arguments.relieve] for row in rows):
        parser.error(f"{arguments.results}: results of the other experiment")
    if arguments.relieve and set(arguments.kinds or ()) - set(OF_ONE_PEER):
        parser.error(f"--relieve: only {', '.join(OF_ONE_PEER)}")
    for case in cases(arguments):
        if case.key() in there:
            continue
        row = {"experiment": EXPERIMENTS[arguments.relieve], **run(case, arguments)}
        rows.append(row)
        with arguments.results.open("a") as file:
            file.write(json.dumps(row) + "\n")
        print(f"{case.kind} {case.number} {case.mode} {case.rate} Mbit/s, {case.relieved} "
              f"relieved: {row['samples_per_s']:.0f} samples/s, {row['label']}"
              f"{'' if row['label'] == row['expected'] else ' NOT ' + row['expected']}; "
              f"{row['evidence']}", flush=True)
    (relief if arguments.relieve else matrix)(rows)


if __name__ == "__main__":
    main()
