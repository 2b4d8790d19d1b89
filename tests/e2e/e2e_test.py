"""The real program from the outside: every case starts it as a user would and looks at what a user
would see. Python's standard library only.

    e2e_test.py --ako BUILD/ako --source REPOSITORY [CASE ...]

Without a case, all of them. Each runs in a folder of its own, which is kept if the case fails.
"""

import argparse
import json
import os
import random
import re
import runpy
import shutil
import signal
import struct
import sys
import tempfile
import time
import zlib

import compose_cases
import diverging
import elastic_cases
import launching
import leaving
import live_view
import measuring
import modes
import observing
import own_data
import own_program
import plotting
import predicting
import prometheus_cases
import refusals
import returning
import resuming
import verifying
from bench import (Bench, Failure, Skipped, check, check_all_identical, check_equal, long_run,
                   wait_for, what_is_left)


def train_mlp(bench, count):
    file = bench.file(count, training="epochs: 0.5, learning_rate: 0.05")
    output = bench.launch(file).expect(0)
    summary = check_all_identical(bench, count)
    check(summary["accuracy"] > 0.88, f"accuracy {summary['accuracy']} of mlp after half an epoch")
    check(summary["samples"] >= 30000, f"{summary['samples']} samples of 30,000")
    check(f"replicas identical: yes ({summary['digest'][:16]})" in output, "the last words")
    return output


def case_one_peer(bench):
    train_mlp(bench, 1)


def case_two_peers(bench):
    train_mlp(bench, 2)


def case_three_peers(bench):
    train_mlp(bench, 3)


def case_five_peers(bench):
    train_mlp(bench, 5)


def case_what_a_run_leaves(bench):
    """Files of the run folder, and that a pipe gets a table and no progress bar."""
    output = train_mlp(bench, 2)
    check("\r" not in output and "\033" not in output, "no control characters in a pipe")
    for name in ("config.yaml", "summary.json", "result-a.json", "result-b.json"):
        check(os.path.exists(bench.path(name)), f"{name} in the run folder")
    metadata, tensors, data = read_model(bench.path("model.safetensors"))
    check_equal(metadata["digest"], bench.summary()["digest"], "digest of the model")
    check_equal(max(tensor["data_offsets"][1] for tensor in tensors.values()), len(data),
                "bytes of the model")
    check_equal(len(data), 4 * 101770, "bytes of mlp's parameters")
    for peer in "ab":
        lines = bench.metrics(peer)
        check(lines, f"metrics of {peer}")
        check_equal(lines[-1]["phase"], "done", f"last phase of {peer}")
        for key in ("time", "round", "samples", "samples_per_s", "loss", "accuracy", "progress",
                    "egress_mbit", "ingress_mbit", "egress_bytes", "ingress_bytes", "links"):
            check(key in lines[-1], f"{key} in the metrics")
        presences = {link["presence"] for line in lines for link in line["links"]}
        check("up" in presences and presences <= {"absent", "up", "down", "left"},
              f"what {peer} knows of the other: {presences}")
    # What it says it ran is a cluster file that can be run.
    bench.start("check", bench.path("config.yaml")).expect(0)


def read_model(path):
    """(metadata, header, data) of a safetensors file."""
    with open(path, "rb") as file:
        (header_bytes,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(header_bytes))
        return header.pop("__metadata__"), header, file.read()


