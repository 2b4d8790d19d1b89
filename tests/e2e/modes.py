"""Cases of e2e_test.py: the other modes than ako, and what the loss of a peer is to each."""

import os
import signal
import time

from bench import check, check_all_identical, check_equal, wait_for

TRAINING = "epochs: 0.5, learning_rate: 0.05"
SERVERS = "exchange.mode=parameter-server"


def sets(*overrides):
    return [word for override in overrides for word in ("--set", override)]


def long_run(bench, peers, *overrides):
    """Launches peers that train for a minute if nobody ends them, and waits until all do."""
    file = bench.file(peers, model="{name: synthetic, parameters: 50000, compute_ms: 10, "
                                   f"samples: {peers * 6000 * 64}}}",
                      training="learning_rate: 0.01, evaluate_every: 0")
    run = bench.launch(file, *sets(*overrides))
    names = [chr(ord("a") + number) for number in range(peers)]
    wait_for(lambda: run.process.poll() is not None or all(
        any(line["round"] > 0 or line["phase"] == "serving" for line in bench.metrics(name))
        for name in names), "all peers train")
    check(run.process.poll() is None, f"launch ended at once; it said:\n{run.output()}")
    return run


def case_modes(bench):
    """Every mode trains, and all its peers end with the same."""
    file = bench.file(3, training=TRAINING)
    accuracy = {}
    for mode in (["exchange.mode=ring"], ["exchange.mode=local-sgd", "exchange.local_rounds=8"],
                 [SERVERS], [SERVERS, "exchange.servers=3"],
                 [SERVERS, "exchange.servers=2", "exchange.consistency={ssp: 2}"],
                 [SERVERS, "exchange.consistency=async"]):
        bench.launch(file, *sets(*mode)).expect(0)
        summary = check_all_identical(bench, 3)
        check(summary["accuracy"] > 0.88, f"{mode}: accuracy {summary['accuracy']}")
        accuracy[" ".join(mode)] = summary["accuracy"]
        check_equal(bench.summary()["lost_peers"], [], "lost peers")
    # The same steps, but for the order of additions.
    check(abs(accuracy["exchange.mode=ring"] - accuracy[SERVERS]) < 0.005, f"{accuracy}")


def case_accumulate(bench):
    """A batch in parts is the same batch, and tells the noise of its gradient."""
    file = bench.file(2, training=TRAINING + ", batch: 64")
    for mode in ("ring", "ako"):
        accuracy = []
        for parts in (1, 4):
            bench.launch(file, *sets(f"exchange.mode={mode}",
                                     f"training.batch.accumulate={parts}")).expect(0)
            accuracy.append(check_all_identical(bench, 2)["accuracy"])
            known = [line["noise_scale"] for line in bench.metrics("a")
                     if line["noise_scale"] is not None]
            check_equal(bool(known), parts > 1, f"a noise scale in {mode} with {parts} parts")
        if mode == "ring":  # the same steps, but for the order of additions
            check(abs(accuracy[0] - accuracy[1]) < 0.005, f"{accuracy}")


def case_global_batch(bench):
    """The batch of all peers stays as it is when one of them is lost: the others take more each."""
    run = long_run(bench, 3, "training.batch={local: 32, global_target: 96}")

    def share(name):
        """Samples of the newest rounds of this peer, each."""
        lines = bench.metrics(name)[-2:]
        rounds = lines[-1]["round"] - lines[0]["round"]
        return (lines[-1]["samples"] - lines[0]["samples"]) / rounds if rounds > 0 else 0

    for name in "abc":
        wait_for(lambda name=name: share(name) == 32, f"{name} has a third of the batch")
    kill(run, "c")
    for name in "ab":
        wait_for(lambda name=name: share(name) == 48, f"{name} has half of the batch")
    run.process.send_signal(signal.SIGINT)
    run.expect(130)


def learners_seen(bench, name):
    return [line["learners"] for line in bench.metrics(name) if line["round"] > 0]


