"""The methods that experiments on shaped links compare, each as one worker's training loop: Ako,
and what PyTorch has: DistributedDataParallel (with its fp16 hook, too), local SGD after a warm-up,
DiLoCo. All get the same time. Worker 0 keeps the parameters at marks of it, and evaluates them when
all is over: into a file, of which `--judge` makes a curve, for a worker has half a core.
"""

import argparse
import json
import math
import os
import signal
import sys
import time

import torch
import torch.distributed as dist

MARKS = 8
OUTER_RATE, OUTER_MOMENTUM = 0.7, 0.9  # of DiLoCo (Douillard et al., 2023)
POST_LOCAL_SHARE = 0.1  # of the time, before local SGD begins (Lin et al., 2020)


class Run:
    """A model, its optimizer and batches: an experiment derives from it, and sets these."""

    model: torch.nn.Module
    optimizer: torch.optim.Optimizer
    batches: object  # iterable: (x, y) without an end
    rate: float      # the highest of the schedule
    warm_up: float   # share of the time

    def __init__(self, options):
        self.options = options
        self.began = None
        self.kept = []  # (seconds, state)
        self.rounds = 0
        torch.set_num_threads(1)
        torch.manual_seed(options.seed)

    def loss(self, model, x, y):
        raise NotImplementedError

    def judge(self):
        """Of the model as it is: the figures of the curve, the one that is drawn first."""
        raise NotImplementedError

    def clip(self):
        """Between the backward pass and the step."""

    def seconds(self):
        return time.monotonic() - self.began

    def share(self):
        return min(1.0, self.seconds() / self.options.seconds)

    def over(self):
        return self.share() >= 1

    def step(self, model, x, y):
        """Forward, backward and the optimizer's step, at the rate that this moment has."""
        if self.began is None:
            self.began = time.monotonic()
        share = self.share()
        if share >= self.options.dies_at:
            os.kill(os.getpid(), signal.SIGKILL)
        rate = min(share / self.warm_up, 1) * 0.5 * (1 + math.cos(math.pi * share))
        for group in self.optimizer.param_groups:
            group["lr"] = self.rate * max(rate, 0.01)
        self.optimizer.zero_grad()
        loss = self.loss(model, x, y)
        loss.backward()
        self.clip()
        self.optimizer.step()
        self.rounds += 1
        return loss.detach()

    def mark_passed(self):
        return self.options.worker == 0 and self.share() >= (len(self.kept) + 1) / MARKS

    def state(self):
        """All tensors of the model, those that a state_dict leaves out too."""
        return dict([*self.model.named_parameters(), *self.model.named_buffers()])

    def keep(self):
        state = {name: value.detach().clone() for name, value in self.state().items()}
        self.kept.append((self.seconds(), state))

    def curve(self, kept):
        points = []
        for seconds, state in kept:
            self.model.eval()
            with torch.no_grad():
                for name, value in self.state().items():
                    value.copy_(state[name])
                points.append([round(seconds, 1), *(round(it, 4) for it in self.judge())])
        return points


class OuterStep:
    """Around an optimizer: what `steps` of its steps come to is a gradient, which SGD with
    Nesterov's momentum follows from where they began, as in DiLoCo."""

    def __init__(self, optimizer, steps, rate, momentum):
        self.inner, self.steps, self.rate, self.momentum = optimizer, steps, rate, momentum
        self.values = [it for group in optimizer.param_groups for it in group["params"]]
        self.velocity = [torch.zeros_like(it) for it in self.values]
        self.made = 0

    @property
    def param_groups(self):
        return self.inner.param_groups

    def zero_grad(self):
        self.inner.zero_grad()

    def step(self):
        if self.made % self.steps == 0:
            self.before = [it.detach().clone() for it in self.values]
        self.inner.step()
        self.made += 1
        if self.made % self.steps > 0:
            return
        with torch.no_grad():
            for value, old, velocity in zip(self.values, self.before, self.velocity):
                moved = value - old
                velocity.mul_(self.momentum).add_(moved)
                value.copy_(old + self.rate * (moved + self.momentum * velocity))


def ako_peer(run, options):
    import ako
    name = "abcdefgh"[options.worker]
    if options.method == "ako-outer":
        run.optimizer = OuterStep(run.optimizer, options.steps, *options.outer)
    with ako.join(options.file, name, run.model, run.optimizer, samples=10**9,
                  local_steps=options.steps, set=options.set) as peer:
        for x, y in peer.rounds(run.batches):
            peer.loss(run.step(run.model, x, y))
            if run.mark_passed():
                with peer.anchor():
                    run.keep()
            if options.worker == 0 and run.over():
                peer.stop()
        peer.finish()
    if options.worker == 0:
        run.keep()


def meet(options):
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "eth0")
    dist.init_process_group("gloo", init_method=f"tcp://{options.master}:29500",
                            rank=options.worker, world_size=options.workers)
    dist.barrier()