def case_checkpoints_and_evaluate(bench):
    """Checkpoints are whole, and `ako evaluate` says of the final model what the run said."""
    for epochs in (1.5, 6, 24):  # long enough for two checkpoints, however slow the disk is
        file = bench.file(2, training=f"epochs: {epochs}, checkpoint_every: 0.1, evaluate_every: 0")
        summary = bench.launch(file).expect(0) and bench.summary()
        if os.path.exists(bench.path("checkpoint-before.safetensors")):
            break
    newer, _, data = read_model(bench.path("checkpoint.safetensors"))
    older, _, _ = read_model(bench.path("checkpoint-before.safetensors"))
    check(0 < float(older["epochs"]) < float(newer["epochs"]) < epochs, f"{older}, then {newer}")
    check_equal(f"{zlib.crc32(data):08x}", newer["crc32"], "checksum of the checkpoint")

    def evaluate(name, *words):
        return bench.start("evaluate", bench.path(name), *words)

    model = "model.safetensors"
    output = evaluate(model, "--config", file).expect(0, 60)
    check(f"accuracy: {100 * summary['accuracy']:.2f} %\n" in output,
          f"accuracy {summary['accuracy']} of the summary in:\n{output}")
    with open(bench.path("result-a.json")) as result:
        loss = json.load(result)["loss"]
    check(f"loss: {loss:.6f}\n" in output, f"loss {loss} of the result in:\n{output}")
    rows = re.findall(r"^ {5}\d((?: +[\d.]+)+)$", output, re.MULTILINE)
    cells = [[int(cell) if cell != "." else 0 for cell in row.split()[:-1]] for row in rows]
    check_equal([len(row) for row in cells], [10] * 10, "a matrix of ten classes")
    check_equal(sum(map(sum, cells)), 10000, "samples in the matrix")
    check_equal(sum(cells[k][k] for k in range(10)), round(10000 * summary["accuracy"]), "right")
    check(max(map(len, output.split("\n")[4:])) <= 80, "80 columns")
    # Without --config, the settings beside the model; a checkpoint is as its metadata say.
    check_equal(evaluate(model).expect(0, 60), output, "without --config")
    output = evaluate("checkpoint.safetensors").expect(0, 60)
    check(f"accuracy: {100 * float(newer['accuracy']):.2f} %\n" in output, output)

    output = evaluate("").expect(2, 20)
    check("a folder, expected a model" in output and model in output, output)
    output = evaluate(model, "--set", "model=lenet").expect(2, 20)
    for expected in ("conv1.weight: expected shape [20,1,5,5], there is no such tensor",
                     "dense1.weight: expected shape [500,800], found [128,784]"):
        check(expected in output, f"{expected!r} in:\n{output}")
    damaged = bench.path("damaged.safetensors")
    with open(bench.path(model), "rb") as whole, open(damaged, "wb") as copy:
        copy.write(whole.read()[:-1] + b"\x55")
    check("checksum" in evaluate("damaged.safetensors").expect(2, 20), "the checksum is named")
    with open(damaged, "wb") as copy:
        copy.write(b"nothing of a model")
    evaluate("damaged.safetensors").expect(2, 20)
    output = evaluate("missing.safetensors").expect(2, 20)
    check("missing.safetensors: cannot be opened" in output, output)


def case_checkpoint_refused(bench):
    """A checkpoint that cannot be written is said and does not stop the training."""
    # Seconds, for a disk may take some for the first.
    file = bench.file(1, training="epochs: 3, checkpoint_every: 0.05, evaluate_every: 0")
    folder = os.path.join(bench.folder, "out")
    # The second checkpoint cannot take the name of a folder that is not empty.
    os.makedirs(os.path.join(folder, "checkpoint-before.safetensors", "occupied"))
    output = bench.start("train", file, "--peer", "a", "--output-dir", folder).expect(0)
    check_equal(output.count("is not written, training goes on"), 1, f"said once in:\n{output}")
    read_model(os.path.join(folder, "checkpoint.safetensors"))
    read_model(os.path.join(folder, "model.safetensors"))
    left = [name for name in os.listdir(folder) if "partial" in name]
    check_equal(left, [], "temporary files left")


def case_kill_one_of_four(bench):
    run = long_run(bench, 4, 6)
    os.kill(run.peers()["c"], signal.SIGKILL)
    killed_at = time.monotonic()
    for survivor in "abd":
        when, _ = wait_for(
            lambda: run.line_with(f" {survivor} ", "c is lost") or run.line_with(
                f" {survivor} ", "c: lost"), f"{survivor} names the lost peer", 10)
        check(when - killed_at < 3, f"{survivor} named c after {when - killed_at:.1f} s, not 3")
    run.expect(0)
    summary = bench.summary()
    check_equal(summary["replicas_identical"], True, "replicas_identical")
    check_equal(summary["finished_with"], ["a", "b", "d"], "finished_with")
    check_equal(summary["lost_peers"], ["c"], "lost_peers")
    peers = {peer["name"]: peer for peer in summary["peers"]}
    check_equal(len({peers[name]["digest"] for name in "abd"}), 1, "survivors' digests")
    check_equal(peers["c"]["exit"], -9, "exit of the killed peer")
    check(peers["c"]["rounds"] > 0, "the killed peer's last metrics are in the summary")
    for survivor in "abd":
        seen = [link["presence"] for line in bench.metrics(survivor) for link in line["links"]
                if link["peer"] == "c"]
        check("up" in seen and seen[-1] in ("lost", "gone"), f"{survivor} of c: {seen}")


