#!/usr/bin/env python3
"""What absent peers cost, and what their return does, with the real program: LeNet on MNIST.

    experiments/absent/measure.py [--ako BUILD/ako] [--rule NAME] [--seeds 1 2 3] [--only WORDS]
    experiments/absent/measure.py --only short # fewer epochs: what README.md has figures of
    experiments/absent/measure.py --table      # of the runs made so far; trains nothing

Peers are absent from the start, killed half-way, stopped (SIGSTOP) for a while, or cut off from the
others, who train on as they do. Every run is a line of results.jsonl; what is there is not run
again. `--rule` names the program that is measured; to measure another rule, give its build. Peers
are processes on loopback; those that are cut off are in the namespaces of `deploy/testbed`, which
needs root. Standard library only.
"""

import argparse
import json
import os
import pathlib
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent
sys.path.insert(0, str(HERE.parent))
import runs  # noqa: E402

CLUSTER = REPOSITORY / "experiments/mnist/cluster.yaml"
TESTBED, TESTBED_NAME = REPOSITORY / "deploy/testbed", "absent"
BATCH = 64
TARGETS = (0.98, 0.985)
PATIENCE_S = 1200
COMMON = [f"training.batch={BATCH}", "training.schedule={kind: cosine, warm_up: 0.02}",
          "training.nesterov=false", "training.evaluate=after", "exchange.start_wait_s=10",
          "exchange.leave_timeout_s=5"]
RATES = {"0.05": ["training.learning_rate=0.05", "training.momentum=0.9"],
         "0.1 Nesterov": ["training.learning_rate=0.1", "training.momentum=0.9",
                          "training.nesterov=true"]}
# name: peers of the file, epochs, what happens; of those apart from which round of peer a on, and
# for how many
SCENARIOS = {
    "8 of 8": (8, 3, None),
    "6 of 8 from the start": (8, 3, ("absent", 2)),
    "4 of 4": (4, 3, None),
    "2 of 4 from the start": (4, 3, ("absent", 2)),
    "2 of 4 killed half-way": (4, 3, ("killed", 2, 0.5)),
    "2 of 4 stopped from 25 to 50 %": (4, 3, ("stopped", 2, 0.25, 0.5)),
    "2 of 4 killed at 25, back at 50 %": (4, 3, ("restarted", 2, 0.25, 0.5)),
    "1 of 4 apart for 120 rounds": (4, 4, ("apart", 1, 200, 120)),
    "1 of 4 apart for 700 rounds": (4, 8, ("apart", 1, 200, 700)),
    "2 and 2 apart for 120 rounds": (4, 4, ("apart", 2, 200, 120)),
    "2 and 2 apart for 700 rounds": (4, 12, ("apart", 2, 200, 700)),
    "short: 8 of 8": (8, 1, None),
    "short: 6 of 6": (6, 1, None),  # what whole steps should come to
    "short: 4 of 4": (4, 1.5, None),
    "short: 6 of 8 from the start": (8, 1, ("absent", 2)),
    "short: 2 of 4 killed half-way": (4, 1.5, ("killed", 2, 0.5)),
    "short: 2 of 4 killed at 25, back at 50 %": (4, 1.5, ("restarted", 2, 0.25, 0.5)),
    "short: 2 and 2 apart for 550 rounds": (4, 3, ("apart", 2, 75, 550)),
}


