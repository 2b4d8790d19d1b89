#!/usr/bin/env python3
"""Is what goes on from a checkpoint bit for bit what was never disturbed, and what breaks it?

    determinism.py others --pythons build/frameworks/bin/python,build/chainer/bin/python
    determinism.py ako
    determinism.py table            # of repeated.jsonl, nothing is run

A network with dropout is trained for 40 steps on shuffled batches, with momentum and a rate that
falls; and once more, cut off after 20 and gone on with in another process, from a checkpoint that
lacks one thing, or under other conditions. `others` calls itself, a process for each part.
"""

import argparse
import hashlib
import json
import os
import pathlib
import pickle
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
sys.path[:0] = [str(HERE.parent), str(HERE)]
import runs  # noqa: E402

STEPS, CUT, BATCH, SAMPLES, FEATURES, HIDDEN, CLASSES = 40, 20, 64, 1024, 784, 256, 10
KEEP = 0.8
KEPT = ("weights", "momentum", "rate", "generator", "place")
# Conditions of the part that goes on: (name, what the checkpoint lacks, variables of its process)
CASES = [("nothing", None, {}), *((f"without the {what}", what, {}) for what in KEPT),
         ("two threads, not one", None, {"OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2",
                                         "TF_NUM_INTRAOP_THREADS": "2"}),
         ("kernels of an older processor", None, {
             "ATEN_CPU_CAPABILITY": "default", "ONEDNN_MAX_CPU_ISA": "SSE41",
             "MKL_ENABLE_INSTRUCTIONS": "SSE4_2", "OPENBLAS_CORETYPE": "Nehalem",
             "TF_ENABLE_ONEDNN_OPTS": "0"})]


class Torch:
    def __init__(self):
        import torch
        self.torch = torch
        torch.manual_seed(1)
        layers = torch.nn
        self.network = layers.Sequential(
            layers.Linear(FEATURES, HIDDEN), layers.ReLU(), layers.Dropout(1 - KEEP),
            layers.Linear(HIDDEN, CLASSES))
        self.optimizer = torch.optim.SGD(self.network.parameters(), lr=0.05, momentum=0.9)

    def step(self, images, labels, rate):
        self.optimizer.param_groups[0]["lr"] = rate
        self.optimizer.zero_grad()
        scores = self.network(self.torch.from_numpy(images))
        self.torch.nn.functional.cross_entropy(scores, self.torch.from_numpy(labels)).backward()
        self.optimizer.step()

    def save(self):
        return {"weights": self.network.state_dict(), "momentum": self.optimizer.state_dict(),
                "generator": self.torch.get_rng_state()}

    def load(self, kept):
        if "weights" in kept:
            self.network.load_state_dict(kept["weights"])
        if "momentum" in kept:
            self.optimizer.load_state_dict(kept["momentum"])
        if "generator" in kept:
            self.torch.set_rng_state(kept["generator"])

    def bits(self):
        return b"".join(one.detach().numpy().tobytes() for one in self.network.parameters())


class TensorFlow:
    def __init__(self):
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
        import tensorflow
        self.tf = tensorflow
        chance = tensorflow.random.Generator.from_seed(1)
        self.weights = [tensorflow.Variable(0.05 * chance.normal(shape)) for shape in
                        ((FEATURES, HIDDEN), (HIDDEN,), (HIDDEN, CLASSES), (CLASSES,))]
        self.optimizer = tensorflow.keras.optimizers.SGD(0.05, momentum=0.9)
        self.optimizer.build(self.weights)
        self.generator = tensorflow.random.Generator.from_seed(2)

    def step(self, images, labels, rate):
        tf, (first, bias, second, last) = self.tf, self.weights
        self.optimizer.learning_rate.assign(rate)
        with tf.GradientTape() as tape:
            hidden = tf.nn.relu(images @ first + bias)
            mask = tf.cast(self.generator.uniform(hidden.shape) < KEEP, tf.float32) / KEEP
            scores = (hidden * mask) @ second + last
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, scores))
        self.optimizer.apply_gradients(zip(tape.gradient(loss, self.weights), self.weights))

    def save(self):
        return {"weights": [one.numpy() for one in self.weights],
                "momentum": [one.numpy() for one in self.optimizer.variables],
                "generator": self.generator.state.numpy()}

    def load(self, kept):
        for name, variables in (("weights", self.weights), ("momentum", self.optimizer.variables)):
            for variable, value in zip(variables, kept.get(name, ())):
                variable.assign(value)
        if "generator" in kept:
            self.generator.state.assign(kept["generator"])

    def bits(self):
        return b"".join(one.numpy().tobytes() for one in self.weights)