def case_kill_ten_times(bench):
    """Real training; any of the four dies at any moment, from the start to the final exchange."""
    file = bench.file(4, model="lenet", training="epochs: 0.6, evaluate_every: 0.3",
                      exchange="start_wait_s: 5, leave_timeout_s: 7.5, link_mbit: 50")
    for number in range(10):
        seed = random.randrange(1 << 32)
        chance = random.Random(seed)
        victim, moment = chance.choice("abcd"), chance.uniform(0.3, 9)
        said = f"try {number}, seed {seed}: {victim} killed after {moment:.2f} s"
        run = bench.launch(file)
        wait_for(lambda: len(run.peers()) == 4 or run.process.poll() is not None, "four peers")
        pid = run.peers()[victim]
        time.sleep(moment)  # the moment of the fault, not a synchronisation
        trains = run.process.poll() is None and bool(bench.metrics(victim))
        killed_at = time.monotonic()
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            said += " (it had ended)"
        output = run.expect(0)
        summary = bench.summary()
        check(summary["replicas_identical"], f"{said}: replicas differ:\n{output}")
        digests = {peer["digest"] for peer in summary["peers"] if peer["exit"] == 0}
        check_equal(len(digests), 1, f"{said}: digests of the survivors")
        killed = next(peer for peer in summary["peers"] if peer["name"] == victim)["exit"] == -9
        named = run.line_with(f"{victim} is lost") or run.line_with(f"{victim}: lost")
        met = any(f"{victim}: session up" in bench.log(name) for name in set("abcd") - {victim})
        if killed and met and victim not in summary["finished_with"]:
            ended = run.line_with("replicas identical")[0] - killed_at
            check(named or ended < 3, f"{said}: nobody named {victim}:\n{output}")
        if killed and named:
            check(named[0] - killed_at < 3, f"{said}: named after {named[0] - killed_at:.2f} s")
            said += f", named after {named[0] - killed_at:.2f} s"
        print(f"       {said}, trained: {trains}, accuracy {100 * summary['accuracy']:.2f} %, "
              f"finished with {''.join(summary['finished_with'])}", flush=True)


def case_interrupt(bench):
    """One Ctrl-C: everyone stops after the round, agrees and writes what there is."""
    run = long_run(bench, 3, 60)
    run.process.send_signal(signal.SIGINT)
    output = run.expect(130, 30)
    check("interrupted" in output, "the interrupt is acknowledged")
    check(re.search(r"^stopped early at [^:]* % of the budget: interrupted$", output, re.M), output)
    summary = bench.summary()
    check_equal(summary["interrupted"], True, "interrupted")
    check_equal(summary["replicas_identical"], True, "replicas_identical")
    check_equal([peer["exit"] for peer in summary["peers"]], [130] * 3, "exits of the peers")
    check(os.path.exists(bench.path("model.safetensors")), "the model as far as it got")


def case_interrupt_while_waiting(bench):
    """One peer of four, alone: it neither hangs nor calls anything identical."""
    run = bench.start("train", bench.file(4), "--peer", "b")
    wait_for(lambda: run.line_with("waiting for"), "it says whom it waits for", 20)
    wait_for(lambda: len(bench.metrics("b")) >= 2, "it writes metrics lines while it waits", 20)
    check_equal([(line["phase"], line["waiting_for"]) for line in bench.metrics("b")[:2]],
                [("waiting", ["a", "c", "d"])] * 2, "what the lines say")
    began = time.monotonic()
    run.process.send_signal(signal.SIGINT)
    output = run.expect(130, 20)
    check(time.monotonic() - began < 8, "it ends within seconds")
    check("identical: yes" not in output, f"alone, it says:\n{output}")
    check("stopped: interrupted before training began" in output, f"it says why:\n{output}")
    check(not os.path.exists(bench.path("model.safetensors")), "nothing that looks like a model")


def case_interrupt_twice(bench):
    """A second Ctrl-C does not wait for anything."""
    run = long_run(bench, 2, 60)
    for pid in run.peers().values():
        os.kill(pid, signal.SIGSTOP)  # peers that would never end by themselves
    run.process.send_signal(signal.SIGINT)
    wait_for(lambda: run.line_with("interrupted"), "the first interrupt is acknowledged", 10)
    run.process.send_signal(signal.SIGINT)
    run.expect(130, 10)
    check(not run.peers(), "no peer is left")


def case_launch_killed(bench):
    """Peers do not outlive their launch, even if it is killed."""
    run = long_run(bench, 3, 60)
    peers = run.peers()
    check_equal(len(peers), 3, "peers of launch")
    run.process.kill()
    run.wait()

    def gone(pid):
        try:
            with open(f"/proc/{pid}/stat") as file:
                return file.read().rsplit(")", 1)[1].split()[0] in "ZX"
        except (FileNotFoundError, ProcessLookupError):
            return True

    for name, pid in peers.items():
        wait_for(lambda: gone(pid), f"peer {name} ends after its launch was killed", 30)


