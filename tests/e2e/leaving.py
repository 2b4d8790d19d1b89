"""Cases of e2e_test.py: peers that are asked to leave (SIGTERM) while the others go on, and data
shards that follow those who are there."""

import json
import os
import shutil
import signal
import time

from bench import check, check_equal, has_trained, newest_run, wait_for

LEFT, INTERRUPTED, STOPPED_EARLY = 143, 130, 7
SERVER = ("exchange.mode=parameter-server", "exchange.placement=dedicated", "peers.3.role=server")


def model(peers, seconds, parameters=50000):
    """Training of about so long, whatever the machine."""
    return f"{{name: synthetic, parameters: {parameters}, compute_ms: 10, " \
           f"samples: {peers * seconds * 100 * 64}}}"


def sets(*overrides):
    return [word for override in overrides for word in ("--set", override)]


def machines(bench, peers, seconds, *overrides, **keys):
    """Peers started one by one, as on several machines, once all of them train."""
    names = "abcdef"[:peers]
    for name in names:  # what an earlier run of the case has left must not pass for this one's
        shutil.rmtree(os.path.join(bench.folder, f"out-{name}"), ignore_errors=True)
    file = bench.file(peers, model=model(peers, seconds),
                      training="learning_rate: 0.01, evaluate_every: 0", **keys)
    runs = {name: bench.start("train", file, "--peer", name, "--set", f"output=out-{name}",
                              *sets(*overrides)) for name in names}
    workers = [name for name in names if name != "d" or overrides != SERVER]
    wait_for(lambda: all(trains(bench, name) for name in workers), "all train")
    return runs


def folder(bench, name):
    return newest_run(os.path.join(bench.folder, f"out-{name}"))


def trains(bench, name):
    path = os.path.join(folder(bench, name), f"metrics-{name}.jsonl")
    if not os.path.exists(path):
        return False
    with open(path) as file:
        return any(json.loads(line)["round"] > 0 for line in file if line.endswith("\n"))


def read(bench, name, file):
    with open(os.path.join(folder(bench, name), file)) as text:
        return json.load(text)


def case_leave(bench):
    """One of launch's peers leaves: it is told from a loss, and the run goes on to its end."""
    file = bench.file(3, training="epochs: 6, batch: 16, evaluate_every: 0")
    run = bench.launch(file)
    wait_for(lambda: all(has_trained(bench, name) for name in "abc"), "all train")
    os.kill(run.peers()["b"], signal.SIGTERM)
    asked_at = time.monotonic()
    wait_for(lambda: "b" not in run.peers() or run.process.poll() is not None, "b has gone", 20)
    took = time.monotonic() - asked_at
    check(took < 5, f"b was gone after {took:.1f} s")
    output = run.expect(0)
    summary = bench.summary()
    check_equal(summary["finished_with"], ["a", "c"], "finished_with")
    check_equal((summary["lost_peers"], summary["lost_shards"]), ([], []), "lost")
    check_equal([peer["exit"] for peer in summary["peers"]], [0, LEFT, 0], "exits")
    check_equal(len(summary["left_peers"]), 1, "peers that left")
    left = summary["left_peers"][0]
    b = summary["peers"][1]
    check_equal((left["peer"], left["cause"], left["rounds"], left["samples"], left["seen"]),
                ("b", "left", b["rounds"], 20000, b["samples"]), "who left, and what it had seen")
    check_equal(left["unseen"], max(0, 20000 - left["seen"]), "unseen")
    check(0 < left["at"] < 1, f"when: {left}")
    said = f"b left at {int(100 * left['at'])} % of the budget, after {left['rounds']:,} rounds"
    check(said in output, f"{said!r} in:\n{output}")
    with open(bench.path("result-b.json")) as text:
        result = json.load(text)
    check_equal((result["ending"], result["handed_to"], result["agreed"]),
                ("left", ["a", "c"], False), "how b ended")
    check(not os.path.exists(bench.path("model-b.safetensors")), "the model is the others'")
    check("peer b has left, and the run goes on" in output, output)
    check("is lost" not in output and "session ended" not in output, output)


