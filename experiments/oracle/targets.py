#!/usr/bin/env python3
"""Times to an accuracy, foretold and measured: four machines between shaped links.

    experiments/oracle/targets.py --measure   # half an hour, as root, on an idle machine
    experiments/oracle/targets.py             # the table

Known of each network are a profile of the machine, one machine alone (its rounds
to the accuracy, and what its quota loses: `--run`) and the gradient noise scale that alone.yaml
shows.
From that `ako predict --rounds --noise-scale` says what four machines take in each mode; `ako
compare targets/compare-*.yaml` measures it. Standard library only.
"""

import argparse
import csv
import json
import pathlib
import shutil
import statistics
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent
TARGETS = HERE / "targets"
SETTINGS = {"lenet": ["model=lenet", f"data.path={REPOSITORY / 'experiments/mnist/data'}"],
            "cifar-quick": ["model=cifar-quick", "training.learning_rate=0.02",
                            "training.weight_decay=0.0005", "training.schedule.kind=cosine",
                            "training.schedule.warm_up=0.1", "data.format=cifar10",
                            f"data.path={REPOSITORY / 'experiments/cifar10/data'}"]}
MACHINES, BATCH, SHARE, PERIOD_MS = 4, 32, 0.4, 10
NEAR, AS_GOOD = 0.2, 1.05  # of the time measured; of the shortest


def words_of(settings):
    return [word for setting in settings for word in ("--set", setting)]


def run(*words):
    subprocess.run([str(word) for word in words], check=True, cwd=REPOSITORY)


def measure(ako, network):
    """Leaves in targets/NETWORK all that the table is made of."""
    folder = TARGETS / network
    folder.mkdir(exist_ok=True)
    alone, settings = TARGETS / "alone.yaml", words_of(SETTINGS[network])
    run(ako, "profile", alone, "-o", folder / "profile", "--name", "here", *settings, "--set",
        f"training.batch={BATCH}")
    noise = REPOSITORY / "runs" / f"oracle-noise-{network}"
    shutil.rmtree(noise, ignore_errors=True)
    run(ako, "launch", alone, "--plain", "--output-dir", noise, *settings)
    run(ako, "compare", TARGETS / f"compare-{network}.yaml")
    keep(network, folder, noise)


def keep(network, folder, noise):
    with (noise / "metrics-a.jsonl").open() as lines:
        scales = [json.loads(line)["noise_scale"] for line in lines]
    (folder / "noise.json").write_text(json.dumps([scale for scale in scales if scale]) + "\n")
    compared = REPOSITORY / "runs" / f"compare-oracle-{network}"
    shutil.copy(compared / "targets.csv", folder)
    made = next((compared / "cells").glob("one_machine_alone-*")) / "run"
    (folder / "alone").mkdir(exist_ok=True)
    shutil.copy(made / "summary.json", folder / "alone")
    config = (made / "config.yaml").read_text().replace(f"{REPOSITORY}/", "")
    (folder / "alone" / "config.yaml").write_text(config)


def predicted(ako, network, rounds, rates):
    """{(mode, rate): seconds to the target}"""
    folder = TARGETS / network
    noise = statistics.median(json.loads((folder / "noise.json").read_text()))
    words = [ako, "predict", TARGETS / "alone.yaml", "--json", "--profile", folder / "profile",
             "--run", folder / "alone", "--machines", MACHINES, "--rates", ",".join(rates),
             "--cores", SHARE, "--period", PERIOD_MS, "--rounds", rounds, "--noise-scale", noise,
             *words_of(SETTINGS[network]), "--set", f"training.batch={BATCH}"]
    done = subprocess.run([str(word) for word in words], check=True, capture_output=True)
    return {(cell["mode"], f"{cell['rate_mbit']:g}"): cell["target_s"]
            for cell in json.loads(done.stdout)["cells"] if cell["machines"] == MACHINES}


def judged(ako, network):
    """The lines of a network: a target and a rate each, with the times of all modes."""
    with (TARGETS / network / "targets.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["seconds_median"]]
    rates = sorted({row["rate_mbit"] for row in rows if row["mode"] != "local"}, key=float)
    for target in sorted({row["target_accuracy"] for row in rows}):
        here = [row for row in rows if row["target_accuracy"] == target]
        alone = next(row for row in here if row["mode"] == "local")
        foretold = predicted(ako, network, alone["rounds_median"], rates)
        for rate in rates:
            measured = {row["mode"]: float(row["seconds_median"]) for row in here
                        if row["mode"] != "local" and row["rate_mbit"] == rate}
            yield network, target, rate, measured, {mode: foretold[mode, rate]
                                                    for mode in measured}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ako", default=REPOSITORY / "build/release/ako")
    parser.add_argument("--measure", action="store_true")
    words = parser.parse_args()
    if words.measure:
        for network in SETTINGS:
            measure(words.ako, network)
    print("| network | target | Mbit/s | mode | measured, s | foretold | off |")
    print("|---" * 7 + "|")
    near = cells = first = as_good = choices = 0
    for network in SETTINGS:
        for _, target, rate, measured, foretold in judged(words.ako, network):
            for mode, seconds in sorted(measured.items()):
                off = foretold[mode] / seconds - 1
                cells += 1
                near += abs(off) <= NEAR
                print(f"| {network} | {target} | {rate} | {mode} | {seconds:.1f} | "
                      f"{foretold[mode]:.1f} | {100 * off:+.0f} % |")
            chosen = min(foretold, key=foretold.get)
            choices += 1
            first += chosen == min(measured, key=measured.get)
            as_good += measured[chosen] <= AS_GOOD * min(measured.values())
    print(f"\n{near} of {cells} within {100 * NEAR:.0f} %; the first mode right in {first} of "
          f"{choices}, within {100 * (AS_GOOD - 1):.0f} % of the first in {as_good}")


if __name__ == "__main__":
    main()