class Cluster:
    """The processes of one run. Peers are a, b, c, ...; the last ones are those to whom it
    happens."""

    def __init__(self, arguments, peers, settings, folder, isolated):
        self.ako, self.folder, self.isolated = arguments.ako, folder, isolated
        self.names = [chr(ord("a") + k) for k in range(peers)]
        addresses = [f"10.99.0.{k + 1}:7701" for k in range(peers)] if isolated else loopback(peers)
        listed = ", ".join(f'{{name: {name}, address: "{address}"}}'
                           for name, address in zip(self.names, addresses))
        self.settings = [*settings, f"peers=[{listed}]"]
        self.processes = {}

    def start(self, name):
        words = [self.ako, "train", CLUSTER, "--peer", name, "--plain", "--output-dir", self.folder]
        for setting in self.settings:
            words += ["--set", setting]
        if self.isolated:
            words = [TESTBED, "--name", TESTBED_NAME, "exec", str(self.names.index(name) + 1),
                     "--", *words]
        with open(self.folder / f"said-{name}.txt", "ab") as said:
            self.processes[name] = subprocess.Popen(
                [str(word) for word in words], stdin=subprocess.DEVNULL, stdout=said, stderr=said)

    def send(self, names, what):
        for name in names:
            self.processes[name].send_signal(what)

    def newest(self, name="a"):
        """The last whole line of its metrics, or None."""
        try:
            text = (self.folder / f"metrics-{name}.jsonl").read_text()
        except FileNotFoundError:
            return None
        lines = text[:text.rfind("\n") + 1].splitlines()
        return json.loads(lines[-1]) if lines else None

    def wait_until(self, key, value):
        """Until peer a's metrics say so much."""
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            line = self.newest()
            if line and line[key] >= value:
                return line
            if self.processes["a"].poll() is not None:
                raise SystemExit(f"peer a ended: {(self.folder / 'said-a.txt').read_text()[-800:]}")
            time.sleep(0.05)
        raise SystemExit(f"no {key} of {value} in {PATIENCE_S} s")

    def cut(self, some, others, begin):
        for one, other in [(a, b) for a in some for b in others] + [
                (b, a) for a in some for b in others]:
            space = f"ako-{TESTBED_NAME}-{self.names.index(one) + 1}"
            subprocess.run(["nsenter", f"--net=/run/netns/{space}", "iptables",
                            "-A" if begin else "-D", "INPUT", "-s",
                            f"10.99.0.{self.names.index(other) + 1}", "-j", "DROP"], check=True)

    def end(self):
        """Waits for all, and leaves nobody behind."""
        deadline = time.monotonic() + PATIENCE_S
        for process in self.processes.values():
            try:
                process.wait(max(1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                pass
        for process in self.processes.values():
            if process.poll() is None:
                process.kill()
                process.wait()


def loopback(peers):
    sockets = [socket.socket() for _ in range(peers)]
    for sock in sockets:
        sock.bind(("127.0.0.1", 0))
    addresses = [f"127.0.0.1:{sock.getsockname()[1]}" for sock in sockets]
    for sock in sockets:
        sock.close()
    return addresses


def happen(cluster, event):
    """Starts the peers and does to them what the scenario says; the moments of peer a's clock."""
    what, count, *when = event or ("none", 0)
    victims = cluster.names[len(cluster.names) - count:]
    others = cluster.names[:len(cluster.names) - count]
    for name in others if what == "absent" else cluster.names:
        cluster.start(name)
    if what in ("none", "absent"):
        return None
    if what == "apart":
        begun = cluster.wait_until("round", when[0])
        cluster.cut(others, victims, True)
        met = cluster.wait_until("round", begun["round"] + when[1])
        cluster.cut(others, victims, False)
        return met
    cluster.wait_until("progress", when[0])
    cluster.send(victims, signal.SIGSTOP if what == "stopped" else signal.SIGKILL)
    if what == "killed":
        return None
    line = cluster.wait_until("progress", when[1])
    if what == "stopped":
        cluster.send(victims, signal.SIGCONT)
    else:
        for name in victims:
            cluster.processes[name].wait()
            cluster.start(name)
    return line


def losses(folder, name):
    """(unix time, mean training loss) of each line of its metrics."""
    try:
        lines = (folder / f"metrics-{name}.jsonl").read_text().splitlines()
    except FileNotFoundError:
        return []
    return [(line["time"], line["loss"]) for line in map(json.loads, lines)
            if line["phase"] == "training" and line["round"] > 0]


def rise(folder, names, met):
    """The largest mean loss of a second within 15 s after they met over the one before; both."""
    before, after = [], []
    for name in names:
        seen = losses(folder, name)
        before += [[loss for at, loss in seen if at <= met["time"]][-3:]]
        after += [loss for at, loss in seen if met["time"] < at <= met["time"] + 15]
    return (statistics.mean(statistics.mean(last) for last in before if last),
            max(after, default=None))


def run(arguments, scenario, rate, seed):
    peers, epochs, event = SCENARIOS[scenario]
    isolated = bool(event) and event[0] == "apart"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name) / "run"
        folder.mkdir()
        settings = [*COMMON, *RATES[rate], f"training.epochs={epochs}", f"seed={seed}",
                    f"training.evaluate_every={epochs / arguments.milestones}"]
        cluster = Cluster(arguments, peers, settings, folder, isolated)
        load = os.getloadavg()[0]
        if isolated:
            subprocess.run([TESTBED, "--name", TESTBED_NAME, "up", "--peers", str(peers),
                            "--rate", "1000mbit"], check=True)
        try:
            met = happen(cluster, event)
        finally:
            cluster.end()
            if isolated:
                subprocess.run([TESTBED, "--name", TESTBED_NAME, "down"], check=True)
        result = json.loads((folder / "result-a.json").read_text())
        found = {"accuracy": result["accuracy"], "loss": result["loss"],
                 "rounds": result["rounds"], "seconds": round(result["seconds"], 1),
                 "finished_with": result["finished_with"],
                 "exits": [p.returncode for p in cluster.processes.values()],
                 "load": round((load + os.getloadavg()[0]) / 2, 1), "cores": os.cpu_count()}
        for target in TARGETS:
            found[f"to_{target}"] = next(
                (p["round"] for p in result["curve"] if p["accuracy"] >= target), None)
        if met:
            found["loss_before"], found["loss_peak"] = rise(folder, cluster.names, met)
            found["met_at"] = met["round"]
            found["test_losses"] = [[p["round"], round(p["loss"], 4)] for p in result["curve"]
                                    if met["round"] - 150 <= p["round"] <= met["round"] + 400]
        return found


def texts(values, digits, factor=1):
    shown = [value for value in values if value is not None]
    if not shown:
        return "never"
    every = ", ".join("never" if v is None else f"{factor * v:.{digits}f}" for v in values)
    return f"{factor * statistics.mean(shown):.{digits}f} ({every})"


def table(made):
    print("| what | rate | rule | rounds of a | to 98 % | to 98.5 % | accuracy at the end, % | "
          "loss at the end | training loss before they met, and its peak |\n|" + "---|" * 9)
    for scenario in SCENARIOS:
        for rate in RATES:
            for rule in dict.fromkeys(line["rule"] for line in made.lines):
                chosen = made.of(scenario=scenario, rate=rate, rule=rule)
                if not chosen:
                    continue
                column = lambda key: [line.get(key) for line in chosen]
                met = "" if column("loss_peak")[0] is None else (
                    f"{texts(column('loss_before'), 3)}, {texts(column('loss_peak'), 3)}")
                print(f"| {scenario} | {rate} | {rule} | {statistics.mean(column('rounds')):.0f} | "
                      f"{texts(column('to_0.98'), 0)} | {texts(column('to_0.985'), 0)} | "
                      f"{texts(column('accuracy'), 2, 100)} | {texts(column('loss'), 4)} | {met} |")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ako", default=str(REPOSITORY / "build/release/ako"))
    parser.add_argument("--rule", default="scaled")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--rates", nargs="+", default=list(RATES), choices=list(RATES))
    parser.add_argument("--milestones", type=int, default=40,
                        help="how often each run is evaluated; with 2 it takes a third of the time")
    parser.add_argument("--only", default="", help="scenarios whose name has these words")
    parser.add_argument("--results", type=pathlib.Path, default=HERE / "results.jsonl")
    parser.add_argument("--table", action="store_true")
    arguments = parser.parse_args()
    made = runs.Runs(arguments.results)
    for scenario in [] if arguments.table else SCENARIOS:
        for rate in arguments.rates:
            for seed in arguments.seeds:
                key = {"rule": arguments.rule, "scenario": scenario, "rate": rate, "seed": seed}
                if arguments.only not in scenario or made.find(**key):
                    continue
                made.add({**key, **run(arguments, scenario, rate, seed)})
                print(json.dumps(made.lines[-1]), flush=True)
    table(made)


if __name__ == "__main__":
    main()