def case_leave_machines(bench):
    """As `docker stop`, `systemctl stop` or the notice of a spot machine does it: to one, then to
    all that are left."""
    runs = machines(bench, 4, 30)
    runs["c"].process.send_signal(signal.SIGTERM)
    output = runs["c"].expect(LEFT, 20)
    check("all that it learned is at a, b, d" in output, output)
    check_equal(read(bench, "c", "summary.json")["exit"], LEFT, "exit in its summary")
    check(not os.path.exists(os.path.join(folder(bench, "c"), "model.safetensors")), "no model")
    wait_for(lambda: any(link["peer"] == "c" and link["presence"] == "left"
                         for link in newest_line(bench, "a")["links"]), "a knows that c left", 10)
    made = newest_line(bench, "a")["round"]
    wait_for(lambda: newest_line(bench, "a")["round"] > made + 50, "a goes on", 10)
    for name in "abd":
        runs[name].process.send_signal(signal.SIGTERM)
    exits = {name: runs[name].wait(20) for name in "abd"}
    check(set(exits.values()) <= {LEFT, INTERRUPTED}, f"exits: {exits}")
    together = [name for name in "abd" if exits[name] == INTERRUPTED]
    check(together, f"somebody ended the run: {exits}")
    for name in together:
        summary = read(bench, name, "summary.json")
        check_equal((summary["finished_with"], summary["replicas_identical"]), (together, True),
                    f"{name} finished with")
        check("c" in [left["peer"] for left in summary["left_peers"]], f"{summary['left_peers']}")
        check(os.path.exists(os.path.join(folder(bench, name), "model.safetensors")), "the model")


def newest_line(bench, name):
    with open(os.path.join(folder(bench, name), f"metrics-{name}.jsonl")) as file:
        return [json.loads(line) for line in file if line.endswith("\n")][-1]


def case_leave_other_modes(bench):
    """A worker of a parameter server leaves alone; whom the others cannot do without, stops for
    all."""
    runs = machines(bench, 4, 6, *SERVER)
    runs["b"].process.send_signal(signal.SIGTERM)
    output = runs["b"].expect(LEFT, 20)
    check("all that it learned is at d" in output, output)
    for name in "acd":
        runs[name].expect(0, 60)
        summary = read(bench, name, "summary.json")
        workers = [] if name == "d" else ["a", "c"]  # a server of its own finishes with nobody
        check_equal((summary["finished_with"], summary["lost_peers"]), (workers, []),
                    f"{name} finished with")
        check_equal([left["peer"] for left in summary["left_peers"]], ["b"], "who left")

    runs = machines(bench, 3, 30, "exchange.mode=ring")
    runs["b"].process.send_signal(signal.SIGTERM)
    for name, status in (("b", INTERRUPTED), ("a", STOPPED_EARLY), ("c", STOPPED_EARLY)):
        output = runs[name].expect(status, 30)
        check("peer b asked for it" in output, output)
    check("the others cannot go on without this peer" in runs["b"].output(), runs["b"].output())


def case_elastic(bench):
    """Data shards follow the peers that are there: the others see what one that left has not."""
    # Some seconds of training, for on a busy machine what is seen of it comes late.
    file = bench.file(3, training="epochs: 12, batch: 16, evaluate_every: 0")
    run = bench.launch(file, *sets("data.sharding=elastic"))
    wait_for(lambda: all(has_trained(bench, name) for name in "abc"), "all train")
    os.kill(run.peers()["b"], signal.SIGTERM)
    output = run.expect(0)
    summary = bench.summary()
    check_equal(summary["finished_with"], ["a", "c"], "finished_with")
    seen = summary["seen"]
    check_equal((seen["samples"], summary["left_peers"][0]["samples"]), (60000, None), "samples")
    once = seen["passes"] * seen["samples"] + seen["of_next"] + seen["of_after"]
    check_equal(seen["repeated"], summary["samples"] - once, "repeated")
    check(seen["passes"] >= 11, f"passes: {seen}")
    check(seen["repeated"] < 0.08 * summary["samples"], f"{seen} of {summary['samples']} samples")
    check(f"all 60,000 samples were seen {seen['passes']} times" in output, output)
    output = bench.start("check", file, *sets("data.sharding=elastic")).expect(0, 20)
    check("of all 60,000, in 512 portions a pass" in output, output)
