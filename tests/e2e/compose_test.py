"""Containers: the shipped Compose file on the real engine. Python's standard library only.

    compose_test.py --ako BUILD/ako --source REPOSITORY [--full] [CASE ...]

The image is deploy/Dockerfile's stage `runtime` (libraries and user, no compiler) with the program
that is built already; --full makes the whole image instead, which compiles Ako in a container and
takes minutes. Exits 77 and says why where there is no engine, no Compose, or no base image.
"""

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from bench import Failure, check, check_equal, wait_for
from engine import SKIPPED, Skip, prepare, replace_image, run, works

FULL_BUILD_PATIENCE_S = 1700
RUNTIME_IMAGE, IMAGE = "ako-test-runtime", "ako-test"
COMPOSE_FILE = "deploy/compose.yaml"


def compose_command():
    for words in (["docker-compose"], ["docker", "compose"]):
        if works(*words, "version"):
            return words
    raise Skip("neither docker-compose nor docker compose is here")


def build_image(ako, source, folder, full):
    dockerfile = os.path.join(source, "deploy", "Dockerfile")
    if full:
        return replace_image(IMAGE, "-f", dockerfile, source, seconds=FULL_BUILD_PATIENCE_S)
    replace_image(RUNTIME_IMAGE, "--target", "runtime", "-f", dockerfile, source)
    context = os.path.join(folder, "image")
    os.mkdir(context)
    run("strip", "-o", os.path.join(context, "ako"), ako)
    with open(os.path.join(context, "Dockerfile"), "w") as file:
        file.write(f"FROM {RUNTIME_IMAGE}\nCOPY ako /usr/local/bin/ako\n"
                   'RUN ["ako", "--version"]\n')
    return replace_image(IMAGE, context)


class Cluster:
    """The services of Compose files in a project of their own, removed with everything they made
    when the block ends."""

    def __init__(self, bench, services, *files):
        self.name = f"ako-test-{os.getpid()}-{os.path.basename(bench.folder)[-8:].lower()}"
        self.services = services
        self.words = [*bench.compose, "-p", self.name]
        for file in files:
            self.words += ["-f", file]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        run(*self.words, "down", "--volumes", "--remove-orphans", "--timeout", "2")
        for kind in (["ps", "-a"], ["network", "ls"], ["volume", "ls"]):
            left = run("docker", *kind, "-q", "--filter",
                       f"label=com.docker.compose.project={self.name}")
            check_equal(left, "", f"what `docker {' '.join(kind)}` shows after `down`")

    def up(self, *services):
        run(*self.words, "up", "-d", "--no-build", *services)

    def container(self, service):
        return run(*self.words, "ps", "-aq", service).strip()

    def log(self, service):
        return run("docker", "logs", self.container(service))

    def exits(self):
        """Exit status by service; waits until all have ended."""
        found = {}
        for service in self.services:
            found[service] = int(run("docker", "wait", self.container(service)))
        return found

    def check_trained(self, accuracy):
        exits, logs = self.exits(), {service: self.log(service) for service in self.services}
        everything = "\n".join(f"--- {service}\n{log}" for service, log in logs.items())
        check_equal(exits, dict.fromkeys(self.services, 0), f"exit statuses:\n{everything}\n")
        said = set()
        for service, log in logs.items():
            line = re.search(r"replicas identical: yes \([0-9a-f]{16}\) on [\w, ]+", log)
            check(line, f"{service} says that replicas are identical:\n{log}")
            said.add(line.group())
            reached = float(re.search(r"finished: test accuracy ([\d.]+) %", log).group(1))
            check(reached >= accuracy, f"{service} reached {reached} %, not {accuracy} %")
        check_equal(len(said), 1, f"what the peers say of the replicas: {said}")
        check_equal(said.pop().split(" on ")[1], ", ".join(self.services), "who finished")


