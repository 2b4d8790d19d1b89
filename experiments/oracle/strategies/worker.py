#!/usr/bin/env python3
"""One machine of this experiment, started by measure.py: what it is told stands in one argument of
JSON, and what machine 0 finds is printed as lines of JSON.

    {"task": "losses"}     of each strategy and of one process, over 20 steps
    {"task": "steps"}      seconds of a step of each strategy
    {"task": "profile"}    processor seconds of each layer, whole and in parts; alone
    {"task": "exchange"}   what messages and bytes take; two machines

Needs PyTorch (any version since 1.13).
"""

import datetime
import json
import os
import pathlib
import resource
import sys
import time

# Before PyTorch: torch.set_num_threads does not reach OpenBLAS, whose threads spin while they wait,
# and under a quota take most of it.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import torch
from torch import distributed

import strategies
from exchange import Group
from layers import CLASSES, NETWORKS, apply, batches, initial, loss_of, part, read_by, shapes

CHECKED_STEPS = 20
BATCHES = 4  # different ones, again and again
WARM_UP_STEPS = 3
STEPS_MIN, STEPS_MAX = 8, 200
PROBE_STEPS = 8
PROFILE_REPEATS, PROFILE_SECONDS = 7, 0.15  # of processor, at least
EXCHANGE_REPEATS = 40
SMALL, LARGE = 64, 1 << 20  # floats
BETWEEN_S = 0.01  # of processor, before each exchange that is measured
PARTS = (2, 4)  # that layers are divided into
ALONE = "one process"


def job_of(told, **changed):
    keys = strategies.Job._fields
    return strategies.Job(**{**{key: told[key] for key in keys}, **changed})


class OneProcess:
    """The same training without any strategy: what the others are checked against."""

    def __init__(self, job):
        self.job = job
        self.parameters = [[strategies.leaf(tensor) for tensor in own]
                           for own in initial(job.network, job.seed)]

    def gradient(self, images, labels):
        x, tensors = images, [tensor for own in self.parameters for tensor in own]
        for layer, parameters in zip(NETWORKS[self.job.network][1], self.parameters):
            x = apply(layer, x, parameters)
        for tensor in tensors:
            tensor.grad = None
        loss = loss_of(x, labels, self.job.batch)
        loss.backward()
        return float(loss.detach()), tensors

    def step(self, images, labels):
        loss, tensors = self.gradient(images, labels)
        strategies.update(tensors, self.job.learning_rate)
        return loss


def losses(told):
    job = job_of(told)
    data = batches(job.network, job.batch, BATCHES, job.seed + 1)
    alone = OneProcess(job)
    yield {"strategy": ALONE,
           "losses": [alone.step(*data[k % BATCHES]) for k in range(CHECKED_STEPS)]}
    for strategy in told["strategies"]:
        machine = strategies.make(strategy, job)
        own = torch.tensor([machine.step(*data[k % BATCHES]) for k in range(CHECKED_STEPS)],
                           dtype=torch.float64)
        distributed.all_reduce(own)
        yield {"strategy": strategy, "losses": own.tolist()}


def bytes_sent():
    for line in pathlib.Path("/proc/net/dev").read_text().splitlines():
        name, _, counters = line.partition(":")
        if name.strip() == "eth0":
            return int(counters.split()[8])
    return 0


def greatest(value):
    found = torch.tensor([value], dtype=torch.float64)
    distributed.all_reduce(found, distributed.ReduceOp.MAX)
    return float(found)


def probe(alone, data):
    """Processor seconds of a whole gradient: how fast a machine is while all of them compute."""
    distributed.barrier()
    began = time.process_time()
    for k in range(PROBE_STEPS):
        alone.gradient(*data[k % BATCHES])
    return greatest((time.process_time() - began) / PROBE_STEPS)


def timed_steps(machine, data, seconds):
    """(seconds of a step, steps, bytes sent by the busiest in a step)."""
    for k in range(WARM_UP_STEPS):
        began = time.monotonic()
        machine.step(*data[k % BATCHES])
    guess = greatest(time.monotonic() - began)
    steps = max(STEPS_MIN, min(STEPS_MAX, round(seconds / guess)))
    distributed.barrier()
    sent, began = bytes_sent(), time.monotonic()
    for k in range(steps):
        machine.step(*data[k % BATCHES])
    taken = (time.monotonic() - began) / steps
    return greatest(taken), steps, greatest((bytes_sent() - sent) / steps)


