#!/usr/bin/env python3
"""Measures LeNet's images per second on one thread: Ako, its matrix products alone, and PyTorch,
one after the other and round again. See README.md beside this file.

    experiments/throughput/measure.py [--python VENV/bin/python] [--runs 5] [--batch 64]

`--python` is an interpreter that has PyTorch; without it that column is left out. All figures are
per second of processor time, so that other processes on the machine disturb them less.
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
PYTORCH_SCRIPT = pathlib.Path(__file__).resolve().parent / "pytorch_lenet.py"
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


def output_of(words):
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True, env={**os.environ, **ONE_THREAD}).stdout


def ako(arguments):
    """Images per second of the gradient, and of its matrix products alone; the kernels' name."""
    names = [f"lenet_gradient/{arguments.batch}", f"lenet_products/{arguments.batch}"]
    results = json.loads(output_of([
        str(arguments.benchmark), f"--benchmark_filter=^({'|'.join(names)})$",
        f"--benchmark_min_time={arguments.seconds}", "--benchmark_format=json"]))["benchmarks"]
    if [result["name"] for result in results] != names:
        sys.exit(f"measure.py: the benchmark knows no batch of {arguments.batch}")
    return [result["items_per_second"] for result in results], results[0]["label"]


def pytorch(arguments):
    text = output_of([arguments.python, str(PYTORCH_SCRIPT), "--batch", str(arguments.batch),
                      "--seconds", str(arguments.seconds)])
    return json.loads(text)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--benchmark", default=str(BENCHMARK))
    parser.add_argument("--python", help="an interpreter that has PyTorch")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=2, help="of each part of a run")
    arguments = parser.parse_args()
    if not os.access(arguments.benchmark, os.X_OK):
        sys.exit(f"measure.py: {arguments.benchmark} is not there; build it with -DAKO_TESTS=ON")

    columns = {"Ako": [], "its products alone": []}
    if arguments.python:
        columns |= {"PyTorch": [], "PyTorch, channels last": []}
    for _ in range(arguments.runs):
        (gradient, products), kernels = ako(arguments)
        columns["Ako"].append(gradient)
        columns["its products alone"].append(products)
        if arguments.python:
            of_torch = pytorch(arguments)
            columns["PyTorch"].append(of_torch["contiguous"])
            columns["PyTorch, channels last"].append(of_torch["channels_last"])
    version = f", PyTorch {of_torch['version']}" if arguments.python else ""
    print(f"images per second of processor time, batch {arguments.batch}, OpenBLAS with kernels "
          f"for {kernels}{version}; median (lowest to highest) of {arguments.runs} runs")
    own = statistics.median(columns["Ako"])
    for name, values in columns.items():
        middle = statistics.median(values)
        print(f"  {name:24}{middle:8.0f} ({min(values):.0f} to {max(values):.0f})"
              f"   Ako is {own / middle:.2f} of it")


if __name__ == "__main__":
    main()
