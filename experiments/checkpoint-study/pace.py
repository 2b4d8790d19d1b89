#!/usr/bin/env python3
"""What `training.checkpoint_every: auto` takes of the pace, as processor time. Root.

    pace.py measure [--models lenet,resnet-20,30M,30M-long,124M] [--pairs 5]
    pace.py table                                       # of paced.jsonl, nothing is run

Two peers of the mode ako train in a control group, in turn without checkpoints and with `auto`, for
a fault every six minutes; the same samples each time. By the clock two runs of the same differ by
some 7 %, by the group's counter of processor time by far less.
"""

import argparse
import json
import os
import pathlib
import re
import statistics
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
sys.path[:0] = [str(HERE.parent), str(HERE)]
import runs  # noqa: E402
from study import AKO, words  # noqa: E402

DATA = REPOSITORY / "experiments"
GROUP = pathlib.Path("/sys/fs/cgroup/cpuacct/ako-pace")  # control groups of v1
T_95 = {2: 12.71, 3: 4.303, 4: 3.182, 5: 2.776, 6: 2.571, 7: 2.447, 8: 2.365, 9: 2.306, 10: 2.262}


def dense(width):
    return ("{input: [28, 28, 1], layers: [flatten, dense: {outputs: %d}, relu, dense: "
            "{outputs: %d}, relu, dense: {outputs: 10}]}" % (width, width))


# What is trained, on what, for so many epochs.
MODELS = {"lenet": ("lenet", f"{{path: {DATA}/mnist/data}}", 2),
          "resnet-20": ("resnet20", f"{{path: {DATA}/cifar10/data, format: cifar10}}", 0.2),
          "30M": (dense(5000), f"{{path: {DATA}/mnist/data}}", 0.2),
          "30M-long": (dense(5000), f"{{path: {DATA}/mnist/data}}", 0.6),
          "124M": (dense(10720), f"{{path: {DATA}/mnist/data}}", 0.06)}
CLUSTER = """\
run: pace
model: {}
data: {}
training: {{epochs: {}, evaluate: after, evaluate_every: 0, learning_rate: 0.01, must_learn: false,
           mtbf_h: 0.1}}
exchange: {{mode: ako, finish_timeout_s: 600}}
memory_mb_max: 8000
peers: {{count: 2}}
"""
SAID = re.compile(r"stood still for ([\d.]+) s, ([\d.]+) s of processor")


def processor_s(model, checkpoints):
    """Of one run; how many checkpoints a peer has made, and the seconds that all say they took."""
    GROUP.mkdir(exist_ok=True)
    (GROUP / "cpuacct.usage").write_text("0")
    with tempfile.TemporaryDirectory(prefix="ako-pace-") as place:
        folder = pathlib.Path(place)
        (folder / "cluster.yaml").write_text(CLUSTER.format(*MODELS[model]))
        pid = os.getpid()
        (GROUP / "tasks").write_text(str(pid))  # what it starts is in there too
        done = runs.launch(AKO, folder / "cluster.yaml",
                           [f"training.checkpoint_every={checkpoints}"], "--free-ports",
                           "--output-dir", folder / "run")
        (GROUP.parent / "tasks").write_text(str(pid))
        used = int((GROUP / "cpuacct.usage").read_text()) / 1e9
        if done.returncode != 0:
            raise SystemExit(done.stdout)
        said = [numbers for path in (folder / "run").glob("log-*.txt")
                for numbers in SAID.findall(path.read_text())]
    GROUP.rmdir()
    return used, len(said) / 2, sum(float(still) + float(other) for still, other in said)


def table(found):
    print("| model | runs of each | processor time, s | checkpoints of a peer | "
          "lost by the counter, 95 % | by what each says of itself |\n|---|---|---|---|---|---|")
    for model in MODELS:
        lines = found.of(model=model)
        if len(lines) < 2:
            continue
        lost = [100 * (line["auto_s"] / line["none_s"] - 1) for line in lines]
        mean = statistics.mean(lost)
        half = T_95[min(len(lost), 10)] * statistics.stdev(lost) / len(lost) ** 0.5
        # The first pairs were run before it was kept.
        said = [100 * line["said_s"] / line["auto_s"] for line in lines if "said_s" in line]
        seconds = statistics.mean(line["none_s"] for line in lines)
        print(f"| {model} | {len(lines)} | {seconds:.1f} | "
              f"{statistics.median(line['made'] for line in lines):g} | "
              f"{mean:.2f} % ({mean - half:.2f} to {mean + half:.2f}) | "
              f"{f'{statistics.median(said):.2f} %' if said else ''} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("measure", "table"))
    parser.add_argument("--models", type=words, default=list(MODELS))
    parser.add_argument("--pairs", type=int, default=5)
    arguments = parser.parse_args()
    found = runs.Runs(HERE / "paced.jsonl")
    if arguments.what == "table":
        return table(found)
    for model in arguments.models:
        for pair in range(len(found.of(model=model)), arguments.pairs):
            order = ["0", "auto"] if pair % 2 == 0 else ["auto", "0"]
            used = {checkpoints: processor_s(model, checkpoints) for checkpoints in order}
            found.add({"model": model, "seed": pair, "none_s": used["0"][0],
                       "auto_s": used["auto"][0], "made": used["auto"][1],
                       "said_s": used["auto"][2]})
            print(json.dumps(found.lines[-1]), flush=True)


if __name__ == "__main__":
    main()
