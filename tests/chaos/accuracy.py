"""What chaos costs in accuracy: runs of tests/chaos/cluster.yaml with and without faults, with the
same number of samples."""

import os
import pathlib

import chaos
from cluster_file import ClusterFile

HERE = pathlib.Path(__file__).resolve().parent
NO_FAULTS_EVERY_S = 1e9


def run(arguments, seed, quiet):
    words = [str(HERE / "cluster.yaml"), "--ako", arguments.ako, "--seed", str(seed), "--tail",
             "calm", "--set", f"seed={seed}", "--set",
             f"training.epochs={arguments.epochs:g}", "--output",
             os.path.join(arguments.output, "quiet" if quiet else "chaos")]
    if quiet:
        words += ["--every", str(NO_FAULTS_EVERY_S), "--kinds", "kill"]
    parsed = chaos.parse(words)
    one = chaos.Run(parsed, ClusterFile(parsed.ako, parsed.file, chaos.words_for_peers(parsed)))
    status = one.run()
    return status, one


def measure(arguments, seed):
    status, one = run(arguments, seed, quiet=False)
    quiet_status, quiet = run(arguments, seed, quiet=True)
    return {"seed": seed, "epochs": arguments.epochs, "status": max(status, quiet_status),
            "faults": one.faults,
            "accuracy": one.accuracy, "quiet": quiet.accuracy, "samples": one.samples,
            "quiet_samples": quiet.samples}


def percent(value):
    return "none" if value is None else f"{100 * value:.2f} %"


def table(found):
    lines = ["| seed | status | faults | samples | accuracy | samples, quiet | accuracy, quiet | "
             "points |", "|" + " --- |" * 8]
    for it in found:
        points = "-" if None in (it["accuracy"], it["quiet"]) else \
            f"{100 * (it['accuracy'] - it['quiet']):+.2f}"
        lines.append(f"| {it['seed']} | {it['status']} | {it['faults']} | "
                     f"{it['samples']:,} | "
                     f"{percent(it['accuracy'])} | {it['quiet_samples']:,} | "
                     f"{percent(it['quiet'])} | {points} |")
    return "\n".join(lines)
