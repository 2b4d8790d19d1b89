"""Ctrl-S on the terminal stopped the training: rows were written by the compute thread and log
lines by the network thread, and both waited for the terminal."""

import os

from bench import check, check_equal, wait_for
from live_view import Screen, run_file


def ended(screen):
    pid, status = os.waitpid(screen.pid, os.WNOHANG)
    return pid and (os.waitstatus_to_exitcode(status),)


def stopped(bench, peers, command, *words):
    """Run on a terminal on which somebody presses Ctrl-S after the first row."""
    screen = Screen(bench, command, run_file(bench, peers, 4), *words)
    wait_for(lambda: screen.read() and "a " in screen.text(), "the first row", 30)
    screen.press("\x13")
    return screen


def done(bench):
    lines = bench.metrics("a")
    return lines and lines[-1]["phase"] == "done"


def case_stopped_terminal(bench):
    """With a terminal that takes nothing, peers train to their end."""
    for words in ((1, "train", "--peer", "a", "--plain"), (2, "launch", "--free-ports", "--plain")):
        screen = stopped(bench, *words)
        (status,) = wait_for(lambda: ended(screen), "it ends, though nobody reads", 60)
        check_equal(status, 0, "exit")
        check(done(bench), "the last phase")
        os.close(screen.main)
    # The live view has to put the terminal back, so the process itself waits for it, when all that
    # it leaves is written.
    for words in ((2, "launch", "--free-ports"), (1, "train", "--peer", "a")):
        before = os.path.realpath(bench.path(""))
        screen = stopped(bench, *words)
        wait_for(lambda: os.path.realpath(bench.path("")) != before, "a new run", 30)
        wait_for(lambda: done(bench) and os.path.exists(bench.path("summary.json")),
                 "training to the end, and the summary", 60)
        screen.press("\x11")
        check_equal(screen.end(), 0, "exit")
        check("replicas identical: yes" in screen.after(), "the outcome")