class Chainer:
    def __init__(self):
        import chainer
        import numpy
        self.chainer, self.numpy = chainer, numpy
        numpy.random.seed(1)
        links = chainer.links
        self.network = chainer.ChainList(links.Linear(FEATURES, HIDDEN),
                                         links.Linear(HIDDEN, CLASSES))
        self.optimizer = chainer.optimizers.MomentumSGD(0.05, 0.9).setup(self.network)

    def step(self, images, labels, rate):
        functions = self.chainer.functions
        self.optimizer.lr = rate
        hidden = functions.dropout(functions.relu(self.network[0](images)), 1 - KEEP)
        loss = functions.softmax_cross_entropy(self.network[1](hidden), labels.astype("i"))
        self.network.cleargrads()
        loss.backward()
        self.optimizer.update()

    def _momenta(self):
        return [one.update_rule.state for one in self.network.params()]

    def save(self):
        return {"weights": [one.array for one in self.network.params()],
                "momentum": [dict(one) for one in self._momenta()],
                "generator": self.numpy.random.get_state()}

    def load(self, kept):
        for parameter, value in zip(self.network.params(), kept.get("weights", ())):
            parameter.array[...] = value
        for parameter, state in zip(self.network.params(), kept.get("momentum", ())):
            parameter.update_rule._init_states(parameter)  # it has none before the first step
            parameter.update_rule.state.update(state)
        if "generator" in kept:
            self.numpy.random.set_state(kept["generator"])

    def bits(self):
        return b"".join(one.array.tobytes() for one in self.network.params())


FRAMEWORKS = {"torch": Torch, "tensorflow": TensorFlow, "chainer": Chainer}


def part(framework, begin, end, checkpoint):
    """Trains steps begin .. end, from the checkpoint if it begins later; leaves one at the end.
    Prints the digest of the parameters and the seconds of a step."""
    import numpy
    chance = numpy.random.default_rng(7)
    images = chance.standard_normal((SAMPLES, FEATURES), dtype=numpy.float32)
    labels = chance.integers(0, CLASSES, SAMPLES)
    trainer = FRAMEWORKS[framework]()
    kept = pickle.loads(checkpoint.read_bytes()) if begin > 0 else {}
    trainer.load(kept)
    order, place = numpy.random.default_rng(3), 0
    if "place" in kept:
        order, place = kept["place"][0], kept["place"][1]
    shuffled = kept["place"][2] if "place" in kept else order.permutation(SAMPLES)
    first_rate = 0 if "rate" in kept or begin == 0 else begin  # without it the schedule begins anew
    began = time.monotonic()
    for step in range(begin, end):
        if place + BATCH > SAMPLES:
            shuffled, place = order.permutation(SAMPLES), 0
        batch = shuffled[place:place + BATCH]
        trainer.step(images[batch], labels[batch], 0.05 * (1 - (step - first_rate) / (2 * STEPS)))
        place += BATCH
    step_s = (time.monotonic() - began) / (end - begin)
    checkpoint.write_bytes(pickle.dumps({**trainer.save(), "rate": True,
                                         "place": (order, place, shuffled)}))
    print(json.dumps({"digest": hashlib.sha256(trainer.bits()).hexdigest(), "step_s": step_s}))


