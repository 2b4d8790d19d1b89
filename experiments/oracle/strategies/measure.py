#!/usr/bin/env python3
"""Steps of the strategies in the testbed: what src/predict/strategies.h is judged by.

    measure.py --check              # every strategy makes the losses of one process; some minutes
    measure.py [--rates 20,100,500] [--cpus 0.4]   # calibration.json, then results.jsonl; an hour
    measure.py --list               # what is to be measured

Calibrated with one machine (what layers take, whole and in parts) and two (what a message and a
byte take); then each strategy trains each network with 2 and 4 machines at each rate. What is in
the files is not measured again. --check needs PyTorch alone and runs on loopback; the rest needs
root, and an idle machine with as many cores as --cpus of four machines take. Exit 1: a loss
differs.
"""

import argparse
import json
import pathlib
import socket
import subprocess
import sys
import tempfile

from predicted import HERE, REPOSITORY, Predictor

sys.path.insert(0, str(HERE.parents[1]))
import runs  # noqa: E402

TESTBED = REPOSITORY / "deploy/testbed"
NAME = "strategies"
NETWORKS = {"lenet": 10, "cifar-quick": 12}  # and their layers
STRATEGIES = ("data", "spatial", "filter", "channel", "pipeline")
HYBRIDS = ("data+filter", "data+spatial")  # which two machines are too few for
MACHINES = (2, 4)
GROUP = 2
LARGEST_DIFFERENCE = 1e-4
LEARNT = 0.1  # by which a loss has to fall, or else it says nothing to be alike
# At 0.05 cifar-quick's loss jumps to 16, and what differs by rounding ends elsewhere.
LEARNING_RATE = 0.01
PORT = 7790
WORKER_S = 1800


def strategies_of(machines):
    return STRATEGIES + (HYBRIDS if machines > GROUP else ())


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


class Machines:
    """Workers on loopback, or each in its namespace of the testbed."""

    def __init__(self, python, in_testbed):
        self.python, self.in_testbed = python, in_testbed

    def up(self, machines, rate, cpus):
        subprocess.run([TESTBED, "--name", NAME, "up", "--peers", str(machines), "--rate", rate,
                        "--cpus", str(cpus)], check=True)

    def down(self):
        subprocess.run([TESTBED, "--name", NAME, "down"], check=False)

    def run(self, task, machines, told):
        """The lines that machine 0 printed."""
        place = {"master": "10.99.0.1", "port": PORT, "interface": "eth0"} if self.in_testbed \
            else {"master": "127.0.0.1", "port": free_port(), "interface": "lo"}
        running = []
        try:
            for number in range(machines):
                words = [TESTBED, "--name", NAME, "exec", str(number + 1), "--"] \
                    if self.in_testbed else []
                whole = {**told, **place, "task": task, "machines": machines, "number": number}
                running.append(subprocess.Popen(
                    [*words, self.python, HERE / "worker.py", json.dumps(whole)],
                    stdout=subprocess.PIPE, text=True))
            said = [process.communicate(timeout=WORKER_S)[0] for process in running]
        finally:
            for process in running:
                process.kill()
        if any(process.returncode != 0 for process in running):
            raise SystemExit(f"{task}: a machine of {machines} failed, see above")
        return [json.loads(line) for line in said[0].splitlines()]


