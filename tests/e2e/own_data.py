"""Cases of e2e_test.py: networks from a list, data in NumPy's and CIFAR-10's files, saved models to
start from, and what is said of a lost peer's data shard. Python's standard library only."""

import gzip
import os
import random
import signal

from bench import check, check_equal, wait_for

# MNIST's normalisation, which no other format has by itself.
MNIST_NORMALISATION = "normalisation: {mean: 0.1307, deviation: 0.3081}"


def train_one(bench, file, *words):
    """One peer, whose run can be repeated bit for bit; its summary."""
    bench.launch(file, *words).expect(0)
    return bench.summary()


def case_own_network(bench):
    """What `check --model` prints stands in a cluster file, and is the same network."""
    file = bench.file(1, training="epochs: 0.03, evaluate_every: 0")
    named = train_one(bench, file)
    for model, layers in (("mlp", 3), ("lenet", 10), ("cifar-quick", 12),
                          ("resnet20", 23)):
        printed = bench.start("check", file, "--model", "--set", f"model={model}").expect(0, 20)
        check_equal(printed.count("\n    - "), layers, f"layers of {model} in:\n{printed}")
        with open(file) as text:
            pasted = text.read().replace("model: mlp\n", printed + "\n")
        own = os.path.join(bench.folder, "own.yaml")
        with open(own, "w") as text:
            text.write(pasted)
        again = bench.start("check", own, "--model").expect(0, 20)
        check_equal(again.split("\n")[1:], printed.split("\n")[1:], f"{model}, printed again")
        if model == "mlp":
            check_equal(train_one(bench, own)["digest"], named["digest"], "digest of the list")

    model = "{input: [28, 28, 1], layers: [conv: {outputs: 4, window: 5}, dense: 10]}"
    output = bench.start("check", bench.file(1, model=model)).expect(2, 20)
    for expected in ("cluster.yaml:3:", "model.layers.1.dense", "24 x 24 x 4", "`flatten`"):
        check(expected in output, f"{expected!r} in:\n{output}")


def read_idx(path, header_bytes):
    with gzip.open(path) as file:
        return file.read()[header_bytes:]


def write_npy(path, shape, elements):
    """As numpy.save does, of uint8."""
    header = f"{{'descr': '|u1', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (-(10 + len(header) + 1) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little"))
        file.write(header.encode("latin1") + elements)


def case_npy_as_idx(bench):
    """The same images as .npy give the same parameters, and what is wrong with others is said."""
    file = bench.file(1, training="epochs: 0.05, evaluate_every: 0")
    expected = train_one(bench, file)
    source = os.path.join(bench.source, "experiments/mnist/data")
    for part, name, count in (("train", "train", 60000), ("test", "t10k", 10000)):
        images = read_idx(f"{source}/{name}-images-idx3-ubyte.gz", 16)
        labels = read_idx(f"{source}/{name}-labels-idx1-ubyte.gz", 8)
        write_npy(os.path.join(bench.folder, f"{part}_images.npy"), (count, 28, 28), images)
        write_npy(os.path.join(bench.folder, f"{part}_labels.npy"), (count,), labels)
    data = f"data={{format: npy, path: '{bench.folder}', {MNIST_NORMALISATION}}}"
    found = train_one(bench, file, "--set", data)
    check_equal(found["digest"], expected["digest"], "digest of the same images as .npy")
    check_equal(found["accuracy"], expected["accuracy"], "accuracy")

    def refused(*words):
        return bench.start("check", file, "--set", data, *words).expect(2, 20)

    output = refused("--set", "model=cifar-quick")
    check("28 x 28 x 1" in output and "takes 32 x 32 x 3" in output, output)
    output = refused("--set", "model={input: [28, 28, 1], layers: [dense: 9]}")
    check("label 9 of item" in output and "9 outputs" in output, output)
    with open(os.path.join(bench.folder, "test_images.npy"), "ab") as images:
        images.write(b"x")
    output = refused()
    check("test_images.npy: wrong size" in output and "found 7840001" in output, output)


