"""A process that paused for 3 s ended every run of ring and local SGD with exit 5, for a peer was
lost after 2 s of silence whatever the mode. Since 0.1.0 the modes in which all wait for each other
wait for 30 s unless told otherwise, and name who is silent after 2 s."""

import os
import signal
import time

from bench import Bench, check, check_all_identical, wait_for
from modes import long_run

PAUSE_S = 3


def pause(bench, mode):
    run = long_run(bench, 3, f"exchange.mode={mode}", "training.epochs=0.1")
    paused = run.peers()["c"]
    os.kill(paused, signal.SIGSTOP)
    until = time.monotonic() + PAUSE_S
    try:
        for name in "ab":
            wait_for(lambda: run.line_with(f" {name} ", "c: silent for"),
                     f"{name} names who is silent", 10)
        time.sleep(max(0, until - time.monotonic()))  # the length of the fault
    finally:
        os.kill(paused, signal.SIGCONT)
    run.expect(0)
    check(run.line_with("c: heard from again"), f"it is said who came back:\n{run.output()}")
    check_all_identical(bench, 3)


def case_pause_in_lockstep(bench):
    for mode in ("ring", "local-sgd"):
        # A folder each: the newest run is looked for in it.
        folder = os.path.join(bench.folder, mode)
        os.mkdir(folder)
        pause(Bench(bench.ako, bench.source, folder), mode)
