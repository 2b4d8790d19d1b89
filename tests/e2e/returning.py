"""Cases of e2e_test.py: peers that die, stop, come late and return, with real processes on
loopback. Each trains for some seconds of its own."""

import os
import signal
import socket
import time

from bench import check, check_equal, has_trained, wait_for
from fleet import COMPUTE_MS, Fleet, paced_file

LIFE_S = 2  # life_timeout_ms
REFUSED_S = 2 * LIFE_S + 1  # for so long an old session may stand


def fleet_that_trains(bench, file, names):
    fleet = Fleet(bench, file)
    for name in names:
        fleet.start(name)
    for name in names:
        fleet.wait_trains(name, above=50)
    return fleet


def case_killed_and_back(bench):
    """A process that was killed is started again under its name: it takes its row from the others
    and goes on where that stood, and all end with the same."""
    fleet = fleet_that_trains(bench, paced_file(bench, 3, 8), "abc")
    first_round = fleet.last("c", "round")
    fleet.kill("c")
    a = fleet.runs["a"]
    wait_for(lambda: a.line_with("peer c: session ended"), "a notices", 10)
    fleet.start("c")
    fleet.wait_trains("c")
    trained = next(line for line in fleet.metrics("c") if line["round"] > 0)
    check(trained["round"] > first_round, f"round {trained['round']} after {first_round} before")
    wait_for(lambda: a.line_with("peer c is connected again"), "a says that c is back", 10)
    results = fleet.check_finished("abc")
    check(results["c"]["rounds"] > first_round, "c's rounds go on")
    budget = int(3 * 8 * 1000 / COMPUTE_MS) * 64
    for name, result in results.items():
        check(budget <= result["samples_total"] < 1.2 * budget,
              f"{name} knows of {result['samples_total']} samples, of {budget}")
        check_equal(result["lost_peers"], [], f"lost peers by {name}")


def case_stopped_and_back(bench):
    """A process that stood still (SIGSTOP) for longer than its life time-out goes on with the
    others, and misses nothing."""
    run = bench.launch(paced_file(bench, 3, 8))
    wait_for(lambda: run.process.poll() is not None
             or all(has_trained(bench, name) for name in "abc"), "all train", 30)
    stopped = run.peers()["b"]
    os.kill(stopped, signal.SIGSTOP)
    stopped_at = time.monotonic()
    wait_for(lambda: run.line_with(" a ", "b is lost"), "a names the stopped peer", 10)
    check(time.monotonic() - stopped_at < 3, "within 3 s")
    time.sleep(max(0.0, stopped_at + 5 - time.monotonic()))  # how long it stands still
    round_then = bench.metrics("b")[-1]["round"]
    os.kill(stopped, signal.SIGCONT)
    wait_for(lambda: run.line_with(" a ", "peer b is connected again"), "b is back", 10)
    wait_for(lambda: bench.metrics("b")[-1]["round"] > round_then + 20, "b trains on", 10)
    run.expect(0, 60)
    summary = bench.summary()
    check_equal(summary["finished_with"], ["a", "b", "c"], "finished_with")
    check_equal(summary["replicas_identical"], True, "replicas_identical")
    check_equal(summary["lost_peers"], [], "lost_peers")


def case_late(bench):
    """Two of three begin; the third comes when they have trained for a while, and joins."""
    file = paced_file(bench, 3, 6, "start_wait_s: 1, start_peers_min: 2")
    fleet = fleet_that_trains(bench, file, "ab")
    fleet.start("c")
    fleet.wait_trains("c")
    check(fleet.last("a", "progress") < 1, "the others still train")
    results = fleet.check_finished("abc")
    check(0 < results["c"]["rounds"] < results["a"]["rounds"], "c has made fewer rounds")


def case_one_after_another(bench):
    """With start_wait_s: 0 each begins with those that are there, the first one alone."""
    file = paced_file(bench, 3, 6, "start_wait_s: 0, start_peers_min: 1")
    fleet = Fleet(bench, file)
    first = fleet.start("a")
    wait_for(lambda: first.line_with("begins at once; b, c may come later"), "its first line", 20)
    for name in "abc":
        if name != "a":
            fleet.start(name)
        fleet.wait_trains(name, above=50)
    fleet.check_finished("abc")


