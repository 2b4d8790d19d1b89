"""What Ako costs, beside what it cannot do without: limit, ours, ratio, goal, one line for each.

    deploy/bench [--runs 3] [--seconds 12] [--rates 20 200 1000] [--eight] [--only PART]..
                 [--python VENV/bin/python]

Parts: kernels (a network's gradient beside its matrix products alone), threads (two beside one, by
the clock: two idle cores), pytorch (beside PyTorch, of which `--python` is an interpreter), link
(one TCP link beside a plain loop), rows (what a round of the exchange does to memory, beside plain
passes over the same), rounds (rounds of Ako beside rounds that exchange nothing, at a quarter of a
core, on shaped links). `rounds` needs root and network namespaces and says `skipped: why` without.
Limit and ours are measured in turn, in the same run; a figure is the median of the runs. It builds
what it runs.

Under 15 minutes on 2 cores; what else runs on the machine disturbs it. It judges nothing: a goal
that is missed is marked with `-`, and the exit status is 0 unless something could not be run.
"""

import argparse
import dataclasses
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
BUILD = REPOSITORY / "build" / "release"
PROGRAMS = BUILD / "tests" / "bench"
PARTS = ("kernels", "threads", "pytorch", "link", "rows", "rounds")
PYTORCH_SCRIPT = REPOSITORY / "experiments/throughput/pytorch_networks.py"
ENVIRONMENT = {name: value for name, value in os.environ.items()
               if not name.startswith(("OMP_", "OPENBLAS_", "MKL_"))}
SKIPPED = 77
CPUS = 0.25


@dataclasses.dataclass
class Line:
    """`goal` bounds ours / limit: from below where more is better, else from above."""
    what: str
    unit: str
    limit: list
    ours: list
    goal: float
    more_is_better: bool = True

    def text(self):
        limit, ours = statistics.median(self.limit), statistics.median(self.ours)
        ratio = ours / limit
        met = ratio >= self.goal if self.more_is_better else ratio <= self.goal
        sign = ">=" if self.more_is_better else "<="
        return (f"{self.what:<54}{limit:>10.4g}{ours:>10.4g} {self.unit:<9}{ratio:>6.2f}  "
                f"{sign} {self.goal:<5.2f}{'+' if met else '-'}")


def output_of(words):
    return subprocess.run([str(word) for word in words], check=True, stdout=subprocess.PIPE,
                          text=True, env=ENVIRONMENT).stdout


# ---- one process

def samples_per_second(name):
    text = output_of([PROGRAMS / "lenet_throughput", f"--benchmark_filter=^{name}$",
                      "--benchmark_min_time=1", "--benchmark_format=json"])
    return json.loads(text)["benchmarks"][0]["items_per_second"]


def kernels(arguments):
    for network, goal in (("lenet", 0.75), ("cifar_quick", 0.75)):
        line = Line(f"{network.replace('_', '-')}: gradient beside its products alone, batch 64",
                    "samples/s", [], [], goal)
        for _ in range(arguments.runs):
            line.limit.append(samples_per_second(f"{network}_products/64"))
            line.ours.append(samples_per_second(f"{network}_gradient/64"))
        yield line


def threads(arguments):
    for network in ("cifar_quick", "resnet20"):
        line = Line(f"{network.replace('_', '-')}: two threads beside one", "samples/s", [], [],
                    1.7)
        for _ in range(arguments.runs):
            line.limit.append(samples_per_second(f"{network}_threads/64/1/real_time"))
            line.ours.append(samples_per_second(f"{network}_threads/64/2/real_time"))
        yield line


def pytorch(arguments):
    if arguments.python is None:
        print("pytorch: skipped: no --python with PyTorch")
        return
    for network, goals in (("lenet", (2, 1.1)), ("cifar-quick", (1.4, 1.1)),
                           ("resnet20", (1, 1))):
        lines = [Line(f"{network}: gradient beside PyTorch{layout}", "samples/s", [], [], goal)
                 for layout, goal in zip(("", ", channels last"), goals)]
        for _ in range(arguments.runs):
            ours = samples_per_second(f"{network.replace('-', '_')}_gradient/64")
            torch = json.loads(output_of([arguments.python, PYTORCH_SCRIPT, "--network", network,
                                          "--batch", 64, "--seconds", 1, "--threads", 1]))
            for line, layout in zip(lines, ("contiguous", "channels_last")):
                line.limit.append(torch[layout])
                line.ours.append(ours)
        yield from lines


def link(arguments):
    text = output_of([PROGRAMS / "link_throughput", 1, arguments.runs])
    for part in text.split("walking through ")[1:]:
        size = part[:part.index(";")]
        figures = dict(re.findall(r"^ +(.+?) +[\d.]+ GB/s \([\d.]+\) +([\d.]+) s/GB", part, re.M))
        yield Line(f"one link beside a plain loop, {size}", "s/GB",
                   [float(figures["plain loop, same options"])], [float(figures["one link"])], 1.2,
                   more_is_better=False)


