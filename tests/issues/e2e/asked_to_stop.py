"""Ctrl-C at one peer ended the run for all, and the others said `finished` and exited 0 at 14 % of
the budget. Now everybody says who was asked and how much was done, and such an end has a status of
its own, in every mode."""

import json
import os
import re
import signal

from bench import check, check_equal, newest_run, wait_for

# Ten seconds for three peers, of which a few are made.
LONG = dict(model="{name: synthetic, parameters: 20000, compute_ms: 5, samples: 384000}",
            training="epochs: 1, learning_rate: 0.01, evaluate_every: 0")
SAID = re.compile(r"stopped early at (\d+|less than 1) % of the budget: peer b asked for it\n")
SERVER = ("exchange.mode=parameter-server", "exchange.placement=dedicated", "peers.2.role=server")


def result(output, name):
    with open(os.path.join(newest_run(output), f"result-{name}.json")) as file:
        return json.load(file)


def trains(output, name):
    path = os.path.join(newest_run(output), f"metrics-{name}.jsonl")
    if not os.path.exists(path):
        return False
    with open(path) as file:
        return any(json.loads(line)["round"] > 0 for line in file if line.endswith("\n"))


def of_several_machines(bench, *settings):
    words = [word for setting in settings for word in ("--set", setting)]
    file = bench.file(3, **LONG)
    outputs = {name: os.path.join(bench.folder, f"out-{name}-{'-'.join(settings)}")
               for name in "abc"}
    runs = {name: bench.start("train", file, "--peer", name, "--set", f"output={output}", *words)
            for name, output in outputs.items()}
    wait_for(lambda: all(trains(outputs[name], name) for name in "ab"),
             f"a and b train with {settings}")
    runs["b"].process.send_signal(signal.SIGINT)
    for name, status, ending in (("b", 130, "interrupted"), ("a", 7, "stopped_early"),
                                 ("c", 7, "stopped_early")):
        output = runs[name].expect(status, 30)
        check(SAID.search(output), f"{settings}: {name} says:\n{output}")
        found = result(outputs[name], name)
        check_equal((found["ending"], found["exit"]), (ending, status), f"ending of {name}")
        check_equal(found["asked_by"], ["b"], f"who asked, says {name}")
        check(0 < found["stopped_at"] < 0.9, f"{name} stopped at {found['stopped_at']}")
        check(found["agreed"] and found["finished_with"], f"{name} agreed")


def of_launch(bench):
    file = bench.file(3, **LONG)
    run = bench.launch(file)
    wait_for(lambda: all(any(line["round"] > 0 for line in bench.metrics(name)) for name in "abc"),
             "all train")
    os.kill(run.peers()["b"], signal.SIGINT)
    output = run.expect(7, 30)
    check(SAID.search(output), output)
    summary = bench.summary()
    check_equal([peer["exit"] for peer in summary["peers"]], [7, 130, 7], "exits")
    check_equal((summary["asked_by"], summary["exit"]), (["b"], 7), "who asked, exit")
    check(0 < summary["stopped_at"] < 0.9, f"stopped at {summary['stopped_at']}")
    check(summary["replicas_identical"], "replicas_identical")


def case_asked_to_stop(bench):
    of_several_machines(bench)
    of_several_machines(bench, "exchange.mode=ring")
    of_several_machines(bench, "exchange.mode=local-sgd")
    of_several_machines(bench, *SERVER)
    of_several_machines(bench, *SERVER, "exchange.consistency=async")
    of_launch(bench)