def shipped_cluster(bench, epochs):
    """The shipped file, but with the image of this test and few epochs."""
    override = os.path.join(bench.folder, "override.yaml")
    with open(override, "w") as file:
        file.write("services:\n")
        for name in "abcd":
            words = ["train", "/ako/cluster.yaml", "--peer", name, "--exit-zero", "--set",
                     "data.path=/ako/data", "--set", f"output=/results/{name}", "--set",
                     f"training.epochs={epochs}"]
            file.write(f"  {name}: {{image: {IMAGE}, command: {json.dumps(words)}}}\n")
    return Cluster(bench, "abcd", os.path.join(bench.source, COMPOSE_FILE), override)


def case_up(bench):
    """The shipped file: everyone at once, in the foreground, as in the README."""
    with shipped_cluster(bench, 0.5) as cluster:
        output = run(*cluster.words, "up", "--no-build")
        check("replicas identical: yes" in output, f"what a user sees:\n{output}")
        cluster.check_trained(90)
        # The results can be had, and belong to a user who is not root.
        copied = os.path.join(bench.folder, "copied")
        run("docker", "cp", f"{cluster.container('b')}:/results/b", copied)
        latest = os.path.join(copied, "latest")
        with open(os.path.join(latest, "result-b.json")) as file:
            check_equal(json.load(file)["identical"], True, "identical in b's result")
        check(os.path.exists(os.path.join(latest, "model.safetensors")), "b's model")
        check("uid=10001" in run("docker", "run", "--rm", "--entrypoint", "id", IMAGE),
              "the image's user")


def case_any_order(bench):
    """The last peer first, each of the others only when the ones before say what they miss."""
    with shipped_cluster(bench, 0.2) as cluster:
        cluster.up("d")
        wait_for(lambda: re.search(r"waiting for a \(the name in a:7701 does not resolve: .*\), b",
                                   cluster.log("d")), "d says which names do not resolve", 60)
        cluster.up("c")
        wait_for(lambda: re.search(r"waiting for a \(the name in a:7701 .*\), b \(the name in "
                                   r"b:7701 .*\)\n", cluster.log("d")), "d has met c", 60)
        # A container that is there, but in which nobody listens.
        cluster.up("b")
        cluster.up("a")
        cluster.check_trained(80)


def case_started_again(bench):
    """A container whose peer dies, as by the system when memory is short, is started again by the
    engine; the peer takes its row from the others, and all end with the same."""
    with shipped_cluster(bench, 1.5) as cluster:
        cluster.up()
        wait_for(lambda: re.search(r"  c  +\d+ %  epoch .* samples/s", cluster.log("c")),
                 "c trains", 120)
        container = cluster.container("c")
        os.kill(int(run("docker", "inspect", "-f", "{{.State.Pid}}", container)), signal.SIGKILL)
        state = ("docker", "inspect", "-f", "{{.RestartCount}} {{.State.Running}}", container)
        wait_for(lambda: run(*state).split() == ["1", "true"], "it is started again", 30)
        cluster.check_trained(90)
        check_equal(run(*state).split(), ["1", "false"], "restarts")


def case_other_configuration(bench):
    """A peer whose settings differ is told apart from one that is not there."""
    with shipped_cluster(bench, 0.2) as cluster:
        run(*cluster.words, "run", "-d", "--use-aliases", "a", "train", "/ako/cluster.yaml",
            "--peer", "a", "--set", "data.path=/ako/data", "--set", "training.momentum=0.5",
            "--set", "output=/results/a")
        cluster.up("b")
        wait_for(lambda: re.search(r"a: a:7701 \([\d.]+\) refuse.*another configuration.*"
                                   r"training\.momentum: 0\.9 here, 0\.5 at a", cluster.log("b")),
                 "b says that a has another configuration", 60)


