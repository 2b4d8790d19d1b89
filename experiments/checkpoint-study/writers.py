#!/usr/bin/env python3
"""What one checkpoint of a framework takes: a process for each framework, size and disk.

    writers.py FRAMEWORK --parameters 431080 --folder FOLDER [--repeats 5]

FRAMEWORK: torch.save, safetensors, dcp, dcp-async, tensorflow or chainer. The state is that of SGD
with momentum, twice so many floats as if by chance. A line of JSON for each repeat:

    still_s   that a training loop stands still: until the call returns
    safe_s    until all of it is on the disk, by fsync where the framework makes none
    bytes     of the files; load_s to have them back, not from the system's cache
    memory_mb the process holds more at its peak than with the state alone
    same      did the same bits come back?
"""

import argparse
import contextlib
import json
import os
import pathlib
import resource
import shutil
import time

TENSORS = 12  # as a network has layers


def sync(folder):
    """Files and folders, to the disk."""
    for path in [folder, *folder.rglob("*")]:
        descriptor = os.open(path, os.O_RDONLY)
        os.fsync(descriptor)
        os.close(descriptor)


def forget(folder):
    """What the system has of it in memory."""
    for path in folder.rglob("*"):
        if path.is_file():
            descriptor = os.open(path, os.O_RDONLY)
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(descriptor)


def shares(parameters):
    each = parameters // TENSORS
    return [each] * (TENSORS - 1) + [parameters - each * (TENSORS - 1)]


class Torch:
    def __init__(self, parameters):
        import torch
        self.torch = torch
        torch.manual_seed(1)
        self.state = {f"{kind}.{k}": torch.randn(count) for kind in ("weight", "momentum")
                      for k, count in enumerate(shares(parameters))}

    def save(self, folder):
        self.torch.save(self.state, folder / "state.pt")

    def load(self, folder):
        return self.torch.load(folder / "state.pt")

    def wait(self):
        """Until what goes on beside the caller is over."""

    def same(self, loaded):
        return all(self.torch.equal(loaded[name], value) for name, value in self.state.items())


class Safetensors(Torch):
    def save(self, folder):
        import safetensors.torch
        safetensors.torch.save_file(self.state, folder / "state.safetensors")

    def load(self, folder):
        import safetensors.torch
        return safetensors.torch.load_file(folder / "state.safetensors")


class Distributed(Torch):
    """torch.distributed.checkpoint, of one process."""

    def __init__(self, parameters):
        super().__init__(parameters)
        import torch.distributed.checkpoint
        self.checkpoint = self.torch.distributed.checkpoint

    def save(self, folder):
        self.checkpoint.save(self.state, checkpoint_id=folder / "state", no_dist=True)

    def load(self, folder):
        loaded = {name: self.torch.empty_like(value) for name, value in self.state.items()}
        self.checkpoint.load(loaded, checkpoint_id=folder / "state", no_dist=True)
        return loaded


class Asynchronous(Distributed):
    def __init__(self, parameters):
        super().__init__(parameters)
        import torch.distributed
        os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
        os.environ.setdefault("MASTER_PORT", "29511")
        torch.distributed.init_process_group("gloo", rank=0, world_size=1)
        self.pending = None

    def save(self, folder):
        self.pending = self.checkpoint.async_save(self.state, checkpoint_id=folder / "state")

    def wait(self):
        self.pending.result()


class TensorFlow:
    def __init__(self, parameters):
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
        import tensorflow
        self.tf = tensorflow
        self.values = [tensorflow.Variable(tensorflow.random.normal([count], seed=k))
                       for _ in range(2) for k, count in enumerate(shares(parameters))]

    def _checkpoint(self, values):
        return self.tf.train.Checkpoint(**{f"v{k}": value for k, value in enumerate(values)})

    def save(self, folder):
        self._checkpoint(self.values).write(str(folder / "state"))

    def load(self, folder):
        loaded = [self.tf.Variable(self.tf.zeros_like(value)) for value in self.values]
        self._checkpoint(loaded).read(str(folder / "state")).assert_consumed()
        return loaded

    def wait(self):
        pass

    def same(self, loaded):
        return all((one.numpy() == other.numpy()).all()
                   for one, other in zip(self.values, loaded))


class Chainer:
    def __init__(self, parameters):
        import chainer
        import numpy
        self.chainer, self.numpy = chainer, numpy
        chance = numpy.random.default_rng(1)
        self.values = [chance.standard_normal(count, dtype=numpy.float32)
                       for _ in range(2) for count in shares(parameters)]

    def _chain(self, values):
        chain = self.chainer.Chain()
        with chain.init_scope():
            for k, value in enumerate(values):
                setattr(chain, f"v{k}", self.chainer.Parameter(value))
        return chain

    def save(self, folder):
        self.chainer.serializers.save_npz(str(folder / "state.npz"), self._chain(self.values))

    def load(self, folder):
        chain = self._chain([self.numpy.zeros_like(value) for value in self.values])
        self.chainer.serializers.load_npz(str(folder / "state.npz"), chain)
        return [getattr(chain, f"v{k}").array for k in range(len(self.values))]

    def wait(self):
        pass

    def same(self, loaded):
        return all((one == other).all() for one, other in zip(self.values, loaded))


FRAMEWORKS = {"torch.save": Torch, "safetensors": Safetensors, "dcp": Distributed,
              "dcp-async": Asynchronous, "tensorflow": TensorFlow, "chainer": Chainer}


def peak_mb():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(framework, folder):
    before, began = peak_mb(), time.monotonic()
    framework.save(folder)
    still_s = time.monotonic() - began
    framework.wait()
    sync(folder)
    safe_s = time.monotonic() - began
    memory_mb = peak_mb() - before
    forget(folder)
    began = time.monotonic()
    loaded = framework.load(folder)
    load_s = time.monotonic() - began
    return {"still_s": still_s, "safe_s": safe_s, "load_s": load_s, "memory_mb": memory_mb,
            "bytes": sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()),
            "same": bool(framework.same(loaded))}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("framework", choices=FRAMEWORKS)
    parser.add_argument("--parameters", type=int, required=True)
    parser.add_argument("--folder", type=pathlib.Path, required=True)
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    with contextlib.redirect_stdout(None):  # some say hello
        framework = FRAMEWORKS[arguments.framework](arguments.parameters)
    for repeat in range(arguments.repeats):
        folder = arguments.folder / f"checkpoint-{repeat}"
        folder.mkdir(parents=True)
        print(json.dumps(measure(framework, folder)), flush=True)
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
