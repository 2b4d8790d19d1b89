"""Peers that meant to hold different data (federated) could not say so. With `data.sharding: own`
each passes over a training set of its own, and the budget is of them all together. A peer that has
not as many samples as the file says is refused."""

import json
import os
import random

from bench import check, newest_run
from own_data import write_npy

MODEL = "{input: [4, 4, 1], layers: [flatten, dense: 10]}"
SAMPLES = {"a": 3000, "b": 1000, "c": 2000}


def write_part(folder, part, count, seed):
    """Labels by the first pixel, which is easily learned."""
    numbers = random.Random(seed)
    images = [numbers.randbytes(16) for _ in range(count)]
    write_npy(os.path.join(folder, f"{part}_images.npy"), (count, 4, 4), b"".join(images))
    write_npy(os.path.join(folder, f"{part}_labels.npy"), (count,),
              bytes(image[0] >> 7 for image in images))


def file_of(bench, mode, samples):
    path = bench.file(3, model=MODEL, training="epochs: 4, batch: 16, learning_rate: 0.03",
                      exchange=f"mode: {mode}, start_wait_s: 20, start_peers_min: 3")
    with open(path) as file:
        text = file.read()
    text = text.replace("data: {", "data: {sharding: own, format: npy, ")
    for name, count in samples.items():
        text = text.replace(f"name: {name},", f"name: {name}, samples: {count},")
    with open(path, "w") as file:
        file.write(text)
    return path


def start(bench, file, name):
    return bench.start("train", file, "--peer", name, "--set", f"output=out-{name}",
                       "--set", f"data.path='{os.path.join(bench.folder, name)}'")


def case_data_of_their_own(bench):
    for seed, (name, count) in enumerate(SAMPLES.items()):
        os.makedirs(os.path.join(bench.folder, name))
        write_part(os.path.join(bench.folder, name), "train", count, seed)
        write_part(os.path.join(bench.folder, name), "test", 500, "test")
    for mode in ("ako", "ring"):
        file = file_of(bench, mode, SAMPLES)
        for name, run in [(name, start(bench, file, name)) for name in SAMPLES]:
            output = run.expect(0, 60)
            check("replicas identical: yes" in output, f"identical at {name}:\n{output}")
            accuracy = float(output.split("test accuracy ")[1].split(" %")[0])
            check(accuracy > 70, f"{name} has learned: {accuracy} %, where 50 % is chance")
            folder = newest_run(os.path.join(bench.folder, f"out-{name}"))
            with open(os.path.join(folder, f"result-{name}.json")) as result:
                made = json.load(result)["samples_total"]
            check(made >= 4 * sum(SAMPLES.values()), f"{made} samples are the budget of all")
    file = file_of(bench, "ako", dict(SAMPLES, b=1200))
    output = start(bench, file, "b").expect(2, 20)
    check("peers.1.samples: 1200 for b, whose training set has 1000" in output, output)
    check("write samples: 1000 in the files of all peers" in output, output)
    file = file_of(bench, "ako", {"a": 3000, "b": 1000})
    output = start(bench, file, "b").expect(2, 20)
    check("peers.2.samples" in output and "with data.sharding: own" in output, output)
    output = bench.start("check", file, "--set", "data.sharding=disjoint").expect(2, 20)
    check("peers.0.samples" in output, output)
