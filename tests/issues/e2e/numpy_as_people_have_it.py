"""Arrays as NumPy makes them unless told otherwise (float64, int64, labels in a column, .npz) were
refused, each with a line of NumPy to run. They are converted now, and a line says so; what could
mean something else is still refused, by its name."""

import os
import subprocess

from bench import Skipped, check

# Debian's, which deploy/install-deps --tests gives NumPy.
PYTHON = "/usr/bin/python3"

MAKE = """
import numpy as np
rng = np.random.default_rng(1)
def part(n):
    y = np.arange(n) % 10
    x = rng.random((n, 8, 8)) / 4                 # float64, as everything unless told otherwise
    x[np.arange(n), y // 8, y % 8] += 2
    return x, y
x, y = part(2000)
tx, ty = part(500)
"""

# Each with what `ako check` says of it.
FORMS = {
    "float64": ('np.save("train_images.npy", x); np.save("train_labels.npy", y[:, None])\n'
                'np.save("test_images.npy", tx.astype(">f4"))\n'
                'np.save("test_labels.npy", ty * 1.0)',
                ["float64 is read as float32 and rounded", "[2000, 1] of int64",
                 "big-endian float32 is read as float32", "[500] of float64"]),
    "archives": ('np.savez_compressed("train.npz", images=np.asfortranarray(x), labels=y)\n'
                 'np.savez("test.npz", x=tx.astype("f2"), y=ty.astype("u1"))',
                 ["train.npz: images: float64 in Fortran order", "test.npz: x: float16"]),
    "keras": ('np.savez("mnist.npz", x_train=x, y_train=y, x_test=tx, y_test=ty)',
              ["mnist.npz: x_train: float64"]),
}

REFUSED = {
    "one_hot": ('np.savez("train.npz", images=x, labels=np.eye(10)[y])\n'
                'np.savez("test.npz", images=tx, labels=np.eye(10)[ty])',
                ["labels: expected labels of one dimension, found [500, 10]",
                 "labels.argmax(axis=1)"]),
    "channels_first": ('np.savez("train.npz", images=x[:, None], labels=y)\n'
                       'np.savez("test.npz", images=tx[:, None], labels=ty)',
                       ["1 x 8 x 8", "images.transpose(0, 2, 3, 1)"]),
    "other_names": ('np.savez("train.npz", x, y)\nnp.savez("test.npz", tx, ty)',
                    ["expected the arrays images and labels", "found arr_0, arr_1"]),
}


def words_of(bench, name, program):
    """Makes the arrays in a folder of this name; what names it on a command line."""
    folder = os.path.join(bench.folder, name)
    os.mkdir(folder)
    subprocess.run([PYTHON, "-c", MAKE + program], cwd=folder, check=True, timeout=120)
    return "--set", f"data={{format: npy, path: '{folder}'}}"


def flat(output):
    """Without the line breaks of wrapped text."""
    return " ".join(output.replace("\n#", "\n").split())


def case_numpy_as_people_have_it(bench):
    """Every form of the same arrays trains alike, and says what it was."""
    if subprocess.run([PYTHON, "-c", "import numpy"], stderr=subprocess.DEVNULL,
                      timeout=60).returncode:
        raise Skipped(f"{PYTHON} has no NumPy (deploy/install-deps --tests installs it)")
    model = "{input: [8, 8, 1], layers: [flatten, dense: 10]}"
    file = bench.file(1, model=model,
                      training="epochs: 2, batch: 20, learning_rate: 0.05, evaluate_every: 0")
    for name, (program, expected) in FORMS.items():
        words = words_of(bench, name, program)
        said = flat(bench.start("check", file, *words).expect(0, 60))
        for text in expected:
            check(text in said, f"{text!r} of {name} in:\n{said}")
        bench.launch(file, *words).expect(0)
        accuracy = bench.summary()["accuracy"]
        check(accuracy > 0.9, f"accuracy {accuracy} of {name}")
    for name, (program, expected) in REFUSED.items():
        said = flat(bench.start("check", file, *words_of(bench, name, program)).expect(2, 60))
        for text in expected:
            check(text in said, f"{text!r} of {name} in:\n{said}")
