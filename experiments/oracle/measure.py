#!/usr/bin/env python3
"""Steps of real runs: what `ako predict` is calibrated with, and what it is judged by.

    experiments/oracle/measure.py [--points 66] [--only calibration|held-out]
    experiments/oracle/measure.py --list     # what is to be run; measures nothing

Peers are processes in network namespaces (deploy/testbed) with shaped links and a share of a core
each. Calibration: every network with one machine alone, and with two at one rate in three modes.
Held out: cells drawn from a seed out of {networks} x {machines} x {rates} x {modes} x {shares}.
Every run is a line of steps.jsonl; what is there is not run again.

The step is the mean time of a round of the cluster: machines over all rounds per second.
Needs root and an idle machine. Standard library only.
"""

import argparse
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent
TESTBED = REPOSITORY / "deploy/testbed"
sys.path[:0] = [str(REPOSITORY / "tests/e2e"), str(HERE.parent)]
import runs  # noqa: E402
from own_data import read_idx, write_npy  # noqa: E402

NAME = "oracle"
NETWORKS = {"lenet": 32, "cifar-quick": 32, "resnet20": 8}  # samples of a round
MACHINES = (1, 2, 3, 4, 6, 8)
RATES = (20, 50, 100, 300, 1000)  # Mbit/s
MODES = {
    "ako": ["exchange.mode=ako"],
    "ring": ["exchange.mode=ring"],
    "butterfly": ["exchange.mode=ring", "exchange.all_reduce=butterfly"],
    "server": ["exchange.mode=parameter-server", "exchange.servers=1"],
    "servers": ["exchange.mode=parameter-server"],  # as many as machines
    "local-sgd": ["exchange.mode=local-sgd", "exchange.local_rounds=4"],
    "sma": ["exchange.mode=sma"],
}
LOCAL = ["exchange.mode=local"]
SHARE = 0.2  # of a core, each machine
UNEQUAL = (0.4, 0.1)  # all others, and the last: the least that a group of the testbed may have
UNEQUAL_MACHINES_MAX = 4  # so that this machine has as much
EQUAL, QUARTER = "equal", "one at a quarter"
ALONE = {"0.1": [0.1], "0.4": [0.4]}  # the other shares, as each machine is profiled
PERIOD_MS = 10  # after which a share is there again, in the testbed
CALIBRATION_RATE = 300
CALIBRATION_MODES = ("ring", "ako", "servers")
NOT_KEPT = ("role", "restarts", "losses_not_finite", "digest", "lost_peers", "exit", "why")
CALIBRATIONS = ("calibration", "calibration 2", "calibration 3")  # one run each
# By seed: beside the first the model was mended, the second nobody had seen then.
HELD_OUT = {1: "held-out", 2: "held-out 2"}
# Settings in which every mode runs of which `exchange.mode: auto` may choose one.
CHOICE, CHOICE_SEED, CHOICE_SETTINGS = "choice", 4, 20
CHOICE_MODES = ("ako", "ring", "butterfly", "server", "servers")
# Samples of all machines together, which are divided, and where more of these then stop paying.
PEAK = "peak"
PEAK_BATCHES = {"lenet": 48, "cifar-quick": 48, "resnet20": 24}
PEAKS = (("lenet", 1000, "server"), ("cifar-quick", 100, "server"), ("resnet20", 100, "server"))
RUN_S = 10
ROUNDS_MIN, ROUNDS_MAX = 24, 480
LOCAL_ROUNDS = 4
SAMPLES, TEST_SAMPLES = 8_000, 64  # the model's accuracy is not the question
# To choose how many rounds fill RUN_S; nothing is judged by it.
GUESS_GRADIENT_S = {"lenet": 0.0134, "cifar-quick": 0.050, "resnet20": 0.056}
GUESS_BYTES = {"lenet": 1.73e6, "cifar-quick": 0.58e6, "resnet20": 1.08e6}


def make_data(folder, images, labels, shape):
    """The first of these as a data set with few test samples."""
    size = 1
    for extent in shape:
        size *= extent
    for part, first, count in (("train", 0, SAMPLES), ("test", SAMPLES, TEST_SAMPLES)):
        write_npy(folder / f"{part}_images.npy", (count, *shape),
                  images[first * size:(first + count) * size])
        write_npy(folder / f"{part}_labels.npy", (count,), labels[first:first + count])


def mnist(folder):
    source = REPOSITORY / "experiments/mnist/data"
    make_data(folder, read_idx(source / "train-images-idx3-ubyte.gz", 16),
              read_idx(source / "train-labels-idx1-ubyte.gz", 8), (28, 28))