def case_learners(bench):
    """Several replicas of one peer, in every mode that takes them; auto finds out how many."""
    file = bench.file(2, training=TRAINING + ", batch: 16")
    for mode in ("sma", "ako"):
        bench.launch(file, *sets(f"exchange.mode={mode}", "training.learners=2")).expect(0)
        summary = check_all_identical(bench, 2)
        check(summary["accuracy"] > 0.9, f"{mode}: accuracy {summary['accuracy']}")
        check_equal(set(learners_seen(bench, "a")), {2}, f"learners of a in {mode}")
        if mode == "sma":  # in lockstep: a round takes the batches of two learners of two peers
            check_equal({peer["rounds"] for peer in summary["peers"]}, {-(-30_000 // 64)}, "rounds")
    digests = set()
    for _ in range(2):
        bench.launch(file, *sets("exchange.mode=local", "training.learners=3")).expect(0)
        digests.add(bench.summary()["digest"])
        check(bench.summary()["accuracy"] > 0.9, f"local: {bench.summary()['accuracy']}")
    check_equal(len(digests), 1, "digests of two runs, whatever their threads did")
    # A gradient is 20 ms of sleep: a second learner is worth as much as the first.
    file = bench.file(2, model="{name: synthetic, parameters: 5000, compute_ms: 20, samples: 6000}",
                      training="batch: 8, learning_rate: 0.01, evaluate_every: 0")
    output = bench.launch(file, *sets("training.learners=auto")).expect(0)
    check_all_identical(bench, 2)
    if os.cpu_count() > 1:
        check(max(learners_seen(bench, "a")) > 1, f"auto stayed with one learner:\n{output}")
        check("learners: 2 (" in output, output)


def case_sma_auto(bench):
    """Each peer of model averaging finds its own number of learners, and all count alike what they
    made together: they end after the same round, with the budget spent and hardly more."""
    samples = 12_000
    file = bench.file(2, model="{name: synthetic, parameters: 5000, compute_ms: 20, "
                               f"samples: {samples}}}",
                      training="batch: 16, learning_rate: 0.01, learners: auto, "
                               "evaluate_every: 0", exchange="mode: sma")
    output = bench.launch(file).expect(0)
    summary = check_all_identical(bench, 2)
    check_equal(len({peer["rounds"] for peer in summary["peers"]}), 1, "different rounds")
    # What the last two rounds take may differ from what was foreseen.
    a_round = 16 * sum(max(learners_seen(bench, name)) + 1 for name in "ab")
    check(abs(summary["samples"] - samples) <= 2 * a_round, f"{summary['samples']} samples")
    check_equal(summary["samples"], sum(peer["samples"] for peer in summary["peers"]), "samples")
    if os.cpu_count() > 1:
        check(max(max(learners_seen(bench, name)) for name in "ab") > 1,
              f"auto stayed with one learner:\n{output}")


def case_dedicated_server(bench):
    file = bench.file(3, training=TRAINING)
    dedicated = [SERVERS, "exchange.placement=dedicated", "peers.2.role=server"]
    output = bench.launch(file, *sets(*dedicated)).expect(0)
    summary = bench.summary()
    check_equal(summary["finished_with"], ["a", "b", "c"], "finished_with")
    check_equal(summary["replicas_identical"], True, "replicas_identical")
    peers = {peer["name"]: peer for peer in summary["peers"]}
    check_equal(peers["c"]["samples"], 0, "samples of a server")
    check_equal(peers["a"]["samples"] + peers["b"]["samples"], 30000 // 128 * 128 + 128,
                "samples of the workers")
    # Per round: both gradients in, both answers out.
    check(peers["c"]["ingress_bytes"] > 1.9 * peers["a"]["egress_bytes"], "bytes into the server")
    check("replicas identical: yes" in output, "the last words")


def case_local_mode(bench):
    """No exchange: every peer has its own parameters, which is no failure."""
    file = bench.file(2, training=TRAINING)
    output = bench.launch(file, *sets("exchange.mode=local")).expect(0)
    check("trained alone" in output, "that nobody is compared")
    check_equal(bench.summary()["egress_bytes"], 0, "bytes sent")
    for name in ("model", "model-b"):
        check(os.path.exists(bench.path(f"{name}.safetensors")), f"{name} of its own")


def kill(run, name):
    os.kill(run.peers()[name], signal.SIGKILL)
    return time.monotonic()


def check_broken(bench, run, killed_at, victim, survivors):
    output = run.expect(5, seconds=20)
    took = time.monotonic() - killed_at
    check(took < 5, f"the others ended after {took:.1f} s, not within 5")
    peers = {peer["name"]: peer for peer in bench.summary()["peers"]}
    for name in survivors:
        check_equal(peers[name]["exit"], 5, f"exit of {name}")
    for name in survivors:
        check(f"peer {victim} is gone" in peers[name]["why"],
              f"{name} says who was lost; it said:\n{output}")


def case_ring_loses_a_peer(bench):
    run = long_run(bench, 3, "exchange.mode=ring")
    check_broken(bench, run, kill(run, "c"), "c", "ab")


def case_ring_peer_hangs(bench):
    """One that hangs is as good as lost, and the others do not wait for it for ever."""
    run = long_run(bench, 3, "exchange.mode=ring", "exchange.life_timeout_ms=2000")
    stopped = run.peers()["c"]
    os.kill(stopped, signal.SIGSTOP)
    try:
        for name in "ab":
            _, line = wait_for(lambda: run.line_with(f" {name} ", "stopped: peer"),
                               f"{name} gives up")
            check("peer c is gone" in line, f"{name} names who hangs; it said: {line}")
    finally:
        os.kill(stopped, signal.SIGKILL)
    run.expect(5)


def case_server_loses_a_worker(bench):
    run = long_run(bench, 3, SERVERS, "training.epochs=0.1")
    kill(run, "c")
    run.expect(0)
    summary = bench.summary()
    check_equal(summary["finished_with"], ["a", "b"], "finished_with")
    check_equal(summary["lost_peers"], ["c"], "lost_peers")
    check_equal(summary["replicas_identical"], True, "replicas_identical")


def case_workers_lose_a_server(bench):
    run = long_run(bench, 3, SERVERS, "exchange.placement=dedicated", "peers.2.role=server")
    check_broken(bench, run, kill(run, "c"), "c", "ab")


def case_ring_interrupted(bench):
    """Ctrl-C: all stop after the same round and end alike."""
    run = long_run(bench, 3, "exchange.mode=ring")
    run.process.send_signal(signal.SIGINT)
    run.expect(130, seconds=20)
    rounds = {peer["rounds"] for peer in bench.summary()["peers"]}
    check_equal(len(rounds), 1, "different numbers of rounds")
    check_equal(bench.summary()["replicas_identical"], True, "replicas_identical")
