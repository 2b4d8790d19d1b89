"""`--set model.initial=runs/latest/model.safetensors` failed, for launch had moved the link to the
new, empty folder before its peers read it. A start that came to nothing moved it too, and one that
was interrupted before a round left an untrained model. Now the link moves with the first round."""

import glob
import os
import signal

from bench import check, check_equal, newest_run, wait_for

MODES = ("ako", "ring", "parameter-server", "local-sgd")


def latest(bench):
    return os.path.realpath(os.path.join(bench.folder, "runs", "latest"))


def refused_start(bench, before):
    """b's port is taken: a is stopped before it has begun."""
    file = bench.file(2)
    holder = bench.start("train", file, "--peer", "b", "--set", "output=elsewhere", "--set",
                         "run=another")
    wait_for(lambda: holder.line_with("waiting for"), "the port is taken")
    bench.start("launch", file, "--in", "env").expect(2, 30)
    check_equal(latest(bench), before, "latest after a start that failed")
    holder.process.send_signal(signal.SIGINT)
    holder.expect(130, 20)
    check(not os.path.lexists(os.path.join(bench.folder, "elsewhere", "latest")), "no link at all")


def nobody_came(bench, before):
    run = bench.start("train", bench.file(3, exchange="start_wait_s: 1"), "--peer", "a")
    check("only 1 of 3 peers came" in run.expect(2, 30), run.output())
    check_equal(latest(bench), before, "latest after a start that timed out")


def interrupted_start(bench):
    """In every mode a peer that waits for others and is interrupted gives up, with no model."""
    for mode in MODES:
        output = os.path.join(bench.folder, mode)
        run = bench.start("train", bench.file(2), "--peer", "a", "--set", f"exchange.mode={mode}",
                          "--set", f"output={output}")
        metrics = wait_for(lambda: glob.glob(f"{output}/*/metrics-a.jsonl"), "a has a folder")[0]
        wait_for(lambda: os.path.getsize(metrics), "a waits for b")
        run.process.send_signal(signal.SIGINT)
        said = run.expect(130, 20)
        check("stopped: interrupted before training began" in said, f"{mode}:\n{said}")
        check(not os.path.lexists(os.path.join(output, "latest")), f"{mode}: no link")
        left = os.listdir(newest_run(output))
        check(not any(name.endswith(".safetensors") for name in left), f"{mode} leaves {left}")


def case_latest_that_trained(bench):
    file = bench.file(2, training="epochs: 0.05, evaluate_every: 0")
    bench.launch(file).expect(0)
    first = latest(bench)
    check_equal(first, os.path.realpath(bench.path(".")), "latest")
    again = ("--set", "model.initial=runs/latest/model.safetensors")
    bench.launch(file, *again).expect(0)
    second = latest(bench)
    check(second != first, "latest has moved to the second run")
    with open(os.path.join(second, "config.yaml")) as text:
        check(os.path.join(first, "model.safetensors") in text.read(), "what it started from")
    refused_start(bench, second)
    nobody_came(bench, second)
    interrupted_start(bench)
    bench.start("train", bench.file(1, training="epochs: 0.05"), "--peer", "a", *again).expect(0)
    check(latest(bench) not in (first, second), "latest has moved to the run of train")
