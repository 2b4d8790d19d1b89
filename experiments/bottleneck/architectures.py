#!/usr/bin/env python3
"""What do architectures make of so many machines and such a network, and what limits each?

    experiments/bottleneck/architectures.py --results architectures.jsonl

Machines of a quarter core each, joined by links of a rate, train LeNet on MNIST for --seconds with
a batch of 64 each: one alone, and 2, 4 and 8 by ring, parameter servers at all of them, the mode
ako and local SGD of 4 rounds. Per row: images/s of all, beside so many times one alone (scaling
efficiency), processor time of an image, memory of a peer, bytes that a peer sends in a round, and
what `ako launch` names as the bottleneck. What is in the results is not run again.

Needs root and a program in build/release, or --program. Standard library only.
"""

import argparse
import json
import pathlib
import signal
import subprocess
import sys
import tempfile

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent.parent
TESTBED = [str(REPOSITORY / "deploy/testbed"), "--name", "architectures"]
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


def words_of(architecture, peers, program, folder):
    listed = ", ".join(f"{{name: p{k}, address: '10.99.0.{k}:7701'}}" for k in range(1, peers + 1))
    settings = [f"peers=[{listed}]", "training.batch_per_peer=64", "training.epochs=400",
                "training.evaluate_every=0", "training.learning_rate=0.02",
                *SETTINGS[architecture]]
    if architecture == "parameter servers":
        settings.append(f"exchange.servers={peers}")
    words = [program, "launch", REPOSITORY / "experiments/mnist/cluster.yaml", "--plain", "--in",
             f"{' '.join(TESTBED)} exec {{number}} --", "--output-dir", folder]
    for setting in settings:
        words += ["--set", setting]
    return [str(word) for word in words]


def run(architecture, peers, rate, arguments):
    """The summary of a run that is ended after some time, and what its peers had resident."""
    with tempfile.TemporaryDirectory() as folder:
        results = pathlib.Path(folder) / "run"
        subprocess.run([*TESTBED, "up", "--peers", str(peers), "--rate", f"{rate:g}mbit",
                        "--cpus", str(CPUS)], check=True)
        try:
            launch = subprocess.Popen(words_of(architecture, peers, arguments.program, results),
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            try:
                launch.wait(arguments.seconds)
            except subprocess.TimeoutExpired:
                launch.send_signal(signal.SIGINT)
            said = launch.communicate(timeout=60)[0]
        finally:
            subprocess.run([*TESTBED, "down"], check=True)
        if not (results / "summary.json").exists():
            sys.exit(f"{architecture}, {peers}, {rate}: no summary\n{said}")
        summary = json.loads((results / "summary.json").read_text())
        memory = [max(json.loads(line)["memory_bytes"] for line in file.read_text().splitlines())
                  for file in results.glob("metrics-*.jsonl")]
    return figures(summary, memory)


def figures(summary, memory):
    ran = summary["peers"]
    images = sum(peer["images"] for peer in ran)
    return {"images_per_s": sum(peer["images"] / peer["train_seconds"] for peer in ran),
            "cpu_ms_per_image": 1e3 * sum(peer["cpu_seconds"] for peer in ran) / images,
            "memory_mb": max(memory) * 1e-6,
            "kb_per_round": sum(peer["egress_bytes"] for peer in ran) * 1e-3
            / sum(peer["rounds"] for peer in ran),
            "bottleneck": (summary["bottleneck"] or {"label": "-", "evidence": ""})}


def table(rows):
    alone = next(row["images_per_s"] for row in rows if row["peers"] == 1)
    print("| Mbit/s | n | | images/s | of n alone | CPU ms per image | MB | kB per round | "
          "bottleneck |\n|---|---|---|---|---|---|---|---|---|")
    for row in rows:
        print(f"| {row['rate']:g} | {row['peers']} | {row['architecture']} | "
              f"{row['images_per_s']:,.0f} | {row['images_per_s'] / row['peers'] / alone:.2f} | "
              f"{row['cpu_ms_per_image']:.3f} | {row['memory_mb']:.0f} | "
              f"{row['kb_per_round']:,.0f} | {row['bottleneck']['label']} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--program", default=REPOSITORY / "build/release/ako")
    parser.add_argument("--results", type=pathlib.Path, default="architectures.jsonl")
    parser.add_argument("--peers", type=int, nargs="+", default=[2, 4, 8])
    parser.add_argument("--rates", type=float, nargs="+", default=[20, 200])
    parser.add_argument("--seconds", type=float, default=16)
    arguments = parser.parse_args()
    rows = []
    if arguments.results.exists():
        rows = [json.loads(line) for line in arguments.results.read_text().splitlines()]
    done = {(row["architecture"], row["peers"], row["rate"]) for row in rows}
    for architecture, peers, rate in cells(arguments):
        if (architecture, peers, rate) in done:
            continue
        row = {"architecture": architecture, "peers": peers, "rate": rate,
               **run(architecture, peers, rate, arguments)}
        rows.append(row)
        with arguments.results.open("a") as file:
            file.write(json.dumps(row) + "\n")
        print(f"{architecture}, {peers} at {rate:g} Mbit/s: {row['images_per_s']:.0f} images/s; "
              f"{row['bottleneck']['label']}", flush=True)
    table(rows)


if __name__ == "__main__":
    main()
