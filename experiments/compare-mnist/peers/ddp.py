#!/usr/bin/env python3
"""One worker of PyTorch's DistributedDataParallel over gloo, training Ako's LeNet on MNIST as Ako's
peers do; started by run_ddp.py beside it, one worker per network namespace.

    ddp.py train --worker 0 --workers 4 --master 10.99.0.1 --out FOLDER ...
    ddp.py evaluate --out FOLDER

`train` prints one line of JSON with what its rounds took. Worker 0 keeps the parameters of every
mark in memory and writes them to FOLDER/milestones.pt when all rounds are made; `evaluate` prints
what they are worth on the test set, so that no evaluation takes time from training. DDP is as it
comes: no option of its own is set. Needs PyTorch (requirements.txt) and nothing of Ako.
"""

import argparse
import gzip
import json
import math
import os
import pathlib
import resource
import time

import torch
from torch import distributed, nn
from torch.nn.parallel import DistributedDataParallel

REPOSITORY = pathlib.Path(__file__).resolve().parents[3]
PARAMETERS = 431_080
MEAN, DEVIATION = 0.1307, 0.3081
# As Ako leaves them out of its figures.
WARM_UP_ROUNDS, WARM_UP_APPLIES_ABOVE = 5, 20
EVALUATION_BATCH = 1000


def lenet(seed):
    """Ako's layers, initialised as Ako does: uniform, variance 1 / inputs, biases 0."""
    torch.manual_seed(seed)
    network = nn.Sequential(
        nn.Conv2d(1, 20, 5), nn.MaxPool2d(2), nn.ReLU(),
        nn.Conv2d(20, 50, 5), nn.MaxPool2d(2), nn.ReLU(),
        nn.Flatten(), nn.Linear(800, 500), nn.ReLU(), nn.Linear(500, 10))
    assert sum(tensor.numel() for tensor in network.parameters()) == PARAMETERS
    for tensor in network.parameters():
        if tensor.dim() == 1:
            nn.init.zeros_(tensor)
        else:
            bound = math.sqrt(3 / (tensor.numel() / tensor.shape[0]))
            nn.init.uniform_(tensor, -bound, bound)
    return network


def read_idx(path, header_bytes):
    with gzip.open(path) as file:
        return torch.frombuffer(bytearray(file.read()[header_bytes:]), dtype=torch.uint8)


def load(folder, part):
    images = read_idx(folder / f"{part}-images-idx3-ubyte.gz", 16).view(-1, 1, 28, 28)
    return images, read_idx(folder / f"{part}-labels-idx1-ubyte.gz", 8).long()


def normalise(images):
    return (images.float() / 255 - MEAN) / DEVIATION


