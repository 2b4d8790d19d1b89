"""A restarted process was admitted by whoever had never met the first one, and its fresh row took
the place of the old one. Now nobody who can hear of the first one takes the second one in."""

import json
import os
import signal

from bench import check, check_equal, newest_run, wait_for

SECONDS = 10  # of training for two; a is restarted, and c begins, long before that


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

    again = start("a", "out-again")
    c = start("c", "out-c")
    said = again.expect(2)
    check("the process that trained as a before" in said and "rejoin" in said,
          f"the second a says why it cannot train:\n{said}")
    check("identical" not in said, f"the second a claims nothing:\n{said}")
    for name, run in (("b", b), ("c", c)):
        run.expect(0)
    found = {name: result(bench, name) for name in "bc"}
    check_equal(found["b"]["digest"], found["c"]["digest"], "the digest of c")
    check_equal(found["b"]["finished_with"], ["b", "c"], "who finished with b")
    check(not result(bench, "a", "out-again").get("digest"), "the second a has no digest")
