"""Cases of e2e_test.py: what the program refuses, and how it says so."""

import os
import re
import socket
import subprocess

from bench import check, check_all_identical, check_equal


def case_different_settings(bench):
    """Peers that would train different things refuse each other, and both say why."""
    file = bench.file(2, exchange="start_wait_s: 4, start_peers_min: 2")
    runs = [bench.start("train", file, "--peer", name, "--set", f"output=out-{name}",
                        "--set", f"training.momentum={momentum}")
            for name, momentum in (("a", 0.9), ("b", 0.8))]
    for run in runs:
        output = run.expect(2, 30)
        check("another configuration" in output, f"the reason is named in:\n{output}")
    for run, said in zip(runs, ("0.9 here, 0.8 at b", "0.8 here, 0.9 at a")):
        check(f"(training.momentum: {said})" in run.output(), f"{said!r} in:\n{run.output()}")


def case_cluster_key(bench):
    """Peers of one key train, and the key is nowhere in what they leave; others are refused."""
    secrets = {"cluster.key": "0f" * 32, "other.key": "f0" * 32}
    for name, secret in secrets.items():
        path = os.path.join(bench.folder, name)
        with open(path, "w") as text:
            text.write(secret + "\n")
        os.chmod(path, 0o600)
    file = bench.file(2, model="{name: synthetic, parameters: 5000, compute_ms: 1, "
                               "samples: 256000}",
                      training="learning_rate: 0.01", cluster_key_file="cluster.key",
                      exchange="start_wait_s: 4, start_peers_min: 2")
    output = bench.launch(file).expect(0)
    check_all_identical(bench, 2)
    left = [output]
    for name in os.listdir(bench.path(".")):
        with open(bench.path(name), errors="replace") as text:
            left.append(text.read())
    check(any(os.path.join(bench.folder, "cluster.key") in text for text in left),
          "the resolved settings name the file")
    check(not any(secrets["cluster.key"] in text for text in left), "the key is in what is left")

    runs = [bench.start("train", file, "--peer", name, "--set", f"output=out-{name}", "--set",
                        f"cluster_key_file={key}")
            for name, key in (("a", "cluster.key"), ("b", "other.key"))]
    for run, other in zip(runs, "ba"):
        output = run.expect(2, 30)
        check(f"{other}: 127.0.0.1" in output and "another cluster key" in output,
              f"the other peer, its address and the reason are in:\n{output}")

    output = bench.start("launch", file, "--set", "cluster_key_file=none.key").expect(2, 20)
    check("--set cluster_key_file=none.key: cluster_key_file: " in output, output)
    check("none.key: cannot be read" in output and "openssl rand" in output, output)
    output = bench.start("check", file, "--set", "cluster_key_file=null", "--set",
                         "peers.1.address=203.0.113.7:7701").expect(2, 20)
    check("peers.1.address: peer b announces 203.0.113.7:7701" in output, output)
    check("openssl rand" in output, output)


def case_bad_files(bench):
    """Whatever is wrong with the file: its place, what was expected, exit 2, and nothing made."""
    file = bench.file(2)
    with open(file) as text:
        good = text.read()
    for line, expected in (
            ("training: {learning_rat: 1}", "cluster.yaml:9:12: unknown key "
                                            "training.learning_rat"),
            ("memory_mb_max: lots", "cluster.yaml:9:16: memory_mb_max: expected a whole number"),
            ("seed: 4", "cluster.yaml:9:1: seed: expected every key once"),
            ("x: [", "not YAML")):
        with open(file, "w") as text:
            text.write(good.rstrip("\n") + "\n" + "\n" * (8 - good.count("\n")) + line + "\n")
        for words in (["check"], ["launch"], ["train", "--peer", "a"]):
            output = bench.start(words[0], file, *words[1:]).expect(2, 20)
            check(expected in output, f"{expected!r} in what {words[0]} says:\n{output}")
    with open(file, "w") as text:
        text.write(good)
    output = bench.start("train", file, "--peer", "nobody").expect(2, 20)
    check("--peer: expected one of the file's peers: a, b, found nobody" in output, output)
    output = bench.start("launch", file, "--set", "data.path=nowhere").expect(2, 20)
    check("--set data.path=nowhere: data.path: " in output, f"the key is named:\n{output}")
    check("/nowhere: there is no such folder" in output, f"the missing folder is named:\n{output}")
    output = bench.start("launch", file, "--set", "memory_mb_max=50").expect(2, 20)
    check("--set memory_mb_max=50: memory_mb_max: one peer would need" in output, output)
    check("50 are allowed" in output, output)
    with open(file, "w") as text:
        text.write(re.sub(r"path: [^},]+", "path: nothing_here", good))
    output = bench.start("check", file).expect(2, 20)
    check(re.search(r"cluster\.yaml:\d+:\d+: data\.path: .*/nothing_here: there is no such folder",
                    output), f"file, line and column of the folder in:\n{output}")
    check(not os.path.exists(os.path.join(bench.folder, "runs")), "no run folder was made")