class Shard:
    """A worker's own share of the images, in a new order at every pass."""

    def __init__(self, folder, worker, workers, seed):
        images, self.labels = load(folder, "train")
        self.size = len(images)
        order = torch.randperm(self.size, generator=torch.Generator().manual_seed(seed))
        own = order[worker * self.size // workers:(worker + 1) * self.size // workers]
        self.images, self.labels = normalise(images[own]), self.labels[own]
        self.random = torch.Generator().manual_seed(seed * 1000 + worker)
        self.left = torch.empty(0, dtype=torch.long)

    def next(self, count):
        while len(self.left) < count:
            again = torch.randperm(len(self.images), generator=self.random)
            self.left = torch.cat([self.left, again])
        chosen, self.left = self.left[:count], self.left[count:]
        return self.images[chosen], self.labels[chosen]


def learning_rate(arguments, progress):
    """As src/numbers/learning_rate.cpp."""
    warm_up = arguments.warm_up
    warmed = progress / warm_up if progress < warm_up else 1
    if arguments.schedule == "constant":
        return arguments.learning_rate * warmed
    share = min(1, max(0, (progress - warm_up) / (1 - warm_up)))
    return arguments.learning_rate * warmed * 0.5 * (1 + math.cos(math.pi * share))


def flat(network):
    return torch.cat([tensor.detach().reshape(-1) for tensor in network.parameters()])


def cpu_seconds():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def bytes_of(interface):
    """(received, sent), with the headers of the packets as the interface counts them."""
    for line in pathlib.Path("/proc/net/dev").read_text().splitlines():
        name, _, counters = line.partition(":")
        if name.strip() == interface:
            words = counters.split()
            return int(words[0]), int(words[8])
    return 0, 0


def quantiles(seconds, *shares):
    counted = seconds[WARM_UP_ROUNDS:] if len(seconds) > WARM_UP_APPLIES_ABOVE else seconds
    ordered = sorted(counted)
    return {f"p{share}": round(1e3 * ordered[math.ceil(share / 100 * len(ordered)) - 1], 3)
            for share in shares}


class Worker:
    def __init__(self, arguments):
        self.arguments = arguments
        self.shard = Shard(pathlib.Path(arguments.data), arguments.worker, arguments.workers,
                           arguments.seed)
        self.network = DistributedDataParallel(lenet(arguments.seed))
        self.loss_of = nn.CrossEntropyLoss()
        self.per_round = arguments.batch * arguments.workers
        self.budget = round(arguments.epochs * self.shard.size)
        self.milestones = []

    def optimizer(self, rate):
        return torch.optim.SGD(self.network.parameters(), lr=rate,
                               momentum=self.arguments.momentum,
                               nesterov=self.arguments.momentum > 0,
                               weight_decay=self.arguments.weight_decay)

    def round(self, optimizer):
        images, labels = self.shard.next(self.arguments.batch)
        optimizer.zero_grad(set_to_none=True)
        self.loss_of(self.network(images), labels).backward()
        optimizer.step()

    def keep(self, number, seconds):
        samples = number * self.per_round
        self.milestones.append({"seconds": seconds, "round": number, "samples": samples,
                                "progress": min(1, samples / self.budget),
                                "parameters": flat(self.network)})

    def train(self):
        optimizer = self.optimizer(self.arguments.learning_rate)
        rounds = math.ceil(self.budget / self.per_round)
        if self.arguments.rounds:
            rounds = min(rounds, self.arguments.rounds)
        every = self.arguments.evaluate_every * self.shard.size
        durations, next_mark = [], every
        distributed.barrier()
        received, sent = bytes_of("eth0")
        cpu, began = cpu_seconds(), time.monotonic()
        for number in range(1, rounds + 1):
            round_began = time.monotonic()
            progress = (number - 1) * self.per_round / self.budget
            for group in optimizer.param_groups:
                group["lr"] = learning_rate(self.arguments, progress)
            self.round(optimizer)
            ended = time.monotonic()
            durations.append(ended - round_began)
            last = number == rounds
            if self.arguments.worker == 0 and (
                    last or every > 0 and number * self.per_round >= next_mark):
                self.keep(number, ended - began)
                next_mark += every
        seconds, cpu = time.monotonic() - began, cpu_seconds() - cpu
        received, sent = (now - then for now, then in zip(bytes_of("eth0"), (received, sent)))
        return {"worker": self.arguments.worker, "rounds": rounds, "train_seconds": seconds,
                "round_ms": quantiles(durations, 10, 50, 90, 99), "cpu_seconds": cpu,
                "cpu_ms_per_round": 1e3 * cpu / rounds,
                "samples_per_s": rounds * self.arguments.batch / seconds,
                "egress_bytes_per_round": sent / rounds,
                "ingress_bytes_per_round": received / rounds}

    def compute_only(self):
        """The same rounds without exchange. The rate is 0: nothing of it is learned."""
        optimizer = self.optimizer(0)
        durations = []
        distributed.barrier()
        for _ in range(self.arguments.compute_rounds):
            began = time.monotonic()
            with self.network.no_sync():
                self.round(optimizer)
            durations.append(time.monotonic() - began)
        distributed.barrier()
        return quantiles(durations, 50) if durations else None


def train(arguments):
    os.environ.update(MASTER_ADDR=arguments.master, MASTER_PORT=str(arguments.port))
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "eth0")
    distributed.init_process_group("gloo", rank=arguments.worker, world_size=arguments.workers)
    worker = Worker(arguments)
    result = worker.train()
    result["compute_round_ms"] = worker.compute_only()
    result["torch"] = torch.__version__
    if arguments.worker == 0:
        torch.save(worker.milestones, pathlib.Path(arguments.out) / "milestones.pt")
    print(json.dumps(result), flush=True)
    distributed.barrier()
    distributed.destroy_process_group()


def evaluate(arguments):
    network = lenet(0)
    images, labels = load(pathlib.Path(arguments.data), "t10k")
    images = normalise(images)
    points = []
    for milestone in torch.load(pathlib.Path(arguments.out) / "milestones.pt"):
        nn.utils.vector_to_parameters(milestone.pop("parameters"), network.parameters())
        with torch.no_grad():
            scores = torch.cat([network(part) for part in images.split(EVALUATION_BATCH)])
        milestone["accuracy"] = (scores.argmax(1) == labels).double().mean().item()
        milestone["loss"] = nn.functional.cross_entropy(scores, labels).item()
        points.append(milestone)
    print(json.dumps(points))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    training = commands.add_parser("train")
    training.add_argument("--worker", type=int, required=True, help="from 0")
    training.add_argument("--workers", type=int, required=True)
    training.add_argument("--master", required=True, help="address of worker 0")
    training.add_argument("--port", type=int, default=7700)
    training.add_argument("--batch", type=int, default=64, help="of one worker")
    training.add_argument("--learning-rate", type=float, default=0.05)
    training.add_argument("--schedule", choices=["constant", "cosine"], default="cosine")
    training.add_argument("--warm-up", type=float, default=0.1)
    training.add_argument("--momentum", type=float, default=0.9)
    training.add_argument("--weight-decay", type=float, default=0.0005)
    training.add_argument("--epochs", type=float, default=4)
    training.add_argument("--rounds", type=int, default=0, help="at most; 0: as epochs say")
    training.add_argument("--evaluate-every", type=float, default=0.1, help="epochs")
    training.add_argument("--compute-rounds", type=int, default=25)
    training.add_argument("--seed", type=int, default=1)
    training.set_defaults(action=train)
    evaluating = commands.add_parser("evaluate")
    evaluating.set_defaults(action=evaluate)
    for command in (training, evaluating):
        command.add_argument("--data", default=str(REPOSITORY / "experiments/mnist/data"))
        command.add_argument("--out", required=True)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    torch.set_num_interop_threads(1)
    arguments.action(arguments)


if __name__ == "__main__":
    main()
