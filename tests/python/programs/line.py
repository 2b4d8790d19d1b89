"""One peer that fits a line with NumPy: line.py FILE PEER [--epochs ..] prints one line of JSON."""

import argparse
import json
import os
import signal
import sys
import time

import numpy as np

import ako

SAMPLES, BATCH, RATE = 3000, 20, 0.05
SLOPE, OFFSET = np.array([1.5, -2.0, 0.5], dtype=np.float32), 0.75


def batches(indices):
    """Of this peer's share, one pass."""
    random = np.random.default_rng(5)
    x = random.standard_normal((SAMPLES, 3), dtype=np.float32)
    y = x @ SLOPE + np.float32(OFFSET)
    share = [next(indices) for _ in range(SAMPLES // 3)]
    return [(x[share[k:k + BATCH]], y[share[k:k + BATCH]]) for k in range(0, len(share), BATCH)]


def distance(slope, offset):
    """The largest error of a parameter."""
    return max(float(np.abs(slope - SLOPE).max()), abs(float(offset) - OFFSET))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("peer")
    parser.add_argument("--epochs", type=float, default=3)
    parser.add_argument("--sleep", type=float, default=0, help="seconds a round takes")
    parser.add_argument("--fail-at", type=int, help="raise an exception in this round")
    parser.add_argument("--explode-at", type=int, help="a parameter is far off in this round")
    parser.add_argument("--no-loss-from", type=int, help="the loss is no number from there on")
    parser.add_argument("--break-at", type=int, help="leave the loop in this round")
    parser.add_argument("--anchor-at", type=int, help="look at the anchor in this round")
    parser.add_argument("--set", action="append", default=[], help="of the cluster file")
    parser.add_argument("--stop-at", type=int, help="have all stop in this round")
    parser.add_argument("--die-at", type=int, help="kill this process in this round")
    parser.add_argument("--samples", type=int, help="the size of the data set, as it is said")
    parser.add_argument("--data-digest", help="what it says of its data")
    parser.add_argument("--extra", action="store_true", help="the model has another array")
    parser.add_argument("--start", type=float, default=0, help="what the parameters begin with")
    parser.add_argument("--initial", default="same", help="see ako.join")
    arguments = parser.parse_args()
    model = {"slope": np.full(3, arguments.start, dtype=np.float32),
             "offset": np.full((), arguments.start, dtype=np.float32)}
    if arguments.extra:
        model["more"] = np.zeros(2, dtype=np.float32)
    with ako.join(arguments.file, arguments.peer, model,
                  samples=arguments.samples, initial=arguments.initial,
                  data_digest=arguments.data_digest,
                  set=[f"training.epochs={arguments.epochs}", *arguments.set]) as peer:
        loader = batches(iter(peer.sampler(range(SAMPLES))))
        slope, offset = peer.parameters["slope"], peer.parameters["offset"]
        for made, (x, y) in enumerate(peer.rounds(loader)):
            error = x @ slope + offset - y
            slope -= RATE * 2 * x.T @ error / len(y)
            offset -= np.float32(RATE * 2 * error.mean())
            if made == arguments.explode_at:
                slope[1] += 1e6
            is_lost = arguments.no_loss_from is not None and made >= arguments.no_loss_from
            peer.loss(float("nan") if is_lost else float((error ** 2).mean()))
            if made == 0:
                print("began", file=sys.stderr, flush=True)
            if made == arguments.fail_at:
                raise ZeroDivisionError("of the program")
            if made == arguments.anchor_at:
                with peer.anchor():
                    peer.announce(0.5, distance(slope, offset))
            if made == arguments.stop_at:
                peer.stop()
            if made == arguments.break_at:
                break
            if made == arguments.die_at:
                os.kill(os.getpid(), signal.SIGKILL)
            time.sleep(arguments.sleep)
        evaluated = []

        def evaluate():
            evaluated.append(distance(slope, offset))
            return 1.0, evaluated[-1]

        report = peer.finish(evaluate)
    print(json.dumps({**report.json, "final_loss": distance(slope, offset),
                      "evaluated": len(evaluated)}))


main()
