"""Cases of e2e_test.py: where `ako launch` starts its peers and leaves its results."""

import json
import os
import signal

from bench import check, check_all_identical, check_equal, wait_for

SHORT = dict(model="{name: synthetic, parameters: 5000, compute_ms: 1, samples: 12800}",
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
    wait_for(lambda: len(run.peers()) == 2 and all(map(bench.metrics, "ab")), "both train")
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
    check("could not start" in output and "/nowhere1" in output, output)
    check("before it began" in bench.summary()["peers"][0]["why"], "why of a")


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