def case_stopped(bench):
    """One service is stopped, and the others go on; then all are, and end well."""
    with shipped_cluster(bench, 200) as cluster:
        cluster.up()
        for service in cluster.services:
            wait_for(lambda service=service: " round " in cluster.log(service),
                     f"{service} trains", 60)
        run(*cluster.words, "stop", "d")
        log = cluster.log("d")
        check("exit 0 instead of 143" in log and "all that it learned is at a, b, c" in log, log)
        running = run("docker", "inspect", "-f", "{{.State.Running}}", cluster.container("a"))
        check_equal(running.strip(), "true", "a goes on")
        began = time.monotonic()
        run(*cluster.words, "stop")
        took = time.monotonic() - began
        check(took < 30, f"to stop them took {took:.1f} s")
        check_equal(cluster.exits(), dict.fromkeys(cluster.services, 0), "exit statuses")
        logs = {service: cluster.log(service) for service in "abc"}
        together = [service for service, log in logs.items() if "exit 0 instead of 130" in log]
        check(together, f"somebody ended the run:\n{logs}")
        for service in together:
            log = logs[service]
            check(re.search(r"replicas identical: yes .* on " + ", ".join(together), log), log)
            check("d left at " in log, log)


def case_written_for_any_file(bench):
    """What `ako compose` writes for loopback addresses, in a folder of a difficult name."""
    folder = os.path.join(bench.folder, "its $own: folder")
    os.mkdir(folder)
    with open(os.path.join(folder, "cluster.yaml"), "w") as file:
        file.write("{run: any, model: mlp, "
                   f"data: {{path: '{bench.source}/experiments/mnist/data'}}, "
                   "peers: [{name: first, address: '127.0.0.1:7701'}, "
                   "{name: Second_2, address: '127.0.0.1:7702'}]}\n")
    run(bench.ako, "compose", "cluster.yaml", "--image", IMAGE, "--set", "training.epochs=0.3",
        "-o", "compose.yaml", cwd=folder)
    with Cluster(bench, ["first", "Second_2"], os.path.join(folder, "compose.yaml")) as cluster:
        cluster.up()
        cluster.check_trained(80)


CASES = {name[len("case_"):]: case for name, case in list(globals().items())
         if name.startswith("case_")}


class Bench:
    """What a case works with."""

    def __init__(self, compose, ako, source, folder):
        self.compose, self.ako, self.source, self.folder = compose, ako, source, folder


def run_cases(names, bench, folder):
    """How many failed."""
    failed = 0
    for name in names:
        began = time.monotonic()
        bench.folder = tempfile.mkdtemp(prefix=name, dir=folder)
        try:
            CASES[name](bench)
            print(f"ok     {name} ({time.monotonic() - began:.1f} s)", flush=True)
        except (Failure, OSError, ValueError) as error:
            failed += 1
            print(f"FAILED {name} ({time.monotonic() - began:.1f} s): {error}", flush=True)
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--ako", required=True)
    parser.add_argument("--source", required=True)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("cases", nargs="*", choices=[*CASES, []])
    words = parser.parse_args()
    ako, source = os.path.abspath(words.ako), os.path.abspath(words.source)
    folder = tempfile.mkdtemp(prefix="ako-compose-")
    try:
        prepare(source)
        compose = compose_command()
        began = time.monotonic()
        build_image(ako, source, folder, words.full)
        megabytes = int(run("docker", "image", "inspect", "-f", "{{.Size}}", IMAGE)) / 1e6
        print(f"image  {time.monotonic() - began:.1f} s, {megabytes:.0f} MB", flush=True)
        bench = Bench(compose, ako, source, folder)
        return 1 if run_cases(words.cases or CASES, bench, folder) else 0
    except Skip as why:
        print(f"skipped: {why}")
        return SKIPPED
    except Failure as failure:
        print(f"FAILED image: {failure}")
        return 1
    finally:
        # The libraries' image stays, for the next time; the program's and the compiler's do not.
        works("docker", "rmi", IMAGE)
        works("docker", "image", "prune", "-f", "--filter", "label=ako.stage=build")
        shutil.rmtree(folder)


if __name__ == "__main__":
    sys.exit(main())
