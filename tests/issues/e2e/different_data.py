"""Peers that held different data trained on with exit 0: labels of b shifted by one gave 53.4 %
instead of 100 %, and 2,000 images at b beside 3,000 at a gave other budgets and shards, without a
word. Since the Hello carries counts and checksums of the data, they refuse each other, and both say
what differs and where."""

import os
import random

from bench import check
from own_data import write_npy

MODEL = "{input: [4, 4, 1], layers: [flatten, dense: 10]}"


def write_part(folder, part, count, shift=0, seed=1):
    """The first `count` images of a set that follows from the seed."""
    numbers = random.Random(seed)
    images, labels = bytearray(), bytearray()
    for _ in range(count):
        images += numbers.randbytes(16)
        labels.append((images[-1] + shift) % 10)
    write_npy(os.path.join(folder, f"{part}_images.npy"), (count, 4, 4), bytes(images))
    write_npy(os.path.join(folder, f"{part}_labels.npy"), (count,), bytes(labels))


def data_of(bench, name, train=3000, test=500, shift=0):
    folder = os.path.join(bench.folder, name)
    os.makedirs(folder, exist_ok=True)
    write_part(folder, "train", train, shift)
    write_part(folder, "test", test, seed=2)
    return f"data={{format: npy, path: '{folder}'}}"


def refused(bench, file, said, **other):
    """Peer b has other data than a, and both say so."""
    data = {"a": data_of(bench, "a"), "b": data_of(bench, "b", **other)}
    runs = [bench.start("train", file, "--peer", name, "--set", f"output=out-{name}",
                        "--set", data[name]) for name in "ab"]
    for run, words in zip(runs, said):
        output = run.expect(2, 60)
        check(f"other data, all peers need the same ({words})" in output,
              f"{words!r} in:\n{output}")


def case_different_data(bench):
    file = bench.file(2, model=MODEL, exchange="start_wait_s: 4, start_peers_min: 2")
    first = random.Random(1).randbytes(16)[-1] % 10
    labels = "data.train_labels differ: 3,000 labels, first at item 0: "
    refused(bench, file, (f"{labels}{first} here, {(first + 1) % 10} at b",
                          f"{labels}{(first + 1) % 10} here, {first} at a"), shift=1)
    count = "data.train_count differs: "
    refused(bench, file, (count + "3,000 items here, 2,000 items at b",
                          count + "2,000 items here, 3,000 items at a"), train=2000)
    count = "data.test_count differs: "
    refused(bench, file, (count + "500 items here, 400 items at b",
                          count + "400 items here, 500 items at a"), test=400)
