#!/usr/bin/env python3
"""What Ako adds to the processor time of a round of PyTorch, on loopback: the same loop without it,
and as each of two peers. Runs of both kinds take turns; see README.md.

    python3 experiments/pytorch-cost/measure.py [--runs 5] [--model resnet|transformer]
"""

import argparse
import json
import os
import pathlib
import socket
import statistics
import subprocess
import sys
import tempfile
import time

import torch

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "pytorch-cifar"), str(HERE.parent / "pytorch-text")]

from resnet import ResNet20  # noqa: E402  (the path must be set before)
from transformer import Transformer  # noqa: E402

WARM_UP = 5  # rounds at the beginning that are not counted


def made(name):
    """A model, its optimizer, one batch and the loss of it."""
    torch.manual_seed(1)
    if name == "resnet":
        model = ResNet20()
        x, y = torch.randn(32, 3, 32, 32), torch.randint(10, (32,))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    else:
        model = Transformer(vocabulary=80)
        x, y = torch.randint(80, (8, 128)), torch.randint(80, (8, 128))
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)

    def loss():
        scores = model(x)
        return torch.nn.functional.cross_entropy(scores.flatten(0, -2), y.flatten())

    return model, optimizer, len(x), loss


def step(optimizer, loss):
    optimizer.zero_grad()
    value = loss()
    value.backward()
    optimizer.step()


def train(options):
    """Milliseconds of processor time of a round, all threads of the process, as JSON."""
    torch.set_num_threads(1)
    model, optimizer, batch, loss = made(options.model)
    spent = []
    if options.peer is None:
        for _ in range(WARM_UP + options.rounds):
            before = time.process_time()
            step(optimizer, loss)
            spent.append(time.process_time() - before)
    else:
        import ako
        with ako.join(options.file, options.peer, model, optimizer, samples=100 * batch,
                      samples_per_round=batch, view="none") as peer:
            before = None
            for _ in peer.rounds([torch.empty(batch)]):
                now = time.process_time()
                if before is not None:
                    spent.append(now - before)
                before = now
                step(optimizer, loss)
            peer.finish()
    print(json.dumps(1000 * statistics.mean(spent[WARM_UP:])))


def write_cluster(folder, rounds):
    peers = []
    sockets = [socket.socket() for _ in range(2)]
    for name, sock in zip("ab", sockets):
        sock.bind(("127.0.0.1", 0))
        peers.append(f"{{name: {name}, address: '127.0.0.1:{sock.getsockname()[1]}'}}")
    for sock in sockets:
        sock.close()
    path = os.path.join(folder, "cluster.yaml")
    epochs = 2 * (rounds + WARM_UP) / 100
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"run: cost\nmodel: external\ntraining: {{epochs: {epochs}}}\n"
                   f"output: {folder}/runs\npeers: [{', '.join(peers)}]\n")
    return path


def start(options, *words):
    return subprocess.Popen([sys.executable, __file__, "--model", options.model, "--rounds",
                             str(options.rounds), *words], stdout=subprocess.PIPE, text=True)


def measure(options):
    alone, peers = [], []
    for _ in range(options.runs):
        pair = [start(options, "--alone") for _ in range(2)]  # side by side, as the peers are
        alone += [json.loads(it.communicate()[0]) for it in pair]
        with tempfile.TemporaryDirectory() as folder:
            file = write_cluster(folder, options.rounds)
            pair = [start(options, "--peer", name, "--file", file) for name in "ab"]
            peers += [json.loads(it.communicate()[0]) for it in pair]
    without, with_it = statistics.median(alone), statistics.median(peers)
    print(f"{options.model}: {without:.1f} ms of processor time in a round without Ako "
          f"({min(alone):.1f} to {max(alone):.1f}), {with_it:.1f} with it ({min(peers):.1f} to "
          f"{max(peers):.1f}): {100 * (with_it / without - 1):+.1f} %; PyTorch {torch.__version__}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", choices=("resnet", "transformer"), default="resnet")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--alone", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--peer", help=argparse.SUPPRESS)
    parser.add_argument("--file", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.alone or options.peer:
        train(options)
    else:
        measure(options)


if __name__ == "__main__":
    main()