def rows(arguments):
    found = {}
    for _ in range(arguments.runs):
        for what, ours, limit in re.findall(r"(.+): ([\d.]+) ms, plain passes ([\d.]+) ms",
                                            output_of([PROGRAMS / "round_cost"])):
            line = found.setdefault(what, Line(what + " beside plain passes", "ms", [], [], 1.5,
                                               more_is_better=False))
            line.ours.append(float(ours))
            line.limit.append(float(limit))
    yield from found.values()


# ---- rounds on a network of namespaces

class Testbed:
    """deploy/testbed under a name of this process, for the length of a `with`."""

    def __init__(self, peers, rate):
        self.words = [REPOSITORY / "deploy/testbed", "--name", f"bench{os.getpid()}"]
        self.peers, self.rate = peers, rate

    def __enter__(self):
        status = subprocess.run([*self.words, "up", "--peers", str(self.peers), "--rate",
                                 f"{self.rate}mbit", "--cpus", str(CPUS)], check=False).returncode
        if status != 0:
            raise SystemExit(status)
        return self

    def __exit__(self, *_):
        subprocess.run([*self.words, "down"], check=True)

    def train(self, settings, folder):
        """Result of each peer, in a namespace of its own."""
        names = [f"p{peer}" for peer in range(1, self.peers + 1)]
        listed = ", ".join(f"{{name: {name}, address: '10.99.0.{k + 1}:7701'}}"
                           for k, name in enumerate(names))
        words = [BUILD / "ako", "launch", REPOSITORY / "experiments/mnist/cluster.yaml", "--plain",
                 "--in", " ".join(map(str, [*self.words, "exec", "{number}", "--"])),
                 "--output-dir", folder]
        for setting in (*settings, f"peers=[{listed}]"):
            words += ["--set", setting]
        # Where nothing is exchanged peers end with other parameters, which is exit 4.
        done = subprocess.run(words, cwd=REPOSITORY, stdout=subprocess.DEVNULL, timeout=300,
                              check=False)
        if done.returncode not in (0, 4):
            raise SystemExit(f"launch ended with {done.returncode}, see above")
        return [json.loads((folder / f"result-{name}.json").read_text()) for name in names]


def settings_of(mode, rounds, peers):
    """60,000 samples are one epoch of all peers together."""
    return [f"exchange.mode={mode}", "training.batch=64",
            f"training.epochs={rounds * 64 * peers / 60_000:.5f}", "training.evaluate_every=1000"]


def rounds(arguments):
    peers_and_rates = [(4, rate) for rate in arguments.rates]
    if arguments.eight:
        peers_and_rates.append((8, arguments.rates[-1]))
    for peers, rate in peers_and_rates:
        # Eight share two cores where four have a quarter of one each.
        goal = 1.08 if peers == 4 else 1.15
        where = f"{peers} peers, {rate} Mbit/s, {CPUS} core"
        wall = Line(f"a round of LeNet, {where}", "ms", [], [], goal, more_is_better=False)
        used = Line(f"its processor time, {where}", "ms", [], [], goal, more_is_better=False)
        count = max(40, int(arguments.seconds / 0.07))
        with Testbed(peers, rate) as testbed:
            for _ in range(arguments.runs):
                for mode, column in (("local", "limit"), ("ako", "ours")):
                    with tempfile.TemporaryDirectory() as folder:
                        results = testbed.train(settings_of(mode, count, peers),
                                                pathlib.Path(folder))
                    getattr(wall, column).append(
                        statistics.median(one["round_ms"]["p50"] for one in results))
                    getattr(used, column).append(
                        statistics.median(one["cpu_ms_per_round"] for one in results))
        yield wall
        yield used


def main():
    parser = argparse.ArgumentParser(
        prog="deploy/bench", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=12, help="of each run of `rounds`")
    parser.add_argument("--rates", type=int, nargs="+", default=[20, 200, 1000], help="Mbit/s")
    parser.add_argument("--eight", action="store_true",
                        help="eight peers too, which need all of two cores")
    parser.add_argument("--python", help="an interpreter that has PyTorch")
    parser.add_argument("--only", choices=PARTS, action="append", metavar="PART")
    arguments = parser.parse_args()
    subprocess.run([REPOSITORY / "deploy/install-deps", "--tests"], check=True)
    subprocess.run(["cmake", "--preset", "release", "-DAKO_TESTS=ON"], check=True, cwd=REPOSITORY,
                   stdout=subprocess.DEVNULL)
    subprocess.run(["ninja", "-C", str(BUILD), "ako", "lenet_throughput", "link_throughput",
                    "round_cost"], check=True, stdout=subprocess.DEVNULL)
    print(f"{'what':<54}{'limit':>10}{'ours':>10} {'':<9}{'ratio':>6}  goal", flush=True)
    failed = False
    for part in arguments.only or PARTS:
        try:
            for line in globals()[part](arguments):
                print(line.text(), flush=True)
        except SystemExit as ended:
            if ended.code != SKIPPED:  # the testbed has said why
                print(f"bench: {part}: {ended.code}", file=sys.stderr)
                failed = True
    return int(failed)