def case_peer_stopped(bench):
    """A peer that hangs (SIGSTOP) does not stop the others, is named, and its row says so."""
    run = long_run(bench, 3, 8)
    stopped = run.peers()["b"]
    os.kill(stopped, signal.SIGSTOP)
    wait_for(lambda: run.line_with(" a ", "b is lost") or run.line_with(" a ", "b: lost"),
             "a names the stopped peer", 10)
    round_then = bench.metrics("a")[-1]["round"]
    wait_for(lambda: bench.metrics("a")[-1]["round"] > round_then + 50, "a goes on", 10)
    wait_for(lambda: run.line_with(" b ", "silent"), "launch notes the silence", 10)
    wait_for(lambda: run.line_with(" b ", "silent", "(2 of 2 others: lost)"),
             "its row says what the others know", 10)
    wait_for(lambda: (bench.metrics("a")[-1]["phase"] == "done"), "a finishes", 90)
    os.kill(stopped, signal.SIGKILL)
    run.expect(0)
    check_equal(bench.summary()["finished_with"], ["a", "c"], "finished_with")


def case_train_by_hand(bench):
    """Two peers started one by one, as on two machines; each makes a run folder of its own."""
    file = bench.file(2, training="epochs: 0.3")
    runs = [bench.start("train", file, "--peer", name, "--set", f"output=out-{name}")
            for name in "ab"]
    for run in runs:
        output = run.expect(0)
        check(re.search(r"replicas identical: yes \([0-9a-f]{16}\) on a, b\n", output),
              f"the last words of a peer alone:\n{output}")
    digests = set()
    for name in "ab":
        folder = os.path.join(bench.folder, f"out-{name}", "latest")
        with open(os.path.join(folder, f"result-{name}.json")) as result:
            digests.add(json.load(result)["digest"])
        check(os.path.exists(os.path.join(folder, "model.safetensors")), f"{name}'s own model")
    check_equal(len(digests), 1, "digests of two peers")


def case_numbers(bench):
    """A loss that is no number ends the peers with status 3, and so does one that is near it."""
    # A quadratic loss at a rate that multiplies the distance by 99 every round.
    file = bench.file(2, model="{name: synthetic, parameters: 5000, compute_ms: 1}",
                      training="learning_rate: 100, epochs: 0.5",
                      # In step, all are beyond 2^24 before anything is usual.
                      exchange="staleness_rounds_max: none")
    for growth_max, said in ((0, "not finite"), (10, "far beyond what is usual")):
        output = bench.launch(file, "--set", f"training.growth_max={growth_max}").expect(3, 60)
        check(said in output, f"it says what happened, with growth_max {growth_max}:\n{output}")
    check_equal(bench.summary()["replicas_identical"], False, "replicas_identical")


