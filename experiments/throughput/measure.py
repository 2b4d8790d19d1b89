#!/usr/bin/env python3
"""Measures the samples per second that networks get through in training, in Ako and in PyTorch, one
after the other and round again. See README.md beside this file.

    experiments/throughput/measure.py [--python VENV/bin/python] [--runs 5] [--batch 64]
                                      [--networks lenet,cifar-quick,resnet20] [--threads 2]

`--python` is an interpreter that has PyTorch; without it its rows are left out. Figures of one
thread are per second of processor time, so that other processes on the machine disturb them less.
Those of more threads, and of one beside them, are per second of the clock: they need as many idle
cores.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent.parent
BENCHMARK = REPOSITORY / "build/release/tests/bench/lenet_throughput"
PYTORCH_SCRIPT = pathlib.Path(__file__).resolve().parent / "pytorch_networks.py"
ENVIRONMENT = {name: value for name, value in os.environ.items()
               if not name.startswith(("OMP_", "OPENBLAS_", "MKL_"))}


def output_of(words):
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True, env=ENVIRONMENT).stdout


def ako(arguments, names):
    """Samples per second of each benchmark, and what OpenBLAS calls its kernels."""
    results = json.loads(output_of([
        str(arguments.benchmark), f"--benchmark_filter=^({'|'.join(names)})$",
        f"--benchmark_min_time={arguments.seconds}", "--benchmark_format=json"]))["benchmarks"]
    found = {result["name"]: result["items_per_second"] for result in results}
    if set(found) != set(names):
        sys.exit(f"measure.py: {arguments.benchmark} knows not all of {', '.join(names)}")
    return found, results[0]["label"]


def pytorch(arguments, network, threads):
    return json.loads(output_of([
        arguments.python, str(PYTORCH_SCRIPT), "--network", network, "--batch",
        str(arguments.batch), "--seconds", str(arguments.seconds), "--threads", str(threads)]))


def one_run(arguments, network):
    """The samples per second of each row, and the versions that gave them."""
    batch, own = arguments.batch, network.replace("-", "_")
    names = {"Ako": f"{own}_gradient/{batch}"}
    if network == "lenet":
        names["OpenBLAS, products alone"] = f"lenet_products/{batch}"
    if arguments.threads > 1:
        names |= {f"Ako, threads: {count}, clock": f"{own}_threads/{batch}/{count}/real_time"
                  for count in (1, arguments.threads)}
    found, kernels = ako(arguments, list(names.values()))
    rows = {name: found[benchmark] for name, benchmark in names.items()}
    versions = f"OpenBLAS for {kernels}"
    if arguments.python:
        for threads in {1, arguments.threads}:
            of_torch = pytorch(arguments, network, threads)
            versions = f"OpenBLAS for {kernels}, PyTorch {of_torch['version']}"
            suffix = "" if threads == 1 else f", threads: {threads}, clock"
            rows[f"PyTorch{suffix}"] = of_torch["contiguous"]
            rows[f"PyTorch, channels last{suffix}"] = of_torch["channels_last"]
    return rows, versions


def report(network, runs):
    print(network)
    medians = {name: statistics.median(run[name] for run in runs) for name in runs[0]}
    for name, middle in medians.items():
        values = [run[name] for run in runs]
        line = f"  {name:38}{middle:8.0f} ({min(values):.0f} to {max(values):.0f})"
        if name.startswith("PyTorch") and "clock" not in name or name.startswith("OpenBLAS"):
            line += f"   Ako is {medians['Ako'] / middle:.2f} of it"
        print(line)
    clock = [middle for name, middle in medians.items() if name.startswith("Ako,")]
    if clock:
        print(f"  with more threads Ako makes {clock[-1] / clock[0]:.2f} of what it makes with one")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--benchmark", default=str(BENCHMARK))
    parser.add_argument("--python", help="an interpreter that has PyTorch")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--networks", default="lenet,cifar-quick,resnet20")
    parser.add_argument("--threads", type=int, default=1, choices=(1, 2))
    parser.add_argument("--seconds", type=float, default=2, help="of each part of a run")
    arguments = parser.parse_args()
    if not os.access(arguments.benchmark, os.X_OK):
        sys.exit(f"measure.py: {arguments.benchmark} is not there; build it with -DAKO_TESTS=ON")

    networks = arguments.networks.split(",")
    runs = {network: [] for network in networks}
    for _ in range(arguments.runs):
        for network in networks:
            rows, versions = one_run(arguments, network)
            runs[network].append(rows)
    print(f"samples per second, batch {arguments.batch}, {versions}; median (lowest to highest) of "
          f"{arguments.runs} runs")
    for network in networks:
        report(network, runs[network])


if __name__ == "__main__":
    main()