def first_says(*answers):
    """What worker 0 says of each: clocks differ, and all must do the same."""
    flags = torch.tensor([1.0 if answer else 0.0 for answer in answers])
    dist.broadcast(flags, 0)
    return [flag > 0 for flag in flags.tolist()]


def all_stop(over):
    """Everybody stops when worker 0 does."""
    return first_says(over)[0]


def ddp(run, options):
    from torch.nn.parallel import DistributedDataParallel
    meet(options)
    model = DistributedDataParallel(run.model)
    if options.method == "ddp-fp16":
        from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import fp16_compress_hook
        model.register_comm_hook(None, fp16_compress_hook)
    for x, y in run.batches:
        run.step(model, x, y)
        if run.mark_passed():
            run.keep()
        if all_stop(run.over()):
            break


def mean_of_all(values, workers):
    """Every tensor of `values` becomes the mean over the workers."""
    flat = torch.cat([value.detach().flatten() for value in values])
    dist.all_reduce(flat)
    at = 0
    with torch.no_grad():
        for value in values:
            value.copy_(flat[at:at + value.numel()].view_as(value) / workers)
            at += value.numel()


def state_of(model):
    """What is averaged: parameters, and buffers that are numbers."""
    return [*model.parameters(), *(it for it in model.buffers() if it.dtype == torch.float32)]


def post_local(run, options):
    """Post-local SGD: as DDP at first, then steps of one's own between averagings."""
    from torch.nn.parallel import DistributedDataParallel
    meet(options)
    model = DistributedDataParallel(run.model)
    local = False
    for x, y in run.batches:
        run.step(run.model if local else model, x, y)
        if local and run.rounds % options.steps > 0:
            continue
        if local:
            mean_of_all(state_of(run.model), options.workers)
        if run.mark_passed():
            run.keep()
        over, local = first_says(run.over(), run.share() > POST_LOCAL_SHARE)
        if over:
            break


def diloco(run, options):
    """Steps of one's own, then the mean of all changes as the gradient of an outer optimizer."""
    meet(options)
    parameters = list(run.model.parameters())
    before = [value.detach().clone() for value in parameters]
    outer = torch.optim.SGD(before, lr=OUTER_RATE, momentum=OUTER_MOMENTUM, nesterov=True)
    for x, y in run.batches:
        run.step(run.model, x, y)
        if run.rounds % options.steps > 0:
            continue
        for old, new in zip(before, parameters):
            old.grad = old - new.detach()
        mean_of_all([old.grad for old in before], options.workers)
        outer.step()
        with torch.no_grad():
            for old, new in zip(before, parameters):
                new.copy_(old)
        if run.mark_passed():
            run.keep()
        if all_stop(run.over()):
            break


def alone(run, options):
    """One process with the batches of all."""
    for x, y in run.batches:
        run.step(run.model, x, y)
        if run.mark_passed():
            run.keep()
        if run.over():
            break


METHODS = {"ako": ako_peer, "ako-outer": ako_peer, "ddp": ddp, "ddp-fp16": ddp, "diloco": diloco,
           "post-local": post_local, "alone": alone}


def main(make_run):
    parser = argparse.ArgumentParser()
    parser.add_argument("--method", choices=METHODS, default="alone")
    parser.add_argument("--worker", type=int, default=0)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--steps", type=int, default=1, help="local steps of a round")
    parser.add_argument("--file", help="the cluster file of ako")
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--master", help="the address of worker 0")
    parser.add_argument("--outer", type=float, nargs=2, default=[OUTER_RATE, OUTER_MOMENTUM],
                        help="rate and momentum of ako-outer")
    parser.add_argument("--variant", help="of the experiment, see its train.py")
    parser.add_argument("--seed", type=int, default=1, help="of the model and the batches")
    parser.add_argument("--dies-at", type=float, default=math.inf, help="share of the time")
    parser.add_argument("--states", help="where worker 0 writes what it kept")
    parser.add_argument("--judge", metavar="STATES", help="print the curve of these, and end")
    options = parser.parse_args()
    run = make_run(options)
    if options.judge:
        torch.set_num_threads(os.cpu_count())
        return print(json.dumps(run.curve(torch.load(options.judge))))
    error = None
    try:
        METHODS[options.method](run, options)
    except RuntimeError as failure:  # a worker that has gone, as gloo says it
        error = f"after {run.seconds():.1f} s: {str(failure).splitlines()[0][:200]}"
    late = not run.kept or run.seconds() - run.kept[-1][0] > 1
    if options.worker == 0 and late and not options.method.startswith("ako"):
        run.keep()
    if options.states:
        torch.save(run.kept, options.states)
    cpu = time.process_time()
    print(json.dumps({"method": options.method, "worker": options.worker, "rounds": run.rounds,
                      "cpu_seconds": round(cpu, 1), "error": error}))
    sys.stdout.flush()
    os._exit(0)  # gloo's threads may be waiting for a worker that has gone
