"""A terminal that was closed killed `ako launch` (SIGHUP) before it had written its summary, and
`ako train` before it had written anything. Since then it asks for the end, as Ctrl-C does."""

import json
import os
import signal

from bench import check, check_equal, wait_for
from live_view import Screen, run_file


def ended(screen):
    pid, status = os.waitpid(screen.pid, os.WNOHANG)
    return pid and (os.waitstatus_to_exitcode(status),)


def case_closed_terminal(bench):
    for peers, *words in ((2, "launch", "--free-ports"), (2, "launch", "--free-ports", "--plain"),
                          (1, "train", "--peer", "a"), (1, "train", "--peer", "a", "--plain")):
        output = "-".join(words)
        screen = Screen(bench, words[0], run_file(bench, peers, 60), *words[1:], "--set",
                        f"output={output}")
        wait_for(lambda: screen.read() and bool(screen.text()) and
                 any(line["round"] for line in metrics(bench, output)), "it trains", 30)
        os.close(screen.main)
        (status,) = wait_for(lambda: ended(screen), "it ends", 30)
        check_equal(status, 130, f"exit of {words}")
        with open(os.path.join(bench.folder, output, "latest", "summary.json")) as file:
            summary = json.load(file)
        check_equal([summary["interrupted"], summary["replicas_identical"]], [True, True],
                    f"interrupted, replicas_identical of {words}")
    # A user who does not want that says so with nohup.
    run = bench.start("launch", run_file(bench, 1, 3), "--free-ports", before=("nohup",))
    wait_for(lambda: bench.metrics("a"), "it trains", 30)
    run.process.send_signal(signal.SIGHUP)
    run.expect(0)
    check(not bench.summary()["interrupted"], "interrupted")


def metrics(bench, output):
    try:
        with open(os.path.join(bench.folder, output, "latest", "metrics-a.jsonl")) as file:
            return [json.loads(line) for line in file if line.endswith("\n")]
    except FileNotFoundError:
        return []