def even_stages(layers, machines):
    return [k * layers // machines for k in range(machines)]


def told_of(network, arguments, stages=()):
    return {"network": network, "batch": arguments.batch, "learning_rate": LEARNING_RATE, "seed": 1,
            "group": GROUP, "segments": arguments.segments, "stages": list(stages),
            "probe_batch": arguments.batch // 4, "seconds": arguments.seconds}


def check(machines_of, arguments):
    worst = 0.0
    for network in NETWORKS:
        for machines in MACHINES:
            told = told_of(network, arguments, even_stages(NETWORKS[network], machines))
            told.update(batch=arguments.check_batch, strategies=strategies_of(machines))
            alone, *others = machines_of.run("losses", machines, told)
            fell = alone["losses"][0] - alone["losses"][-1]
            print(f"{network}, {machines} machines: the loss of one process fell by {fell:.3f}")
            if fell < LEARNT:
                raise SystemExit("that is too little to tell whether others are alike")
            for one in others:
                differs = max(abs(a - b) for a, b in zip(alone["losses"], one["losses"]))
                worst = max(worst, differs)
                print(f"  {one['strategy']:13} differs by {differs:.1e} at most", flush=True)
    print(f"{worst:.1e} at most; {LARGEST_DIFFERENCE:.0e} may be")
    return 0 if worst <= LARGEST_DIFFERENCE else 1


def calibrated(machines_of, arguments):
    """calibration.json, made where it is not there or is of another batch or share."""
    path = arguments.out / "calibration.json"
    wanted = {"batch": arguments.batch, "cpus": arguments.cpus}
    if path.exists():
        found = json.loads(path.read_text())
        if {key: found[key] for key in wanted} == wanted:
            return found
    machines_of.up(2, "none", arguments.cpus)
    made = {**wanted, "exchange": machines_of.run("exchange", 2, told_of("lenet", arguments))[0],
            "profiles": {network: machines_of.run("profile", 1, told_of(network, arguments))[0]
                         for network in NETWORKS}}
    path.write_text(json.dumps(made, indent=1) + "\n")
    return made


def settings(arguments):
    return [{"machines": machines, "rate": rate, "network": network, "cpus": arguments.cpus,
             "batch": arguments.batch, "segments": arguments.segments, "group": GROUP}
            for machines in MACHINES for rate in arguments.rates for network in NETWORKS]


def measure(machines_of, arguments, made, to_do):
    calibration = calibrated(machines_of, arguments)
    shaped = None
    with tempfile.TemporaryDirectory() as folder:
        predictor = Predictor(folder)
        for point, strategies in to_do:
            if shaped != (point["machines"], point["rate"]):
                shaped = point["machines"], point["rate"]
                machines_of.up(point["machines"], f"{point['rate']:g}mbit", arguments.cpus)
            answers = predictor.answers(calibration, {**point, "group": 0})
            told = told_of(point["network"], arguments, answers["pipeline"]["stages"])
            told["strategies"] = strategies
            for line in machines_of.run("steps", point["machines"], told):
                made.add({**point, "stages": told["stages"], **line})
                print(*(point[key] for key in ("network", "machines", "rate")), line["strategy"],
                      f"{line['step_s'] * 1e3:.1f} ms", flush=True)


def numbers(text):
    return [float(word) for word in text.split(",")]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--python", default=sys.executable, help="one that has PyTorch")
    parser.add_argument("--rates", type=numbers, default=[20.0, 100.0, 500.0], help="Mbit/s")
    parser.add_argument("--cpus", type=float, default=0.4, help="of a core, each machine")
    parser.add_argument("--batch", type=int, default=128, help="samples, of all machines together")
    parser.add_argument("--check-batch", type=int, default=32)
    parser.add_argument("--segments", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=10, help="of each strategy's steps")
    parser.add_argument("--out", type=pathlib.Path, default=HERE)
    arguments = parser.parse_args()
    if arguments.check:
        sys.exit(check(Machines(arguments.python, False), arguments))
    made = runs.Runs(arguments.out / "results.jsonl")
    to_do = []
    for point in settings(arguments):
        missing = [strategy for strategy in strategies_of(point["machines"])
                   if not made.find(**point, strategy=strategy)]
        if missing:
            to_do.append((point, missing))
    if arguments.list:
        for point, missing in to_do:
            print(point, *missing)
        return
    machines_of = Machines(arguments.python, True)
    try:
        measure(machines_of, arguments, made, to_do)
    finally:
        machines_of.down()


if __name__ == "__main__":
    main()
