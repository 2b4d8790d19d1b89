"""A training that ended at chance, or with a loss far above its first one, ended with exit 0 like
any other. Since `training.must_learn` it exits 8 and says which of the two it was; the model is
there."""

import os
import random

from bench import check, check_equal
from own_data import write_npy

MODEL = "{input: [4, 4, 1], layers: [flatten, dense: 10]}"


def data_of(bench, name, label):
    """Images of noise; `label(numbers, image)` is what is said of each."""
    folder = os.path.join(bench.folder, name)
    os.makedirs(folder)
    for part, count in (("train", 3000), ("test", 1000)):
        numbers = random.Random(part)
        images = [numbers.randbytes(16) for _ in range(count)]
        labels = bytes(label(numbers, image) for image in images)
        write_npy(os.path.join(folder, f"{part}_images.npy"), (count, 4, 4), b"".join(images))
        write_npy(os.path.join(folder, f"{part}_labels.npy"), (count,), labels)
    return f"data={{format: npy, path: '{folder}'}}"


def ends(bench, data, status, *said, epochs=2, **training):
    keys = "".join(f", {key}: {value}" for key, value in training.items())
    # In step, so that it is the same rounds wherever it runs.
    file = bench.file(2, model=MODEL, exchange="mode: ring",
                      training=f"epochs: {epochs}, batch: 16, evaluate_every: 0{keys}")
    output = bench.launch(file, "--set", data).expect(status, 60)
    for words in said:
        check(words in output, f"{words!r} in:\n{output}")
    summary = bench.summary()
    check_equal(summary["exit"], status, "exit of the summary")
    check_equal(summary["replicas_identical"], True, "replicas")
    check(os.path.exists(bench.path("model.safetensors")), "there is a model")
    return summary


def case_not_learned(bench):
    noise = data_of(bench, "noise", lambda numbers, image: numbers.randrange(10))
    ends(bench, noise, 8, "% is no better than chance",
         "look at training.learning_rate (0.01) and at the labels", learning_rate=0.01)
    summary = ends(bench, noise, 8, "the training has diverged", learning_rate=100)
    check("in the first round" in summary["peers"][0]["why"], "why")
    ends(bench, noise, 0, "replicas identical: yes", learning_rate=0.01, must_learn="false")
    # By the first pixel, which is easily learned.
    halves = data_of(bench, "halves", lambda _, image: image[0] >> 7)
    ends(bench, halves, 0, "replicas identical: yes", learning_rate=0.01)
    # And by nothing, but over in some steps.
    ends(bench, noise, 0, "replicas identical: yes", learning_rate=0.01, epochs=0.02)
