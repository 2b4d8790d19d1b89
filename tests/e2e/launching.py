"""Cases of e2e_test.py: where `ako launch` starts its peers and leaves its results."""

import json
import os
import signal

from bench import check, check_all_identical, check_equal, has_trained, wait_for

SHORT = dict(model="{name: synthetic, parameters: 5000, compute_ms: 1, samples: 256000}",
             training="learning_rate: 0.01, evaluate_every: 0")


def environment(pid):
    with open(f"/proc/{pid}/environ") as file:
        return dict(entry.split("=", 1) for entry in file.read().split("\0") if "=" in entry)


def case_launch_in(bench):
    """Peers started through a command: it gets their names and numbers, signals reach them, and
    nothing is missing in the summary. Their ports are not looked at from here."""
    file = bench.file(2, **SHORT)
    bench.start("launch", file, "--in", "env AKO_TEST_PEER={name}-{number}").expect(0)
    check_all_identical(bench, 2)
    run = bench.start("launch", file, "--in", "env  AKO_TEST_PEER={name}-{number}", "--set",
                      "training.epochs=1000")
    wait_for(lambda: len(run.peers()) == 2 and all(has_trained(bench, name) for name in "ab"),
             "both train")
    peers = run.peers()
    check_equal({name: environment(pid).get("AKO_TEST_PEER") for name, pid in peers.items()},
                {"a": "a-1", "b": "b-2"}, "what the command was given")
    check_equal({os.readlink(f"/proc/{pid}/exe") for pid in peers.values()}, {bench.ako},
                "the program of the peers")
    run.process.send_signal(signal.SIGINT)
    run.expect(130, 30)
    check_equal(bench.summary()["replicas_identical"], True, "replicas_identical")

    output = bench.launch(file, "--in", "env").expect(2, 10)
    check("--in" in output and "--free-ports" in output, output)
    output = bench.start("launch", file, "--in", "./nothing here").expect(2, 10)
    check("./nothing is not a program" in output, output)
    # A command that fails keeps nobody waiting.
    output = bench.start("launch", file, "--in", "ls /nowhere{number} --").expect(2, 20)
    check("could not start" in output and "--peer" in output, output)
    # The other may have been stopped before its command had come so far.
    check(any("before it began" in peer["why"] for peer in bench.summary()["peers"]), "why")


def case_output_dir(bench):
    """Results exactly there, in a folder that is new or empty."""
    file = bench.file(2, **SHORT)
    folder = os.path.join(bench.folder, "some", "where")
    output = bench.launch(file, "--output-dir", "some/where").expect(0)
    check(f"results: {folder}\n" in output + "\n", output)
    with open(os.path.join(folder, "summary.json")) as summary:
        check_equal(json.load(summary)["replicas_identical"], True, "replicas_identical")
    for name in ("config.yaml", "model.safetensors", "result-a.json", "metrics-b.jsonl"):
        check(os.path.exists(os.path.join(folder, name)), f"{name} in the folder")
    check(not os.path.exists(os.path.join(bench.folder, "runs")), "no other folder is made")
    check("is not empty" in bench.launch(file, "--output-dir", folder).expect(2, 10), "refused")
    check("cannot be made" in bench.launch(file, "--output-dir", file).expect(2, 10), "refused")


def curve(bench, folder):
    with open(os.path.join(bench.folder, folder, "curve.json")) as file:
        return json.load(file)


def check_curve(found, how, peer, marks, epochs, size=60000):
    check_equal((found["evaluated"], found["peer"]), (how, peer), "evaluated, peer")
    points = found["points"]
    check_equal(len(points), marks + 1, "points of the curve")
    for before, after in zip(points, points[1:]):
        for key in ("seconds", "round", "samples", "progress"):
            check(before[key] < after[key], f"{key} rises: {before}, {after}")
    check_equal(points[-1]["progress"], 1, "progress of the last point")
    check(points[-1]["accuracy"] > 0.85 and points[-1]["loss"] < 0.6, f"the last: {points[-1]}")
    # Peers hear of one another's samples every 50 ms, and this is over in less than a second: at
    # the end some are trained on that were not needed.
    last = points[-1]["samples"] / (epochs * size)
    check(1 <= last < 1.25, f"{last} of the budget at the end")
    for point in points[:-1]:
        expected = point["progress"] * epochs * size
        check(abs(point["samples"] - expected) <= 0.02 * epochs * size, f"samples of {point}")