def case_initial(bench):
    """A run goes on from a saved model; one of another network is refused, tensor by tensor."""
    file = bench.file(2, training="epochs: 0.3, evaluate_every: 0")
    first = train_one(bench, file)
    os.rename(bench.path("model.safetensors"), os.path.join(bench.folder, "start.safetensors"))
    words = ("--set", "training.epochs=0.01", "--set", "training.learning_rate=0.0001")
    from_seed = train_one(bench, file, *words)
    initial = ("--set", "model.initial=start.safetensors")
    again = train_one(bench, file, *words, *initial)
    check(abs(again["accuracy"] - first["accuracy"]) < 0.02,
          f"{again['accuracy']} goes on from {first['accuracy']}")
    check(from_seed["accuracy"] < first["accuracy"] - 0.1, f"{from_seed['accuracy']} from the seed")
    for command in ("check", "launch"):
        output = bench.start(command, file, "--set", "model=lenet", *initial).expect(2, 20)
        for expected in ("model.initial", "start.safetensors", "conv1.weight", "conv2.bias",
                         "dense1.weight: expected shape [500,800], found [128,784]"):
            check(expected in output, f"{expected!r} in:\n{output}")
    output = bench.start("compose", file, *initial).expect(0, 20)
    for expected in ("start.safetensors", "model.initial=/ako/initial.safetensors"):
        check(expected in output, f"{expected!r} in:\n{output}")
    output = bench.start("check", file, "--set", "model.initial=none.safetensors").expect(2, 20)
    check("none.safetensors: cannot be opened" in output, output)


def write_cifar10(folder, records):
    """Six files of the published layout; each image has the colour of its class, and noise."""
    chance = random.Random(5)
    names = [f"data_batch_{number}.bin" for number in range(1, 6)] + ["test_batch.bin"]
    for name in names:
        with open(os.path.join(folder, name), "wb") as file:
            for number in range(records):
                label = number % 10
                file.write(bytes([label]))
                for plane in range(3):
                    level = 20 + 200 * (label * (plane + 3) % 10) // 10
                    file.write(bytes(level + byte % 32 for byte in chance.randbytes(1024)))


def case_cifar10_files(bench):
    """cifar-quick learns from files of the published layout; damaged ones are refused."""
    folder = os.path.join(bench.folder, "cifar-10-batches-bin")
    os.mkdir(folder)
    write_cifar10(folder, 100)
    file = bench.file(2, model="cifar-quick",
                      training="epochs: 40, batch: 20, learning_rate: 0.002, momentum: 0, "
                               "evaluate_every: 2, target_accuracy: 0.8")
    words = ("--set", f"data={{format: cifar10, path: '{bench.folder}'}}")
    summary = train_one(bench, file, *words)
    check(summary["accuracy"] > 0.5, f"accuracy {summary['accuracy']} of ten plain colours")
    with open(os.path.join(folder, "data_batch_4.bin"), "ab") as batch:
        batch.truncate(3073 * 100 - 1)
    output = bench.start("check", file, *words).expect(2, 20)
    check("data_batch_4.bin: wrong size: expected records of 3073 bytes" in output, output)


def case_lost_shard(bench):
    """Of a peer that is killed, it is said what of its data shard nobody has seen."""
    # Some seconds of training, for on a busy machine what is seen of it comes late.
    file = bench.file(3, training="epochs: 8, batch: 16, evaluate_every: 0",
                      exchange="egress_mbit_max: 100")
    run = bench.launch(file)
    wait_for(lambda: run.process.poll() is not None or
             (bench.metrics("b") and bench.metrics("b")[-1]["samples"] > 0), "b has trained")
    os.kill(run.peers()["b"], signal.SIGKILL)
    output = run.expect(0)
    summary = bench.summary()
    check_equal([shard["peer"] for shard in summary["lost_shards"]], ["b"], "lost shards")
    shard = summary["lost_shards"][0]
    check_equal(shard["samples"], 20000, "samples in the shard of one of three")
    check(0 < shard["seen"] < summary["samples"] and shard["seen"] % 16 == 0,
          f"whole batches of {summary['samples']} samples in all: {shard}")
    check_equal(shard["unseen"], max(0, 20000 - shard["seen"]), "unseen")
    said = f"b was lost after {shard['seen']:,} samples: "
    said += f"{shard['unseen']:,} of the 20,000" if shard["unseen"] else "the 20,000"
    check(said in output, f"{said!r} in:\n{output}")