def others(pythons, found):
    alone = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1",
             "TF_NUM_INTRAOP_THREADS": "1"}
    for framework in FRAMEWORKS:
        if found.find(framework=framework, case=CASES[-1][0]):
            continue
        with tempfile.TemporaryDirectory() as place:
            checkpoint = pathlib.Path(place) / "state"

            def one(begin, end, variables, python):
                done = subprocess.run(
                    [python, __file__, "part", "--framework", framework, "--begin", str(begin),
                     "--end", str(end), "--checkpoint", checkpoint], env={**alone, **variables},
                    stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
                if done.returncode == 0:
                    return json.loads(done.stdout.splitlines()[-1])
                if begin > 0:
                    raise SystemExit(done.stderr)
                return None
            python = next((it for it in pythons if one(0, 1, {}, it)), None)
            if python is None:
                found.add({"framework": framework, "why": "it is not there"})
                continue
            whole = one(0, STEPS, {}, python)
            one(0, CUT, {}, python)
            kept = checkpoint.read_bytes()
            for name, lacks, variables in CASES:
                checkpoint.write_bytes(kept if lacks is None else without(python, kept, lacks))
                went_on = one(CUT, STEPS, variables, python)
                found.add({"framework": framework, "case": name,
                           "same": went_on["digest"] == whole["digest"],
                           "step_s": went_on["step_s"]})
                print(json.dumps(found.lines[-1]), flush=True)


def without(python, kept, lacks):
    """The checkpoint without this, by a Python that knows what is in it."""
    program = ("import pickle, sys; kept = pickle.load(sys.stdin.buffer); del kept[sys.argv[1]]; "
               "sys.stdout.buffer.write(pickle.dumps(kept))")
    return subprocess.run([python, "-c", program, lacks], input=kept, capture_output=True,
                          check=True).stdout


CLUSTER = """\
run: repeats
model: {{input: [28, 28, 1], layers: [flatten, dense: {{outputs: 256}}, relu, dropout: 0.2,
        dense: {{outputs: 10}}]}}
data: {{path: {}}}
training: {{epochs: 1, evaluate_every: 0, checkpoint_every: 0.2, schedule: cosine}}
exchange: {{mode: ring}}
peers: {{count: {}}}
"""


def ako(found):
    from study import AKO, MODES
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)

        def digest(mode, peers, name, *words, variables=None):
            (folder / "cluster.yaml").write_text(
                CLUSTER.format(REPOSITORY / "experiments/mnist/data", peers))
            command = [AKO, "launch", folder / "cluster.yaml", "--plain", "--free-ports",
                       "--output-dir", folder / name, *words]
            command += [word for setting in MODES[mode] for word in ("--set", setting)]
            subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, check=True,
                           capture_output=True, env={**os.environ, **(variables or {})})
            return json.loads((folder / name / "summary.json").read_text())["digest"]
        for mode in MODES:
            if mode == "local":
                continue  # its peers have a digest each; ako verify looks at them
            whole = digest(mode, 2, f"{mode}-whole")
            resume = ("--resume", folder / f"{mode}-whole")
            cases = [("nothing", {})]
            if mode == "ring":
                cases += [(name, variables) for name, lacks, variables in CASES[1:] if not lacks]
            for name, variables in cases:
                again = digest(mode, 2, f"{mode}-{name}", *resume, variables=variables)
                found.add({"framework": f"ako {mode}", "case": name, "same": again == whole})
                print(json.dumps(found.lines[-1]), flush=True)
            if mode == "ring":
                three = digest(mode, 3, "ring-three", *resume)
                found.add({"framework": "ako ring", "case": "three peers, not two",
                           "same": three == whole})


def table(found):
    frameworks = list(dict.fromkeys(line["framework"] for line in found.lines))
    cases = list(dict.fromkeys(line["case"] for line in found.lines if "case" in line))
    print("| goes on with | " + " | ".join(frameworks) + " |\n|---" + "|---" * len(frameworks) +
          "|")
    for case in cases:
        words = []
        for framework in frameworks:
            line = found.find(framework=framework, case=case)
            words.append("" if line is None else "the same bits" if line["same"] else "others")
        print(f"| {case} | " + " | ".join(words) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("others", "ako", "table", "part"))
    parser.add_argument("--pythons", type=lambda text: text.split(","), default=[sys.executable])
    parser.add_argument("--framework", choices=FRAMEWORKS)
    parser.add_argument("--begin", type=int)
    parser.add_argument("--end", type=int)
    parser.add_argument("--checkpoint", type=pathlib.Path)
    arguments = parser.parse_args()
    if arguments.what == "part":
        return part(arguments.framework, arguments.begin, arguments.end, arguments.checkpoint)
    found = runs.Runs(HERE / "repeated.jsonl")
    if arguments.what == "others":
        others(arguments.pythons, found)
    elif arguments.what == "ako":
        ako(found)
    else:
        table(found)


if __name__ == "__main__":
    main()