def cifar(folder):
    """Noise in the shape of CIFAR-10, which is not in the repository: how long a step takes does
    not depend on what the images show."""
    noise = random.Random(1)
    count = SAMPLES + TEST_SAMPLES
    make_data(folder, noise.randbytes(count * 32 * 32 * 3),
              bytes(noise.randrange(10) for _ in range(count)), (32, 32, 3))


def make_all_data(folder):
    """{network: the folder of its data, below this one}."""
    data = {}
    for network, make in (("lenet", mnist), ("cifar-quick", cifar)):
        data[network] = folder / f"data-{network}"
        data[network].mkdir()
        make(data[network])
    data["resnet20"] = data["cifar-quick"]
    return data


def cells(points, seed):
    """Calibration, then held out: (kind, network, machines, rate, mode, shares)."""
    calibration = []
    for kind in CALIBRATIONS:
        calibration += [(kind, network, 1, CALIBRATION_RATE, "local", share)
                        for network in NETWORKS for share in (EQUAL, *ALONE)]
        calibration += [(kind, network, 2, CALIBRATION_RATE, mode, EQUAL)
                        for network in NETWORKS for mode in CALIBRATION_MODES]
    used = {cell[1:] for cell in calibration}
    draw = random.Random(seed)
    held_out = []
    while len(held_out) < points:
        machines = draw.choice(MACHINES[1:])
        cell = (draw.choice(list(NETWORKS)), machines, draw.choice(RATES),
                draw.choice(list(MODES)),
                draw.choice((EQUAL, QUARTER)) if machines <= UNEQUAL_MACHINES_MAX else EQUAL)
        if cell not in used:
            used.add(cell)
            held_out.append((HELD_OUT[seed], *cell))
    return calibration + held_out


def choice_settings():
    """(network, machines, rate, shares), drawn from a seed of their own."""
    draw = random.Random(CHOICE_SEED)
    settings = []
    while len(settings) < CHOICE_SETTINGS:
        machines = draw.choice(MACHINES[1:])
        one = (draw.choice(list(NETWORKS)), machines, draw.choice(RATES),
               draw.choice((EQUAL, QUARTER)) if machines <= UNEQUAL_MACHINES_MAX else EQUAL)
        if one not in settings:
            settings.append(one)
    return settings


def extra_cells():
    """Of the choice, and of the peaks."""
    choice = [(CHOICE, network, machines, rate, mode, share)
              for network, machines, rate, share in choice_settings() for mode in CHOICE_MODES]
    peaks = [(PEAK, network, machines, rate, mode if machines > 1 else "local", EQUAL)
             for network, rate, mode in PEAKS for machines in MACHINES]
    return choice + peaks


def batch_of(cell):
    kind, network, machines, *_ = cell
    return PEAK_BATCHES[network] // machines if kind == PEAK else NETWORKS[network]


def shares(cell):
    _, _, machines, _, _, kind = cell
    if kind in ALONE:
        return ALONE[kind]
    if kind == EQUAL:
        return [SHARE] * machines
    return [UNEQUAL[0]] * (machines - 1) + [UNEQUAL[1]]


def rounds_of(cell):
    _, network, machines, rate, mode, kind = cell
    compute = GUESS_GRADIENT_S[network] / min(shares(cell)) * batch_of(cell) / NETWORKS[network]
    sent = 0 if mode in ("local", "ako") else 2 * GUESS_BYTES[network] * (machines - 1) / machines
    if mode == "server":
        sent = GUESS_BYTES[network] * (machines - 1)
    if mode == "local-sgd":
        sent /= LOCAL_ROUNDS
    guess = max(compute, sent * 8 / (rate * 1e6))
    rounds = max(ROUNDS_MIN, min(ROUNDS_MAX, int(RUN_S / guess)))
    return rounds // LOCAL_ROUNDS * LOCAL_ROUNDS


def settings_of(cell, data):
    _, network, machines, _, mode, _ = cell
    batch = batch_of(cell)
    peers = ", ".join(f'{{name: {name}, address: "10.99.0.{k + 1}:7701"}}'
                      for k, name in enumerate("abcdefgh"[:machines]))
    settings = [f"model={network}", f"peers=[{peers}]", "data.format=npy", f"data.path={data}",
                f"training.batch={batch}", "training.learning_rate=0.01",
                "training.must_learn=false", "training.growth_max=0",
                f"training.epochs={rounds_of(cell) * machines * batch / SAMPLES}",
                "training.evaluate_every=0", "exchange.start_wait_s=120",
                *(LOCAL if mode == "local" else MODES[mode])]
    if mode == "servers":
        settings.append(f"exchange.servers={machines}")
    return settings


