#!/usr/bin/env python3
"""What do architectures make of so many machines and such a network, and what limits each?

    experiments/bottleneck/architectures.py --results architectures.jsonl

Machines of a quarter core each, joined by links of a rate, train LeNet on MNIST for --seconds with
a batch of 64 each: one alone, and 2, 4 and 8 by ring, parameter servers at all of them, the mode
ako and local SGD of 4 rounds. Per row: samples/s of all, beside so many times one alone (scaling
efficiency), processor time of a sample, memory of a peer, bytes that a peer sends in a round, and
what `ako launch` names as the bottleneck. What is in the results is not run again.

Needs root and a program in build/release, or --program. Standard library only.
"""

import argparse
import json
import pathlib
import subprocess
import tempfile

from launched import REPOSITORY, TESTBED, launched, rows_of, samples_per_s

NAME = "architectures"
CPUS = 0.24
SETTINGS = {
    "one alone": ["exchange.mode=local"],
    "ring": ["exchange.mode=ring"],
    "parameter servers": ["exchange.mode=parameter-server"],
    "ako": ["exchange.mode=ako"],
    "local SGD": ["exchange.mode=local-sgd", "exchange.local_rounds=4"],
}


def cells(arguments):
    yield "one alone", 1, arguments.rates[-1]
    for rate in arguments.rates:
        for peers in arguments.peers:
            for architecture in SETTINGS:
                if architecture != "one alone":
                    yield architecture, peers, rate


def run(architecture, peers, rate, arguments):
    """The figures of a run that is ended after some time."""
    listed = ", ".join(f"{{name: p{k}, address: '10.99.0.{k}:7701'}}" for k in range(1, peers + 1))
    settings = [f"peers=[{listed}]", *SETTINGS[architecture]]
    if architecture == "parameter servers":
        settings.append(f"exchange.servers={peers}")
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([TESTBED, "--name", NAME, "up", "--peers", str(peers), "--rate",
                        f"{rate:g}mbit", "--cpus", str(CPUS)], check=True)
        try:
            summary, lines = launched(arguments.program, NAME, settings, arguments.seconds,
                                      pathlib.Path(folder) / "run")
        finally:
            subprocess.run([TESTBED, "--name", NAME, "down"], check=True)
    return figures(summary, max(line["memory_bytes"] for of_peer in lines.values()
                                for line in of_peer))


def figures(summary, memory):
    ran = summary["peers"]
    samples = sum(peer["samples"] for peer in ran)
    return {"samples_per_s": samples_per_s(summary),
            "cpu_ms_per_sample": 1e3 * sum(peer["cpu_seconds"] for peer in ran) / samples,
            "memory_mb": memory * 1e-6,
            "kb_per_round": sum(peer["egress_bytes"] for peer in ran) * 1e-3
            / sum(peer["rounds"] for peer in ran),
            "bottleneck": (summary["bottleneck"] or {"label": "-", "evidence": ""})}


def table(rows):
    alone = next(row["samples_per_s"] for row in rows if row["peers"] == 1)
    print("| Mbit/s | n | | samples/s | of n alone | CPU ms per sample | MB | kB per round | "
          "bottleneck |\n|---|---|---|---|---|---|---|---|---|")
    for row in rows:
        print(f"| {row['rate']:g} | {row['peers']} | {row['architecture']} | "
              f"{row['samples_per_s']:,.0f} | {row['samples_per_s'] / row['peers'] / alone:.2f} | "
              f"{row['cpu_ms_per_sample']:.3f} | {row['memory_mb']:.0f} | "
              f"{row['kb_per_round']:,.0f} | {row['bottleneck']['label']} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--program", default=REPOSITORY / "build/release/ako")
    parser.add_argument("--results", type=pathlib.Path, default="architectures.jsonl")
    parser.add_argument("--peers", type=int, nargs="+", default=[2, 4, 8])
    parser.add_argument("--rates", type=float, nargs="+", default=[20, 200])
    parser.add_argument("--seconds", type=float, default=16)
    arguments = parser.parse_args()
    rows = rows_of(arguments.results)
    done = {(row["architecture"], row["peers"], row["rate"]) for row in rows}
    for architecture, peers, rate in cells(arguments):
        if (architecture, peers, rate) in done:
            continue
        row = {"architecture": architecture, "peers": peers, "rate": rate,
               **run(architecture, peers, rate, arguments)}
        rows.append(row)
        with arguments.results.open("a") as file:
            file.write(json.dumps(row) + "\n")
        print(f"{architecture}, {peers} at {rate:g} Mbit/s: {row['samples_per_s']:.0f} samples/s; "
              f"{row['bottleneck']['label']}", flush=True)
    table(rows)


if __name__ == "__main__":
    main()
