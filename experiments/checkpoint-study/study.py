#!/usr/bin/env python3
"""What checkpoints take, by framework, mode, size, number of peers and disk.

    study.py others [--python build/frameworks/bin/python]    # torch, TensorFlow, Chainer
    study.py ako [--modes ring,ako] [--peers 1,2,4,8]         # runs of Ako's modes
    study.py table          # of results.jsonl, nothing is run

Each takes --sizes lenet,resnet-20,30M,124M, --disks local,tmpfs,slow (root) and --repeats. What is
in results.jsonl is not run again. Others by writers.py, a process each; Ako by runs of a synthetic
network of so many parameters, whose peers say of each checkpoint what it took.
"""

import argparse
import datetime
import json
import pathlib
import re
import statistics
import subprocess
import sys

import disks

HERE = pathlib.Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
sys.path.insert(0, str(HERE.parent))
import runs  # noqa: E402

AKO = REPOSITORY / "build/release/ako"
SIZES = {"lenet": 431_080, "resnet-20": 272_474, "30M": 30_000_000, "124M": 124_000_000}
OTHERS = ("torch.save", "safetensors", "dcp", "dcp-async", "tensorflow", "chainer")
MODES = {"local": ["exchange.mode=local"], "ring": ["exchange.mode=ring"],
         "sma": ["exchange.mode=sma", "training.learners=1"],
         "local-sgd": ["exchange.mode=local-sgd", "exchange.local_rounds=4"],
         "bsp": ["exchange.mode=parameter-server", "exchange.servers=1"],
         "ako": ["exchange.mode=ako"]}
ROUNDS = {"lenet": 10, "resnet-20": 10, "30M": 20, "124M": 8}  # of a peer, between two
MEMORY_MB = 20_000  # of the machine, for all that a cell needs
SAID = re.compile(r"the checkpoint at \d+ % of the run is written: training stood still for "
                  r"([\d.]+) s, ([\d.]+) s of processor, safe after ([\d.]+) s")
GOES_ON = re.compile(r"^([\d-]+ [\d:.]+)  (?:goes on from round|has joined)", re.MULTILINE)
CLUSTER = """\
run: study
model: {{name: synthetic, parameters: {parameters}, compute_ms: 20, samples: {samples}}}
training:
  batch: 1
  epochs: {epochs}
  evaluate_every: 0
  checkpoint_every: 1
  must_learn: false
exchange: {{mode: ring, finish_timeout_s: 600}}
memory_mb_max: 16000
peers: {{count: {peers}}}
"""


def median_of(lines, key):
    return statistics.median(line[key] for line in lines)


def other(python, framework, size, disk, repeats):
    with disks.folder_on(disk) as folder:
        done = subprocess.run([python, HERE / "writers.py", framework, "--parameters",
                               str(SIZES[size]), "--folder", folder, "--repeats", str(repeats)],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return {"why": done.stderr.strip().splitlines()[-1] if done.stderr else "it was killed"}
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    found = {key: median_of(lines, key) for key in ("still_s", "safe_s", "load_s", "bytes")}
    return {**found, "memory_mb": lines[0]["memory_mb"],
            "same": all(line["same"] for line in lines)}


def of_ako(mode, size, peers, disk, repeats):
    with disks.folder_on(disk) as folder:
        (folder / "cluster.yaml").write_text(CLUSTER.format(
            parameters=SIZES[size], epochs=repeats + 1, peers=peers, samples=ROUNDS[size] * peers))
        done = runs.launch(AKO, folder / "cluster.yaml", MODES[mode], "--free-ports",
                           "--output-dir", folder / "run")
        run = folder / "run"
        found = [tuple(map(float, numbers)) for path in run.glob("log-*.txt")
                 for numbers in SAID.findall(path.read_text())]
        states = list(run.glob("state-p1-*.safetensors"))
        if not found or not states:
            return {"why": done.stdout.strip().splitlines()[-1]}
        memory = max(json.loads(line)["memory_bytes"]
                     for line in (run / "metrics-p1.jsonl").read_text().splitlines())
        still, processor, safe = (statistics.median(column) for column in zip(*found))
        size_of_state = states[0].stat().st_size
        began = datetime.datetime.now()
        runs.launch(AKO, folder / "cluster.yaml", MODES[mode], "--free-ports", "--resume", run,
                    "--output-dir", folder / "again")
        times = [datetime.datetime.fromisoformat(time) for path in (folder / "again").glob("log-*")
                 for time in GOES_ON.findall(path.read_text())]
        goes_on = {"goes_on_s": (max(times) - began).total_seconds()} if times else {}
        return {**goes_on, "still_s": still, "processor_s": processor, "safe_s": safe,
                "bytes": size_of_state, "memory_mb": memory / 1e6,
                "checkpoints": len(found)}


def fits(size, peers):
    """Parameters, momentum, gradients, what is sent and a copy of it all, of each peer."""
    return SIZES[size] * 4 * 8 * peers / 1e6 < MEMORY_MB


def cells(arguments):
    for size in arguments.sizes:
        for disk in arguments.disks:
            if arguments.what == "others":
                for framework in arguments.frameworks:
                    yield {"framework": framework, "size": size, "disk": disk, "peers": 1}
            else:
                for mode in arguments.modes:
                    for peers in arguments.peers:
                        if fits(size, peers):
                            yield {"framework": f"ako {mode}", "size": size, "disk": disk,
                                   "peers": peers}


def table(found):
    print("| what | size | disk | peers | stands still, s | safe after, s | bytes a parameter | "
          "to load, to go on, s | memory, MB |\n|---|---|---|---|---|---|---|---|---|")
    for line in found.lines:
        name = f"| {line['framework']} | {line['size']} | {line['disk']} | {line['peers']} | "
        if "why" in line:
            print(f"{name}{line['why']} | | | | |")
            continue
        load = line.get("load_s", line.get("goes_on_s"))
        load = "" if load is None else f"{load:.3f}"
        print(f"{name}{line['still_s']:.4f} | {line['safe_s']:.3f} | "
              f"{line['bytes'] / SIZES[line['size']]:.2f} | {load} | {line['memory_mb']:.0f} |")


def words(text):
    return text.split(",")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("others", "ako", "table"))
    parser.add_argument("--python", default="/usr/bin/python3", help="that has the frameworks")
    parser.add_argument("--sizes", type=words, default=list(SIZES))
    parser.add_argument("--disks", type=words, default=list(disks.KINDS))
    parser.add_argument("--modes", type=words, default=list(MODES))
    parser.add_argument("--peers", type=lambda text: [int(one) for one in words(text)],
                        default=[1, 2, 4, 8])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--frameworks", type=words, default=list(OTHERS))
    arguments = parser.parse_args()
    found = runs.Runs(HERE / "results.jsonl")
    if arguments.what == "table":
        return table(found)
    for cell in cells(arguments):
        if found.find(**cell):
            continue
        if arguments.what == "others":
            line = other(arguments.python, cell["framework"], cell["size"], cell["disk"],
                         arguments.repeats)
        else:
            line = of_ako(cell["framework"].removeprefix("ako "), cell["size"], cell["peers"],
                          cell["disk"], arguments.repeats)
        found.add({**cell, **line})
        print(json.dumps(found.lines[-1]), flush=True)


if __name__ == "__main__":
    main()
