"""A disk that was full at the end lost the agreed model: the peer said that it could not start
(exit 2), launch stopped the others for it, and what the run had come to was not said at all."""

import json
import os
import resource
import subprocess

from bench import check, check_equal, long_run

OUTCOME = "replicas identical: yes ("
NO_METRICS = "no metrics while it cannot be written"
NO_ROWS = "no metrics as CSV while it cannot be written"


def forbid_growth(pid):
    """From now on the process may not make any file longer, as on a full disk."""
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (0, 0))


def in_order(output, *texts):
    places = [output.find(text) for text in texts]
    check(-1 not in places and places == sorted(places), f"{texts}, in this order, in:\n{output}")


def of_all(bench):
    """Nobody can write anything: the outcome is said all the same, and who refused."""
    run = long_run(bench, 2, 4)
    for pid in (*run.peers().values(), run.process.pid):
        forbid_growth(pid)
    output = run.expect(6)
    for text in (f"metrics-a.jsonl: {NO_METRICS}", "not all lines are in the log's file",
                 "result-b.json: cannot be written: File too large",
                 "model.safetensors"):
        check(text in output, f"{text!r} in:\n{output}")
    for text in (NO_METRICS, NO_ROWS):
        check_equal(output.count(text), 2, f"{text!r} is said once by each peer")
    in_order(output, "not written: ", "a: exit 6 after round", OUTCOME,
             "summary.json: cannot be written: File too large")
    check(not os.path.exists(bench.path("summary.json")), "no half of a summary")


def of_one(bench):
    """The others finish, and write what is theirs."""
    run = long_run(bench, 3, 4)
    forbid_growth(run.peers()["b"])
    in_order(run.expect(6), "result-b.json: cannot be written", "b: exit 6 after round", OUTCOME)
    summary = bench.summary()
    check_equal([peer["exit"] for peer in summary["peers"]], [0, 6, 0], "exits")
    check_equal(summary["finished_with"], ["a", "b", "c"], "finished_with")
    check_equal(summary["exit"], 6, "exit in the summary")
    check("trained and agreed, but " in summary["peers"][1]["why"], summary["peers"][1]["why"])
    for name in ("model.safetensors", "result-a.json", "result-c.json"):
        check(os.path.exists(bench.path(name)), name)


def of_some_files(bench):
    """A peer alone: what can be written is, and each file by itself."""
    folder = os.path.join(bench.folder, "out")
    os.mkdir(folder)
    for name in ("metrics-a.jsonl", "metrics-a.csv", "log-a.txt", "result-a.json.new"):
        os.symlink("/dev/full", os.path.join(folder, name))
    run = bench.start("train", bench.file(1, training="epochs: 0.3"), "--peer", "a",
                      "--output-dir", folder)
    output = run.expect(6)
    in_order(output, f"{NO_METRICS}, training goes on: No space left on device",
             f"{NO_ROWS}, training goes on: No space left on device", OUTCOME, "not written: ",
             "result-a.json: cannot be written: No space left on device")
    check(os.path.getsize(os.path.join(folder, "model.safetensors")) > 400000, "the model")
    # Its half file is gone, and so there is room for it now.
    with open(os.path.join(folder, "result-a.json")) as result:
        check_equal(json.load(result)["exit"], 6, "exit in the result")


def of_a_small_disk(bench):
    """The result finds room, the model does not. Only where this user may mount a disk."""
    private = ("unshare", "--user", "--map-root-user", "--mount")
    folder = os.path.join(bench.folder, "small")
    os.mkdir(folder)
    mount = 'mount -t tmpfs -o size=300k none "$0" && '
    if subprocess.run([*private, "sh", "-c", mount + "true", folder], check=False,
                      capture_output=True).returncode != 0:
        print("       full_disk: no disk of its own: this user may not mount one", flush=True)
        return
    run = bench.start("train", bench.file(1, training="epochs: 0.3"), "--peer", "a",
                      "--output-dir", folder,
                      before=(*private, "sh", "-c", mount + '{ "$@"; status=$?; } && '
                              'cat "$0/result-a.json" && ls "$0" && exit $status', folder))
    output = run.expect(6)
    in_order(output, OUTCOME, "not written: ", "cannot be written: No space left on device",
             '"exit": 6', "result-a.json")
    check("\nmodel.safetensors" not in output, f"no half of a model:\n{output}")


def of_the_output(bench):
    """Standard output on a full disk is no reason not to train."""
    run = bench.start("launch", bench.file(1, training="epochs: 0.3"), "--free-ports",
                      before=("sh", "-c", 'exec "$@" > /dev/full', "-"))
    run.expect(0)
    check_equal(bench.summary()["replicas_identical"], True, "replicas_identical")
    run = bench.start("--version", before=("sh", "-c", 'exec "$@" > /dev/full', "-"))
    check("standard output cannot be written: No space left" in run.expect(6), run.output())


def case_full_disk(bench):
    of_all(bench)
    of_one(bench)
    of_some_files(bench)
    of_a_small_disk(bench)
    of_the_output(bench)