def case_spare_slot(bench):
    """A slot of the file that nobody ever takes is not missed."""
    file = paced_file(bench, 4, 4, "start_wait_s: 1")
    said = bench.start("check", file).expect(0, 20)
    check("leaves its slot empty: 3 of the file's 4 peers agree at the end" in said, said)
    fleet = fleet_that_trains(bench, file, "abc")
    for result in fleet.check_finished("abc").values():
        check_equal(result["lost_peers"], ["d"], "lost_peers")


def case_second_process(bench):
    """A second process under a live peer's name is refused on both sides and ends soon; whoever
    refuses it says so once, and the first one trains on."""
    fleet = fleet_that_trains(bench, paced_file(bench, 3, 12), "abc")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    began = time.monotonic()
    second = bench.start("train", fleet.file, "--peer", "b", "--set", "output=out-second", "--set",
                         f"peers.1.listen=127.0.0.1:{port}")
    said = second.expect(2, REFUSED_S + 10)
    took = time.monotonic() - began
    check(REFUSED_S <= took < REFUSED_S + 4, f"it ended after {took:.1f} s; it said:\n{said}")
    for expected in ("stopped: another process runs as peer b (", "a sees it at 127.0.0.1",
                     "c sees it at 127.0.0.1", "end that one first"):
        check(expected in said, f"{expected!r} in:\n{said}")
    check_equal(said.count("another process is live under this peer's name"), 2,
                f"a line for each that refuses in:\n{said}\n")
    for name in "ac":
        output = fleet.runs[name].output()
        check_equal(output.count("another process is live under its name, at 127.0.0.1"), 1,
                    f"how often {name} says it in:\n{output}\n")
    for result in fleet.check_finished("abc").values():
        check_equal(result["lost_peers"], [], "lost_peers")


def case_replaced_while_stopped(bench):
    """Another process takes the name over while the first one stands still, and is let in soon
    after the first one's sessions have fallen: once the others' own dials, to the address where
    that one stands still, are given up. The first one, when it goes on, is refused and ends."""
    fleet = fleet_that_trains(bench, paced_file(bench, 3, 14), "abc")
    first = fleet.runs["b"]
    first.process.send_signal(signal.SIGSTOP)
    a = fleet.runs["a"]
    try:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        fleet.start("b", "--set", f"peers.1.listen=127.0.0.1:{port}")
        fell, _ = wait_for(lambda: a.line_with("peer b: session ended"), "b's session falls", 10)
        back, _ = wait_for(lambda: a.line_with("peer b is connected again"), "the second b is in",
                           10)
        check(back - fell < 3, f"it was let in after {back - fell:.2f} s")
        fleet.wait_trains("b", above=50)
    finally:
        first.process.send_signal(signal.SIGCONT)
    said = first.expect(2, REFUSED_S + 10)
    check("stopped: another process runs as peer b" in said, f"the first b says:\n{said}")
    check("identical: yes" not in said, f"the first b claims nothing:\n{said}")
    fleet.check_finished("abc")


def launched(bench, seconds, *words, exchange=""):
    """Three peers under launch, all training."""
    before = bench.path(".")  # of a run that this case has made already
    run = bench.launch(paced_file(bench, 3, seconds, exchange), *words)
    wait_for(lambda: run.process.poll() is not None or bench.path(".") != before
             and all(has_trained(bench, name) for name in "abc"), "all train", 30)
    check(run.process.poll() is None, f"launch ended at once; it said:\n{run.output()}")
    return run


def kill_child(run, name):
    pid = run.peers()[name]
    os.kill(pid, signal.SIGKILL)
    return pid


def last_round(bench, name):
    return max((line["round"] for line in bench.metrics(name)), default=0)


