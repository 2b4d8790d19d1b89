#!/usr/bin/env python3
"""One worker of the text experiment: trains the transformer for a time that all methods get, and keeps
the parameters at marks; worker 0 evaluates what it kept when all is over. See run.py.

    train.py --method ako|ddp|ddp-fp16|diloco|alone --worker K --workers N --seconds S [--steps H]

Prints a line of JSON: {"method", "rounds", "cpu_seconds", "curve": [[seconds, validation loss], ..]}.
"""

import argparse
import copy
import json
import math
import os
import signal
import sys
import time

import torch
import torch.distributed as dist
from torch.nn import functional

from text import Text, Windows
from transformer import Transformer

LENGTH, BATCH = 128, 8
RATE, WARM_UP, DECAY = 1e-3, 0.05, 0.01
OUTER_RATE, OUTER_MOMENTUM = 0.7, 0.9  # of DiLoCo (Douillard et al., 2023)
MARKS = 8


class Run:
    """What all methods share: model, optimizer, batches, schedule and marks."""

    def __init__(self, options):
        self.options = options
        torch.set_num_threads(1)
        torch.manual_seed(1)
        self.text = Text()
        self.model = Transformer(self.text.vocabulary, LENGTH)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=RATE, weight_decay=DECAY,
                                           betas=(0.9, 0.95))
        share = self.text.share(options.worker, options.workers)
        self.windows = Windows(share, LENGTH, BATCH, [2, options.worker])
        self.began = None
        self.kept = []  # (seconds, state)
        self.rounds = 0

    def seconds(self):
        return time.monotonic() - self.began

    def over(self):
        return self.seconds() >= self.options.seconds

    def step(self, model, x, y):
        """Forward, backward and the optimizer's step, at the rate that this moment has."""
        if self.began is None:
            self.began = time.monotonic()
        progress = min(1.0, self.seconds() / self.options.seconds)
        rate = min(progress / WARM_UP, 1) * 0.5 * (1 + math.cos(math.pi * progress))
        for group in self.optimizer.param_groups:
            group["lr"] = RATE * max(rate, 0.01)
        self.optimizer.zero_grad()
        loss = functional.cross_entropy(model(x).flatten(0, 1), y.flatten())
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.rounds += 1
        return loss.detach()

    def mark_passed(self):
        return self.options.worker == 0 and \
            self.seconds() >= (len(self.kept) + 1) * self.options.seconds / MARKS

    def keep(self):
        self.kept.append((self.seconds(), copy.deepcopy(self.model.state_dict())))

    def evaluate(self):
        """The mean loss of 40 batches of the validation text, of everything kept."""
        curve = []
        for seconds, state in self.kept:
            self.model.load_state_dict(state)
            batches = iter(Windows(self.text.validation, LENGTH, 16, 3))
            with torch.no_grad():
                losses = [functional.cross_entropy(self.model(x).flatten(0, 1), y.flatten()).item()
                          for x, y in (next(batches) for _ in range(40))]
            curve.append([round(seconds, 1), round(sum(losses) / len(losses), 4)])
        return curve


def ako_peer(run, options):
    import ako
    name = "abcdefgh"[options.worker]
    with ako.join(options.file, name, run.model, run.optimizer, samples=10**9,
                  local_steps=options.steps, set=options.set) as peer:
        for x, y in peer.rounds(run.windows):
            peer.loss(run.step(run.model, x, y))
            if run.mark_passed():
                with peer.anchor():
                    run.keep()
            if options.worker == 0 and run.over():
                os.kill(os.getpid(), signal.SIGINT)  # all stop, and agree
        try:
            peer.finish()
        except ako.Interrupted:
            pass
    if options.worker == 0:
        run.keep()


def meet(options):
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "eth0")
    dist.init_process_group("gloo", init_method=f"tcp://{options.master}:29500",
                            rank=options.worker, world_size=options.workers)
    dist.barrier()


def all_stop(over):
    """Everybody stops when worker 0 does."""
    flag = torch.tensor([1.0 if over else 0.0])
    dist.broadcast(flag, 0)
    return flag.item() > 0


def ddp(run, options):
    from torch.nn.parallel import DistributedDataParallel
    meet(options)
    model = DistributedDataParallel(run.model)
    if options.method == "ddp-fp16":
        from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import fp16_compress_hook
        model.register_comm_hook(None, fp16_compress_hook)
    for x, y in run.windows:
        run.step(model, x, y)
        if run.mark_passed():
            run.keep()
        if all_stop(run.over()):
            break


def diloco(run, options):
    """Steps of one's own, then the mean of all changes as the gradient of an outer optimizer."""
    meet(options)
    parameters = list(run.model.parameters())
    before = [value.detach().clone() for value in parameters]
    outer = torch.optim.SGD(before, lr=OUTER_RATE, momentum=OUTER_MOMENTUM, nesterov=True)
    for x, y in run.windows:
        run.step(run.model, x, y)
        if run.rounds % options.steps == 0:
            flat = torch.cat([(old - new.detach()).flatten()
                              for old, new in zip(before, parameters)])
            dist.all_reduce(flat)
            at = 0
            for old in before:
                old.grad = flat[at:at + old.numel()].view_as(old) / options.workers
                at += old.numel()
            outer.step()
            with torch.no_grad():
                for old, new in zip(before, parameters):
                    new.copy_(old)
            if run.mark_passed():
                run.keep()
            if all_stop(run.over()):
                break


def alone(run, options):
    for x, y in run.windows:
        run.step(run.model, x, y)
        if run.mark_passed():
            run.keep()
        if run.over():
            break


METHODS = {"ako": ako_peer, "ddp": ddp, "ddp-fp16": ddp, "diloco": diloco, "alone": alone}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--method", choices=METHODS, required=True)
    parser.add_argument("--worker", type=int, required=True)
    parser.add_argument("--workers", type=int, required=True)
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--steps", type=int, default=1, help="local steps of a round")
    parser.add_argument("--file", help="the cluster file of ako")
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--master", help="the address of worker 0")
    options = parser.parse_args()
    run = Run(options)
    METHODS[options.method](run, options)
    if options.worker == 0 and (not run.kept or run.seconds() - run.kept[-1][0] > 1) \
            and options.method != "ako":
        run.keep()
    cpu = time.process_time()
    print(json.dumps({"method": options.method, "worker": options.worker, "rounds": run.rounds,
                      "cpu_seconds": round(cpu, 1), "curve": run.evaluate()}))
    sys.stdout.flush()
    os._exit(0)  # gloo's threads may be waiting for a worker that has gone


if __name__ == "__main__":
    main()