def check_figures(peer):
    """The figures of one peer agree with one another."""
    round_ms = peer["round_ms"]
    check(0 < round_ms["p10"] <= round_ms["p50"] <= round_ms["p90"] <= round_ms["p99"] <=
          round_ms["max"], f"{round_ms}")
    check(0 < peer["gradient_ms"]["p50"] < round_ms["p99"], f"{peer['gradient_ms']}")
    check(0 <= peer["wait_ms"]["p50"] < round_ms["p99"], f"{peer['wait_ms']}")
    check(0 < peer["compute_share"] < 1, f"compute_share {peer['compute_share']}")
    check(0 < peer["cpu_seconds"] < 3 * peer["train_seconds"], f"{peer['cpu_seconds']} CPU s")
    for key, total in (("samples_per_s", peer["samples"] / peer["train_seconds"]),
                       ("cpu_ms_per_round", 1e3 * peer["cpu_seconds"] / peer["rounds"])):
        check(abs(peer[key] / total - 1) < 0.01, f"{key}: {peer[key]}, found {total}")
    for way in ("egress", "ingress"):
        sent = peer[f"{way}_bytes_per_round"] * peer["rounds"]
        check(0 < sent <= peer[f"{way}_bytes"], f"{way}: {sent} of {peer[f'{way}_bytes']}")
    check(peer["partitions"] > 0 and peer["staleness_rounds"] >= 0, f"{peer}")


def case_evaluate_after(bench):
    """Nobody evaluates while training; launch does when all have ended, and gets what a model
    saved at the end gets. So does a peer that was started alone."""
    file = bench.file(2, training="epochs: 1, evaluate_every: 0.2, evaluate: after",
                      exchange="link_mbit: 50")
    output = bench.launch(file, "--output-dir", "one").expect(0)
    check("evaluated 4 of 4 milestones of a" in output, output)
    found = curve(bench, "one")
    check_curve(found, "after", "a", 4, 1)
    check_equal(set(found["began"]), {"a", "b"}, "peers whose beginning is known")
    check_equal(min(found["began"].values()), 0, "when the first began")
    for name in "ab":
        with open(os.path.join(bench.folder, "one", f"metrics-{name}.jsonl")) as lines:
            check(all(json.loads(line)["accuracy"] is None for line in lines), "no verdict")
    left = [name for name in os.listdir(os.path.join(bench.folder, "one")) if "milestone" in name]
    check_equal(left, [], "milestone files that are left")
    with open(os.path.join(bench.folder, "one", "summary.json")) as text:
        summary = json.load(text)
    for peer in summary["peers"]:
        check_figures(peer)
    check_equal(curve(bench, "one")["points"][-1]["accuracy"], summary["accuracy"], "the last")

    bench.launch(file, "--output-dir", "two", "--keep-milestones").expect(0)
    each = 40 + 4 * 101770
    sizes = {name: os.path.getsize(os.path.join(bench.folder, "two", f"milestones-{name}.bin"))
             for name in "ab"}
    check_equal(sizes, {"a": 16 + 4 * each, "b": 16}, "bytes of the milestone files")

    alone = bench.file(1, training="epochs: 0.5, evaluate_every: 0.1, evaluate: after")
    bench.start("train", alone, "--peer", "a", "--set", "output=out").expect(0)
    check_curve(curve(bench, "out/latest"), "after", "a", 4, 0.5)
    output = bench.launch(file, "--set", "training.target_accuracy=0.9").expect(2, 20)
    check("null with training.evaluate: after" in output, output)


def case_evaluate_during(bench):
    file = bench.file(2, training="epochs: 1, evaluate_every: 0.25, batch: 32")
    bench.launch(file, "--output-dir", "one").expect(0)
    found = curve(bench, "one")
    check_curve(found, "during", "a", len(found["points"]) - 1, 1)
    check(len(found["points"]) >= 3, f"points of {found}")