def case_restarted_twice(bench):
    """`ako launch --restart 2` and a child that is killed twice: it says who died, why, and which
    restart of how many; all end with the same, and the summary counts."""
    run = launched(bench, 9, "--restart", "2")
    for number in (1, 2):
        before = last_round(bench, "c")
        pid = kill_child(run, "c")
        wait_for(lambda: run.line_with("c died (signal 9: Killed) after round ",
                                       f": restart {number} of 2 in 0.5 s"), "it says why", 10)
        wait_for(lambda: run.line_with(f"c is started again: restart {number} of 2"), "again", 10)
        wait_for(lambda: run.peers().get("c", pid) != pid, "another process", 10)
        wait_for(lambda: last_round(bench, "c") > before + 20, "c trains on", 10)
    output = run.expect(0, 60)
    check("c died and was started again 2 times" in output, output)
    summary = bench.summary()
    check_equal(summary["replicas_identical"], True, "replicas_identical")
    check_equal(summary["finished_with"], ["a", "b", "c"], "finished_with")
    check_equal({peer["name"]: peer["restarts"] for peer in summary["peers"]},
                {"a": 0, "b": 0, "c": 2}, "restarts")
    check_equal([peer["exit"] for peer in summary["peers"]], [0, 0, 0], "exits")
    rounds = [line["round"] for line in bench.metrics("c") if line["round"] > 0]
    check_equal(rounds, sorted(rounds), "rounds of all three processes in c's metrics")


def case_restarts_used_up(bench):
    """A child that dies once more than it may be started again stays away; in other modes nobody
    could come back, which is said at once."""
    run = launched(bench, 6, "--restart", "1")
    pid = kill_child(run, "c")
    wait_for(lambda: run.peers().get("c", pid) != pid, "another process", 10)
    kill_child(run, "c")
    wait_for(lambda: run.line_with("c died (signal 9: Killed)",
                                   "not started again, after 1 of 1 restarts"), "it says so", 10)
    run.expect(0, 60)
    summary = bench.summary()
    check_equal(summary["finished_with"], ["a", "b"], "finished_with")
    peer = next(peer for peer in summary["peers"] if peer["name"] == "c")
    check_equal([peer["exit"], peer["restarts"]], [-9, 1], "exit and restarts of c")
    output = bench.launch(bench.file(2), "--restart", "1", "--set",
                          "exchange.mode=ring").expect(2, 20)
    check("--restart: a peer that died can come back in the mode ako only" in output, output)


def case_not_restarted(bench):
    """Who was asked to end is not started again, and nobody after Ctrl-C."""
    run = launched(bench, 60, "--restart", "3")
    os.kill(run.peers()["b"], signal.SIGINT)
    output = run.expect(7, 30)
    check("started again" not in output, output)
    check_equal([peer["exit"] for peer in bench.summary()["peers"]], [7, 130, 7], "exits")
    run = launched(bench, 60, "--restart", "3")
    for pid in run.peers().values():
        os.kill(pid, signal.SIGSTOP)
    run.process.send_signal(signal.SIGINT)
    wait_for(lambda: run.line_with("interrupted"), "the first interrupt is acknowledged", 10)
    run.process.send_signal(signal.SIGINT)  # which kills them
    output = run.expect(130, 10)
    check("died" not in output, output)


def case_back_at_the_end(bench):
    """A process comes back while the others are in the final exchange: it takes what they have
    agreed on."""
    fleet = fleet_that_trains(bench, paced_file(bench, 3, 5), "abc")
    wait_for(lambda: fleet.last("a", "progress") > 0.8, "nearly done", 20)
    fleet.kill("c")
    wait_for(lambda: fleet.last("a", "phase") == "finishing" or fleet.ended("a"),
             "a is in the final exchange", 20)
    fleet.start("c")
    fleet.check_finished("abc")


def case_back_too_late(bench):
    """The others are gone before one that was started again has found them: it neither waits for
    them nor trains alone, and the run ends well."""
    run = launched(bench, 4, "--restart", "1", exchange="leave_timeout_s: 0")
    # What is left takes less than the half second after which it is started again.
    wait_for(lambda: bench.metrics("a")[-1]["progress"] > 0.9, "nearly done", 20)
    kill_child(run, "c")
    run.expect(0, 30)
    summary = bench.summary()
    check_equal(summary["replicas_identical"], True, "replicas_identical")
    check_equal(summary["finished_with"][:2], ["a", "b"], "finished_with")


def case_exit_zero(bench):
    """For whoever starts again all that does not exit 0, what ended by itself does, and says so."""
    file = bench.file(2, exchange="start_wait_s: 1, start_peers_min: 2")
    output = bench.start("train", file, "--peer", "a", "--exit-zero").expect(0, 20)
    check("stopped: only 1 of 2 peers came" in output, output)
    check("exit 0 instead of 2 (--exit-zero)" in output, output)
    output = bench.start("train", file, "--peer", "nobody", "--exit-zero").expect(2, 20)
    check("exit 0 instead" not in output, output)