def steps(told):
    job = job_of(told)
    data = batches(job.network, job.batch, BATCHES, job.seed + 1)
    small = [(images[:told["probe_batch"]], labels[:told["probe_batch"]])
             for images, labels in data]
    alone = OneProcess(job)
    before = probe(alone, small)
    for strategy in told["strategies"]:
        machine = strategies.make(strategy, job)
        step_s, count, sent = timed_steps(machine, data, told["seconds"])
        after = probe(alone, small)
        memory = greatest(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
        yield {"strategy": strategy, "step_s": step_s, "steps": count, "sent_bytes": sent,
               "probe_s": (before + after) / 2, "process_bytes": memory}
        before = after


def least_s(action):
    """Processor seconds of an action, the least of repetitions: what others on the machine add is
    in the probes of a measurement."""
    action()
    taken = []
    while len(taken) < PROFILE_REPEATS or sum(taken) < PROFILE_SECONDS:
        began = time.process_time()
        action()
        taken.append(time.process_time() - began)
    return min(taken)


def passes_of(layer, x, parameters, padded=None, first=False):
    """(forward, backward) of this piece; the data's gradient is not asked for."""
    x = x.requires_grad_(not first)
    own = [tensor.detach().requires_grad_() for tensor in parameters]
    asked = own if first else [x, *own]
    y = apply(layer, x, own, padded)
    upper = torch.randn_like(y)
    both = least_s(lambda: torch.autograd.grad(apply(layer, x, own, padded), asked, upper))
    forward = least_s(lambda: apply(layer, x, own, padded))
    return forward, max(0.0, both - forward)


def line_of(kind, given, made):
    """Shapes as Ako has them: rows, columns, channels."""
    given, made = ((*shape[1:], shape[0]) for shape in (given, made))
    return {"kind": kind, "input": given, "output": made, "mixes": False, "parameters": 0,
            "window": 0, "stride": 1, "padding": 0}


class LayerProfile:
    """One layer of a network: seconds whole, and what stays of them however it is divided."""

    def __init__(self, told, l):
        self.layer, self.first = NETWORKS[told["network"]][1][l], l == 0
        self.given, self.made = shapes(told["network"])[l:l + 2]
        self.batch = told["batch"]
        self.parameters = initial(told["network"], told["seed"])[l]

    def x(self, batch=None, channels=None, rows=None):
        size = (batch or self.batch, channels or self.given[0], rows or self.given[1],
                self.given[2])
        x = torch.randn(size)
        return x.flatten(1) if self.given[1:] == (1, 1) else x

    def samples(self, parts):
        count = -(-self.batch // parts)
        return count / self.batch, passes_of(self.layer, self.x(batch=count), self.parameters,
                                             first=self.first)

    def rows(self, parts):
        height = self.made[1]
        first, end = max((part(height, k, parts) for k in range(parts)), key=lambda r: r[1] - r[0])
        above, below, padded = read_by(self.layer, first, end, self.given[1])
        taken = passes_of(self.layer, self.x(rows=below - above), self.parameters, padded,
                          self.first)
        return (end - first) / height, taken

    def filters(self, parts):
        if not self.layer.mixes:
            return self.channels(parts)
        count = -(-self.layer.outputs // parts)
        own = [tensor[:count].clone() for tensor in self.parameters]
        return count / self.layer.outputs, passes_of(self.layer, self.x(), own, first=self.first)

    def channels(self, parts):
        count = -(-self.given[0] // parts)
        own = [self.parameters[0][:, :count].clone(), self.parameters[1]] if self.layer.mixes \
            else []
        return count / self.given[0], passes_of(self.layer, self.x(channels=count), own,
                                                first=self.first)

    def line(self):
        whole = passes_of(self.layer, self.x(), self.parameters, first=self.first)
        divided = self.layer.mixes and self.given[0] >= max(PARTS)
        along = [self.samples, self.rows if self.layer.by_rows else None, self.filters,
                 self.channels if divided else self.filters]
        taken = [[measure(parts) for parts in PARTS] if measure else [] for measure in along]
        passes = [{"whole_s": whole[k],
                   "parts": [[(share, seconds[k]) for share, seconds in one if share < 1]
                             for one in taken]} for k in (0, 1)]
        return {**line_of(self.layer.kind, self.given, self.made), "mixes": self.layer.mixes,
                "parameters": sum(tensor.numel() for tensor in self.parameters),
                "window": self.layer.window if self.layer.by_rows else 0,
                "stride": self.layer.stride, "padding": self.layer.padding,
                "forward": passes[0], "backward": passes[1]}


def loss_line(told):
    """The loss as a last layer: it is made of all scores, and hardly shrinks."""
    scores = torch.randn(told["batch"], CLASSES, requires_grad=True)
    labels = torch.zeros(told["batch"], dtype=torch.long)

    def taken_of(count):
        def forward():
            return loss_of(scores[:count], labels[:count], told["batch"])
        one = least_s(forward)
        return one, max(0.0, least_s(lambda: forward().backward()) - one)

    whole = taken_of(told["batch"])
    samples = [(1 / parts, taken_of(told["batch"] // parts)) for parts in PARTS]
    as_whole = [(1 / parts, whole) for parts in PARTS]
    passes = [{"whole_s": whole[k],
               "parts": [[(share, seconds[k]) for share, seconds in one]
                         for one in (samples, as_whole, as_whole, as_whole)]} for k in (0, 1)]
    made = shapes(told["network"])[-1]
    return {**line_of("loss", made, made), "forward": passes[0], "backward": passes[1]}


def profile(told):
    job = job_of(told)
    lines = [LayerProfile(told, l).line() for l in range(len(NETWORKS[job.network][1]))]
    data = batches(job.network, told["probe_batch"], BATCHES, job.seed)
    alone = OneProcess(job)
    _, tensors = alone.gradient(*data[0])
    gradients = sum(tensor.numel() for tensor in tensors) * 4
    yield {"network": job.network, "batch": job.batch, "layers": [*lines, loss_line(told)],
           "update_s_per_byte": least_s(lambda: strategies.update(tensors, 0.0)) / gradients,
           "probe_s": least_s(lambda: alone.gradient(*data[0]))}


def per_exchange(action, processor_s):
    """(seconds, processor seconds) that an exchange adds to what is computed before it."""
    taken = []
    for exchange in (lambda: None, action):
        distributed.barrier()
        began, cpu = time.monotonic(), time.process_time()
        for _ in range(EXCHANGE_REPEATS):
            until = time.process_time() + processor_s
            while time.process_time() < until:
                torch.rand(4096)
            exchange()
        taken.append(((time.monotonic() - began) / EXCHANGE_REPEATS,
                      (time.process_time() - cpu) / EXCHANGE_REPEATS))
    return [greatest(max(0.0, with_it - without)) for without, with_it in zip(*taken)]


def swap(tensor, other):
    """With the other machine of two."""
    taken = torch.empty_like(tensor)
    for waiting in (distributed.irecv(taken, other), distributed.isend(tensor, other)):
        waiting.wait()


def exchange(told):
    """Of two machines. Small ones after computing, for that is where they stand in a step; of large
    ones the processor time, for what the link takes is its rate."""
    group = Group(list(range(told["machines"])), None, told["number"])
    found = {}
    for name, floats, processor_s in (("small", SMALL, BETWEEN_S), ("large", LARGE, 0.0)):
        whole, half = torch.ones(floats), torch.ones(floats // 2)
        for kind, action in (
                ("swap", lambda: swap(half, 1 - told["number"])),
                ("gather", lambda: group.gather(half, [floats // 2] * 2, 0)),
                ("sum", lambda: strategies.sum_gradients([whole], group))):
            found[f"{name} {kind}"] = per_exchange(action, processor_s)
    gather_s, sum_s = found["small gather"][0], found["small sum"][0]
    latency_s = min(max(0.0, sum_s - gather_s), gather_s)
    half_bytes = LARGE * 4 / 2
    swapped, gathered, summed = (found[f"large {kind}"][1] / half_bytes
                                 for kind in ("swap", "gather", "sum"))
    # A gather of two swaps one half and copies both; a sum swaps both and adds one.
    yield {"latency_s": latency_s, "call_s": gather_s - latency_s, "cpu_s_per_byte": swapped,
           "cpu_s_per_copied_byte": max(0.0, gathered - swapped) / 2,
           "cpu_s_per_added_byte": max(0.0, summed - 2 * swapped), "measured": found}


def main():
    told = json.loads(sys.argv[1])
    torch.set_num_threads(1)
    os.environ.update(MASTER_ADDR=told["master"], MASTER_PORT=str(told["port"]),
                      GLOO_SOCKET_IFNAME=told["interface"])
    distributed.init_process_group("gloo", rank=told["number"], world_size=told["machines"],
                                   timeout=datetime.timedelta(seconds=300))
    tasks = {"losses": losses, "steps": steps, "profile": profile, "exchange": exchange}
    for line in tasks[told["task"]](told):
        if told["number"] == 0:
            print(json.dumps(line), flush=True)
    distributed.barrier()
    distributed.destroy_process_group()


if __name__ == "__main__":
    main()