def figures(run, name):
    """Of one peer: its rounds from the beginning of the first to the end of the last."""
    result = json.loads((run / f"result-{name}.json").read_text())
    lines = [json.loads(line) for line in (run / f"metrics-{name}.jsonl").read_text().splitlines()]
    return {"rounds": result["rounds"], "round_s": result["train_seconds"] / result["rounds"],
            "cpu_s": result["cpu_ms_per_round"] / 1e3,
            "egress_bytes": result["egress_bytes_per_round"],
            "ingress_bytes": result["ingress_bytes_per_round"],
            "memory_bytes": max(line["memory_bytes"] for line in lines),
            "partitions": result["partitions"]}


def calibration_name(cell):
    kind, network, machines, _, mode, share = cell
    return f"{network}-{machines}-{mode}-{share}-{CALIBRATIONS.index(kind)}"


def keep(run, folder):
    """What `ako predict` reads of a run."""
    folder.mkdir(parents=True, exist_ok=True)
    summary = json.loads((run / "summary.json").read_text())
    peers = [{key: value for key, value in peer.items() if key not in NOT_KEPT}
             for peer in summary["peers"]]
    (folder / "summary.json").write_text(json.dumps({"peers": peers}, indent=1) + "\n")
    config = re.sub(r"(path|output): .*", r"\1: data", (run / "config.yaml").read_text())
    (folder / "config.yaml").write_text(config)


def profile(ako, network, data, series):
    """Measures this machine for the network, unless the series has that already."""
    folder = series / "profiles" / network
    if folder.is_dir():
        return
    words = [ako, "profile", HERE / "cluster.yaml", "-o", folder, "--name", "machine"]
    for setting in (f"model={network}", f"data.path={data}", "data.format=npy",
                    f"training.batch={NETWORKS[network]}"):
        words += ["--set", setting]
    subprocess.run([str(word) for word in words], check=True)


def measure(ako, cell, data, rate_now, series):
    kind, network, machines, rate, mode, share = cell
    wanted = (machines, rate, share)
    if rate_now != wanted:
        subprocess.run([TESTBED, "--name", NAME, "up", "--peers", str(machines), "--rate",
                        f"{rate}mbit", "--cpus", ",".join(map(str, shares(cell)))], check=True)
    with tempfile.TemporaryDirectory() as folder:
        done = runs.launch(ako, HERE / "cluster.yaml", settings_of(cell, data), "--output-dir",
                           pathlib.Path(folder) / "run", "--in",
                           f"{TESTBED} --name {NAME} exec {{number}} --")
        if done.returncode not in (0, 4):
            raise SystemExit(f"{cell}: exit {done.returncode}\n{done.stdout}")
        if kind in CALIBRATIONS:
            keep(pathlib.Path(folder) / "run",
                 series / "calibration" / calibration_name(cell))
        peers = [figures(pathlib.Path(folder) / "run", name) for name in "abcdefgh"[:machines]]
    line = {"kind": kind, "network": network, "machines": machines, "rate": rate, "mode": mode,
            "shares": share, "batch": batch_of(cell), "peers": peers,
            "step_s": machines / sum(1 / peer["round_s"] for peer in peers)}
    return line, wanted


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ako", default=str(REPOSITORY / "build/release/ako"))
    parser.add_argument("--points", type=int, default=66)
    parser.add_argument("--seed", type=int, default=1, choices=HELD_OUT)
    parser.add_argument("--only", help="cells of this kind alone, such as held-out, choice or peak")
    parser.add_argument("--series", type=pathlib.Path, default=HERE,
                        help="where profiles, calibration and steps lie; a machine that has become "
                        "faster or slower wants one of its own")
    parser.add_argument("--list", action="store_true")
    arguments = parser.parse_args()
    made = runs.Runs(arguments.series / "steps.jsonl")
    to_do = [cell for cell in cells(arguments.points, arguments.seed) + extra_cells()
             if arguments.only in (None, cell[0])]
    keys = ("kind", "network", "machines", "rate", "mode", "shares")
    to_do = [cell for cell in to_do if not made.find(**dict(zip(keys, cell)))]
    random.Random(arguments.seed).shuffle(to_do)  # machines grow slower and faster over minutes
    # What is held against each other is run one after the other.
    settings = choice_settings()
    to_do.sort(key=lambda cell: settings.index((*cell[1:4], cell[5])) if cell[0] == CHOICE else -1)
    if arguments.list:
        print("\n".join(f"{cell} {rounds_of(cell)}" for cell in to_do))
        return
    rate_now = None
    with tempfile.TemporaryDirectory() as folder:
        data = make_all_data(pathlib.Path(folder))
        for network in NETWORKS:
            profile(arguments.ako, network, data[network], arguments.series)
        try:
            for cell in to_do:
                line, rate_now = measure(arguments.ako, cell, data[cell[1]], rate_now,
                                         arguments.series)
                made.add(line)
                print(cell, f"{line['step_s'] * 1000:.1f} ms", flush=True)
        finally:
            subprocess.run([TESTBED, "--name", NAME, "down"], check=False)


if __name__ == "__main__":
    main()