def case_check_and_set(bench):
    file = os.path.join(bench.source, "experiments", "mnist", "cluster.yaml")
    output = bench.start("check", file, "--set", "training.epochs=1.5", "--set",
                         "exchange.partitions=8").expect(0, 30)
    for expected in ("epochs: 1.5", "partitions: 8", "431,080", "2,813",
                     "60,000, and 10,000 to test on", "15,000, a shard of its own",
                     "704 of 32 samples", "215.5 kB per round: 1.72 Mbit/s at one round"):
        check(expected in output, f"{expected!r} in what check says:\n{output}")
    sums = [float(line.split()[-1]) for line in output.split("\n")
            if re.match(r"#   .* \d+\.\d$", line)]
    check(abs(sum(sums[:-2]) - sums[-2]) < 0.6, f"the terms add up to the sum: {sums}")
    # What it prints is a cluster file with the same meaning.
    again = os.path.join(bench.folder, "again.yaml")
    with open(again, "w") as text:
        text.write(output)
    second = bench.start("check", again).expect(0, 30)
    check_equal(second.split("\n")[1:], output.split("\n")[1:], "check of what check printed")
    check(not os.path.exists(os.path.join(bench.folder, "runs")), "check leaves nothing behind")
    for keys, said in ((("partitions=auto",), "at most 5.2 MB (1.7 MB to each of 3 others)"),
                       (("partitions=8",), "  646.6 kB (215.5 kB to each of 3 others)"),
                       (("mode=ring",), "  2.6 MB to its successor"),
                       (("mode=ring", "all_reduce=butterfly"), "  2.6 MB to its partners"),
                       (("mode=ring", "rounds_ahead=1"), "  2.6 MB to its successor"),
                       (("mode=ring", "elastic=true"),
                        "takes parameters and momentum from the members, 2 M in parts from all of "
                        "them; they compute meanwhile, and wait for the rest"),
                       (("mode=sma",), "  2.6 MB to its successor"),
                       (("mode=local-sgd",), "  161.7 kB: 2.6 MB to its successor every 16 rounds"),
                       (("mode=parameter-server",),
                        "5.2 MB (a server as well), 1.7 MB (the others)"),
                       (("mode=parameter-server", "servers=4"), "  2.6 MB (pushes and answers)"),
                       (("mode=local",), "  nothing")):
        words = [word for key in keys for word in ("--set", f"exchange.{key}")]
        shown = bench.start("check", file, *words).expect(0, 30)
        check(f"{said}\n" in shown + "\n", f"{said!r} in what check says with {keys}:\n{shown}")
    # A row of 1.7 MB: 3.4 s at 4 Mbit/s, 138 s at a tenth of a megabit.
    warning = "# warning: a row takes 138 s at 0.1 Mbit/s (exchange.link_mbit), longer than"
    ring = bench.start("check", file, "--set", "exchange.mode=ring", "--set",
                       "exchange.link_mbit=20").expect(0, 30)
    check("0.97 rounds per second at 20 Mbit/s (exchange.link_mbit)" in ring,
          f"rounds per second in:\n{ring}")
    slow = bench.start("check", file, "--set", "exchange.link_mbit=0.1").expect(0, 30)
    check(warning in slow, f"the warning of slow rows in what check says:\n{slow}")
    fast = bench.start("check", file, "--set", "exchange.link_mbit=4").expect(0, 30)
    check("warning" not in fast, f"no warning in what check says:\n{fast}")


def case_version_and_help(bench):
    said = bench.start("--version").expect(0, 10)
    check(re.fullmatch(r"ako \d+\.\d+\.\d+ \(([0-9a-f]{12}(-dirty)?|unknown)\)", said), said)
    for words in (["--help"], ["launch", "--help"], ["train", "--help"], ["check", "--help"],
                  ["evaluate", "--help"]):
        check("--" in bench.start(*words).expect(0, 10), f"help of {words}")
    bench.start().expect(2, 10)
    bench.start("launsh").expect(2, 10)
    bench.start("launch").expect(2, 10)


def issues():
    """One case per fixed bug: tests/issues/e2e/NAME.py defines case_NAME."""
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "issues", "e2e")
    cases = {}
    for file in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
        if file.endswith(".py"):
            cases.update(runpy.run_path(os.path.join(folder, file)))
    return {name: case for name, case in cases.items() if name.startswith("case_")}


SKIPPED = 77  # exit status where nothing could be run
CASES = {name[len("case_"):]: case
         for name, case in {**globals(), **vars(compose_cases), **vars(diverging),
                            **vars(elastic_cases), **vars(launching), **vars(leaving),
                            **vars(live_view), **vars(measuring), **vars(modes),
                            **vars(observing), **vars(own_data), **vars(own_program),
                            **vars(plotting), **vars(predicting), **vars(prometheus_cases),
                            **vars(refusals), **vars(resuming), **vars(returning),
                            **vars(verifying), **issues()}.items()
         if name.startswith("case_")}


def run_case(name, ako, source):
    folder = tempfile.mkdtemp(prefix=f"ako-e2e-{name}-")
    began = time.monotonic()
    bench = Bench(ako, source, folder)
    try:
        CASES[name](bench)
    except Skipped as why:
        shutil.rmtree(folder)
        print(f"skipped {name}: {why}", flush=True)
        return None
    except (Failure, OSError, KeyError, ValueError) as error:
        print(f"FAILED {name} ({time.monotonic() - began:.1f} s): {error}\n"
              f"       its folder: {folder}\n{what_is_left(folder)}", flush=True)
        return False
    finally:
        bench.end()
    shutil.rmtree(folder)
    print(f"ok     {name} ({time.monotonic() - began:.1f} s)", flush=True)
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--ako", required=True)
    parser.add_argument("--source", required=True)
    parser.add_argument("cases", nargs="*", choices=[*CASES, []])
    words = parser.parse_args()
    results = [run_case(name, os.path.abspath(words.ako), os.path.abspath(words.source))
               for name in words.cases or CASES]
    if all(result is None for result in results):
        return SKIPPED
    return 0 if all(result is not False for result in results) else 1


if __name__ == "__main__":
    sys.exit(main())
