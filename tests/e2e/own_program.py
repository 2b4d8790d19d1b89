"""Cases of e2e_test.py: programs of the user's that use Ako as a library, under `ako launch` and by
themselves. The program is tests/library/line_fit.c, a C compiler's own."""

import json
import os
import signal
import subprocess

from bench import check, check_all_identical, check_equal, has_trained, wait_for

EXTERNAL = dict(model="external")
LONG = dict(EXTERNAL, training="epochs: 1000000")


def program(bench):
    return os.path.join(os.path.dirname(bench.ako), "tests", "library", "line_fit")


def start_long(bench, peers):
    run = bench.launch(bench.file(peers, **LONG), "--", program(bench))
    names = [chr(ord("a") + number) for number in range(peers)]
    wait_for(lambda: all(has_trained(bench, name) for name in names), "all peers train")
    return run


def pids(bench, run):
    """Process ids of the programs by the peer that each is."""
    found = {}
    with open(f"/proc/{run.process.pid}/task/{run.process.pid}/children") as file:
        for child in file.read().split():
            with open(f"/proc/{child}/environ") as variables:
                given = dict(entry.split("=", 1) for entry in variables.read().split("\0") if entry)
            found[given["AKO_PEER"]] = int(child)
    return found


def case_own_program(bench):
    """Three peers fit one line, and all that `ako train` leaves is there."""
    file = bench.file(3, training="epochs: 60", **EXTERNAL)
    output = bench.launch(file, "--", program(bench)).expect(0)
    summary = check_all_identical(bench, 3)
    check_equal(summary["accuracy"], 1.0, "the line is found")
    check(summary["samples"] >= 60 * 4096, f"samples {summary['samples']}")
    check(f"replicas identical: yes ({summary['digest'][:16]})" in output, output)
    for name in ("config.yaml", "model.safetensors", "curve.json", "result-b.json",
                 "metrics-c.jsonl", "log-a.txt"):
        check(os.path.exists(bench.path(name)), f"{name} in the run folder")
    line = bench.metrics("a")[-1]
    check(line["loss"] is not None and line["samples"] > 0, f"the last line of metrics: {line}")
    # Names and numbers in its words.
    bench.launch(file, "--", "env", "WHO={name}-{number}", program(bench)).expect(0)


def case_own_program_alone(bench):
    """Each by itself, as on machines of their own."""
    file = bench.file(2, training="epochs: 60", **EXTERNAL)
    started = [subprocess.Popen([program(bench), file, name], cwd=bench.folder, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE) for name in "ab"]
    said = [process.communicate(timeout=60) for process in started]
    check_equal([process.returncode for process in started], [0, 0], f"exits; {said}")
    reports = [json.loads(out) for out, _ in said]
    check_equal([report["finished_with"] for report in reports], [["a", "b"]] * 2, "finished_with")
    check_equal(len({report["digest"] for report in reports}), 1, "digests")
    check("listens at" in said[0][1] and "replicas identical: yes" in said[0][1], said[0][1])


def case_own_program_dies(bench):
    """Killed, asked to leave and interrupted: as for peers of `ako train`."""
    run = start_long(bench, 5)
    peers = pids(bench, run)
    os.kill(peers["e"], signal.SIGKILL)
    os.kill(peers["d"], signal.SIGTERM)
    wait_for(lambda: "peer d has left" in bench.log("a"), "d has left")
    wait_for(lambda: "peer e is lost" in bench.log("a"), "e is missed")
    run.process.send_signal(signal.SIGINT)
    run.expect(130, 30)
    summary = bench.summary()
    check_equal({peer["name"]: peer["exit"] for peer in summary["peers"]},
                {"a": 130, "b": 130, "c": 130, "d": 143, "e": -9}, "exits")
    check_equal(summary["finished_with"], ["a", "b", "c"], "finished_with")
    check_equal([left["peer"] for left in summary["left_peers"]], ["d"], "left_peers")


def case_own_program_restarted(bench):
    """It takes its row over from the others, as a peer of `ako train` does."""
    run = bench.launch(bench.file(3, **LONG), "--restart", "1", "--", program(bench))
    wait_for(lambda: all(has_trained(bench, name) for name in "abc"), "all peers train")
    os.kill(pids(bench, run)["b"], signal.SIGKILL)
    wait_for(lambda: "has joined after" in bench.log("b"), "b is back")
    run.process.send_signal(signal.SIGINT)
    run.expect(130, 30)
    summary = bench.summary()
    check_equal(summary["finished_with"], ["a", "b", "c"], "finished_with")
    check_equal(summary["replicas_identical"], True, "replicas_identical")
    check_equal([peer["restarts"] for peer in summary["peers"]], [0, 1, 0], "restarts")


def case_own_program_refused(bench):
    """What does not fit together is said before anything is started, and by whom it concerns."""
    file = bench.file(2, training="epochs: 60", **EXTERNAL)
    line_fit = program(bench)
    output = bench.launch(file).expect(2, 10)
    check("model: external" in output and "-- PROGRAM" in output, output)
    output = bench.start("train", file, "--peer", "a").expect(2, 10)
    check("model: external" in output, output)
    output = bench.launch(file, "--set", "model=mlp", "--", line_fit).expect(2, 10)
    check("there is a program after --" in output, output)
    output = bench.launch(file, "--", "./nothing").expect(2, 10)
    check("./nothing is not a program" in output, output)
    for key, value in (("exchange.mode", "ring"), ("training.checkpoint_every", "1"),
                       ("training.evaluate", "after")):
        output = bench.launch(file, "--set", f"{key}={value}", "--", line_fit).expect(2, 10)
        check(key in output and "external" in output, output)
    # A program that never becomes a peer keeps nobody waiting, and is no success.
    output = bench.launch(file, "--", "sh", "-c",
                          f'if [ "$AKO_PEER" = b ]; then exit 3; fi; exec {line_fit}').expect(2, 30)
    check("b could not start" in output, output)
    output = bench.launch(file, "--", "true").expect(2, 30)
    check("could not start" in output, output)
    wrong = subprocess.run([line_fit, file, "nobody"], cwd=bench.folder, text=True, timeout=20,
                           capture_output=True, check=False)
    check_equal(wrong.returncode, 2, wrong.stderr)
    check("nobody" in wrong.stderr, wrong.stderr)