def case_misspelt_words(bench):
    """Commands, options, words of few choices: the one that was meant is named."""
    file = bench.file(2)
    for words, said in ((("lauch", file), "there is no command lauch\n     did you mean launch?"),
                        (("launch", file, "--plian"), "did you mean --plain?"),
                        (("check", file, "--set", "exchange.mode=rnig"), "did you mean ring?"),
                        (("train", file, "--peer", "c"), "found c"),
                        (("keys", "trainin"), "did you mean training?"),
                        (("check", bench.folder), "did you mean"),
                        (("launch", file, "--set", "rates_mbit=[5]"), "`ako compare` runs")):
        output = bench.start(*words).expect(2, 20)
        check(said in output, f"{said!r} in what {words} says:\n{output}")
    shown = bench.start("keys", "exchange.partitions").expect(0, 20)
    check(shown.startswith("exchange.partitions\n    auto: as fast as"), shown)
    check("default auto\n    only with exchange.mode: ako" in shown, shown)
    script = os.path.join(bench.folder, "completion")
    with open(script, "w") as text:
        text.write(bench.start("completion", "bash").expect(0, 20))
    # As bash does it for `ako launch --pl<Tab>` and `ako train --set training.ep<Tab>`.
    for line, expected in (("ako launch --pl", "--plain"), ("ako la", "launch"),
                           ("ako train --set training.ep", "training.epochs=")):
        asked = (f"source {script}; COMP_WORDS=({line}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); "
                 "compopt() { :; }; _ako; echo \"${COMPREPLY[*]}\"")
        found = subprocess.run(["bash", "-c", asked], capture_output=True, text=True, timeout=20)
        check_equal(found.stdout.strip(), expected, f"completion of {line!r} ({found.stderr})")


def case_check_plan(bench):
    """A plan of a comparison is checked as one."""
    plan = os.path.join(bench.source, "experiments", "compare-mnist", "plan.yaml")
    output = bench.start("check", plan).expect(0, 30)
    for said in ("is a plan of a comparison", "cluster  ", "modes  ", "rates  ", "--list` lists"):
        check(said in output, f"{said!r} in:\n{output}")
    output = bench.start("check", plan, "--set", "seed=3").expect(2, 30)
    check("unknown key seed" in output and "did you mean seeds?" in output, output)


def case_warnings(bench):
    """What is accepted and hardly meant is said, once, before it begins."""
    file = bench.file(2, model="{name: synthetic, parameters: 5000, compute_ms: 1, samples: 128}",
                      exchange="partitions: 100")
    for command in ("check", "launch"):
        output = bench.start(command, file).expect(0, 60)
        text = " ".join(line.lstrip("# ") for line in output.split("\n"))
        for said in ("exchange.partitions: 100 for the 2 blocks of this network",
                     "trained on in one round of each peer"):
            check_equal(text.count(said), 1, f"{said!r} in what {command} says:\n{output}")


def case_learning_rate_too_high(bench):
    """Of what is far beyond what is usual it is said what to lower, and to what it was set."""
    file = bench.file(2, training="learning_rate: 90, epochs: 1")
    output = bench.launch(file).expect(3)
    check("far beyond what is usual" in output, output)
    check("lower training.learning_rate (90)" in output, output)


def case_port_taken(bench):
    file = bench.file(2)
    with open(file) as text:
        port = int(re.findall(r"127\.0\.0\.1:(\d+)", text.read())[1])
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", port))
        taken.listen()
        output = bench.start("launch", file).expect(2, 20)
        check(f"peer b cannot listen on 127.0.0.1:{port}" in output, output)
        check("--free-ports" in output, "the way out is named")
        output = bench.start("train", file, "--peer", "b").expect(2, 20)
        check(str(port) in output, f"train names the port:\n{output}")
