"""Cases of e2e_test.py: an elastic ring, whose members come and go."""

import os
import signal
import time

from bench import check, check_equal, wait_for

# Beside the time in which a loss is noticed, what the members take to go on; seconds.
RECOVERY_MAX_S = 2
LIFE_TIMEOUT_S = 2
ELASTIC = "mode: ring, elastic: true, start_wait_s: 20"


def train(bench, peers, seconds, *words, exchange=ELASTIC):
    """Launches peers whose training takes about so long, and waits until all train."""
    batch, compute_ms = 64, 10
    samples = int(peers * seconds * 1000 / compute_ms) * batch
    file = bench.file(peers, exchange=exchange,
                      model=f"{{name: synthetic, parameters: 200000, compute_ms: {compute_ms}, "
                            f"samples: {samples}}}",
                      training="learning_rate: 0.01, evaluate_every: 0")
    run = bench.launch(file, *words)
    names = [chr(ord("a") + number) for number in range(peers)]
    # Until then the newest folder may be that of a run before.
    wait_for(lambda: run.process.poll() is not None or len(run.peers()) == peers, "all peers start")
    wait_for(lambda: run.process.poll() is not None or all(newest_round(bench, n) for n in names),
             "all peers train")
    check(run.process.poll() is None, f"launch ended at once; it said:\n{run.output()}")
    return run


def newest_round(bench, name):
    lines = bench.metrics(name)
    return lines[-1]["round"] if lines else 0


def check_goes_on(bench, run, names, killed_at):
    """A new round within the time allowed: seen in metrics, which come once a second."""
    before = {name: newest_round(bench, name) for name in names}
    wait_for(lambda: run.process.poll() is not None or all(
        newest_round(bench, name) > before[name] + 5 for name in names), "the others go on", 10)
    took = time.monotonic() - killed_at
    allowed = LIFE_TIMEOUT_S + RECOVERY_MAX_S + 2  # two lines of the metrics
    check(took < allowed, f"they went on after {took:.1f} s, not within {allowed}")
    return took


def case_elastic_kill_each_of_four(bench):
    """kill -9 of any one of four: the others go on at once, and end with the same."""
    for victim in "abcd":
        run = train(bench, 4, 8)
        os.kill(run.peers()[victim], signal.SIGKILL)
        others = [name for name in "abcd" if name != victim]
        took = check_goes_on(bench, run, others, time.monotonic())
        run.expect(0)
        summary = bench.summary()
        check_equal(summary["finished_with"], others, "finished_with")
        check_equal(summary["replicas_identical"], True, "replicas_identical")
        check_equal(summary["lost_peers"], [victim], "lost_peers")
        peers = {peer["name"]: peer for peer in summary["peers"]}
        check_equal(len({peers[name]["digest"] for name in others}), 1, "digests")
        check_equal(len({peers[name]["rounds"] for name in others}), 1, "rounds")
        print(f"       {victim} killed: on after {took:.2f} s", flush=True)


def case_elastic_comes_back(bench):
    """A process that is started again takes over what the others hold, and ends with them."""
    run = train(bench, 4, 14, "--restart", "3")
    for victim in "ca":
        os.kill(run.peers()[victim], signal.SIGKILL)
        wait_for(lambda: "comes in after round" in bench.log(victim), f"{victim} comes in", 20)
        reached = newest_round(bench, "b")
        wait_for(lambda: newest_round(bench, victim) > reached, f"{victim} trains again", 20)
    run.expect(0)
    summary = bench.summary()
    check_equal(summary["finished_with"], list("abcd"), "finished_with")
    check_equal(summary["replicas_identical"], True, "replicas_identical")
    check_equal(len({peer["digest"] for peer in summary["peers"]}), 1, "digests")


def case_elastic_down_to_one(bench):
    """The first goes too; who is left alone finishes."""
    run = train(bench, 3, 12, exchange=ELASTIC + ", start_peers_min: 1")
    for victim in "ac":
        os.kill(run.peers()[victim], signal.SIGKILL)
        check_goes_on(bench, run, ["b"], time.monotonic())
    run.expect(0)
    check_equal(bench.summary()["finished_with"], ["b"], "finished_with")


def case_elastic_leaves(bench):
    """SIGTERM to one peer, the first: it goes with 143, and the others go on."""
    run = train(bench, 3, 8)
    os.kill(run.peers()["a"], signal.SIGTERM)
    check_goes_on(bench, run, ["b", "c"], time.monotonic())
    run.expect(0)
    summary = bench.summary()
    check_equal(summary["finished_with"], ["b", "c"], "finished_with")
    peers = {peer["name"]: peer for peer in summary["peers"]}
    check_equal(peers["a"]["exit"], 143, "exit of a")


def case_elastic_accuracy(bench):
    """Kills and returns cost next to nothing of what is learned."""
    training = "epochs: 1, learning_rate: 0.05"
    accuracy = {}
    for restarts in (False, True):
        file = bench.file(4, model="lenet", training=training,
                          exchange=ELASTIC + ", start_peers_min: 1")
        run = bench.launch(file, *(["--restart", "9"] if restarts else []))
        wait_for(lambda: run.process.poll() is not None or len(run.peers()) == 4, "all start")
        for victim in "cad" if restarts else "":
            reached = newest_round(bench, "b")
            wait_for(lambda: run.process.poll() is not None or
                     newest_round(bench, "b") > reached + 10, "b trains")
            if run.process.poll() is None and victim in run.peers():
                os.kill(run.peers()[victim], signal.SIGKILL)
        run.expect(0)
        summary = bench.summary()
        check_equal(summary["replicas_identical"], True, "replicas_identical")
        accuracy[restarts] = summary["accuracy"]
        died = sum(peer["restarts"] for peer in summary["peers"]) if restarts else 0
        check(died >= 2 or not restarts, f"only {died} were killed and came back")
    print(f"       accuracy {accuracy}", flush=True)
    check(accuracy[True] > accuracy[False] - 0.005, f"kills cost accuracy: {accuracy}")
