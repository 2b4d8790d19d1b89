"""A restarted process was admitted by whoever had never met the first one, and its fresh row took
the place of the old one. Then nobody who could hear of the first one took the second one in. Now
it goes on with the row of the first one, which the others hold."""

import json
import os
import signal

from bench import check, check_equal, newest_run, wait_for

SECONDS = 6  # of training for two; a is restarted, and c begins, long before that


def result(bench, name, folder=None):
    folder = newest_run(os.path.join(bench.folder, folder or f"out-{name}"))
    with open(os.path.join(folder, f"result-{name}.json")) as file:
        return json.load(file)


def last_round(bench, name):
    try:
        folder = newest_run(os.path.join(bench.folder, f"out-{name}"))
        with open(os.path.join(folder, f"metrics-{name}.jsonl")) as file:
            lines = [json.loads(line) for line in file if line.endswith("\n")]
    except FileNotFoundError:
        return 0
    return max((line.get("round", 0) for line in lines), default=0)


def case_second_life(bench):
    file = bench.file(3, model="{name: synthetic, parameters: 20000, compute_ms: 10, "
                               f"samples: {2 * SECONDS * 100 * 64}}}",
                      training="epochs: 1, learning_rate: 0.01, evaluate_every: 0",
                      exchange="start_wait_s: 4")

    def start(name, output):
        return bench.start("train", file, "--peer", name, "--set", f"output={output}")

    a, b = start("a", "out-a"), start("b", "out-b")
    wait_for(lambda: last_round(bench, "b") >= 50, "b trains with a")
    a.process.send_signal(signal.SIGKILL)
    a.wait()
    wait_for(lambda: b.line_with("peer a is lost"), "b misses a")

    rounds = last_round(bench, "a")

    again, c = start("a", "out-again"), start("c", "out-c")
    said = again.expect(0)
    check("joins a run that is at" in said and "has joined after" in said,
          f"the second a says that it goes on:\n{said}")
    c_said = c.expect(0)
    check("joins a run that is at" in c_said, f"and c that it comes late:\n{c_said}")
    b.expect(0)
    found = {name: result(bench, name, folder)
             for name, folder in (("a", "out-again"), ("b", None), ("c", None))}
    for name in "abc":
        check_equal(found[name]["digest"], found["b"]["digest"], f"the digest of {name}")
        check_equal(found[name]["finished_with"], ["a", "b", "c"], f"who finished with {name}")
    # What the first one made in its last moments nobody may have been sent.
    check(found["a"]["rounds"] > rounds - 20, f"a goes on after round {rounds}: {found['a']}")
