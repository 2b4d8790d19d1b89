"""Containers: the shipped cluster file on the real engine. Python's standard library only.

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
import urllib.parse

from bench import Failure, Skipped, check, check_equal, wait_for
from browser import Browser
from engine import SKIPPED, Skip, prepare, replace_image, run, works
from observing import free_ports_in_a_row, get

FULL_BUILD_PATIENCE_S = 1700
RUNTIME_IMAGE, IMAGE = "ako-test-runtime", "ako-test"
PROMETHEUS_IMAGE = "ako-test-prometheus"
PEERS = "abcd"
LATE_S = 20   # how much later than the others a peer may be started here
PAUSE_S = 10


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
    """The services of a Compose file in a project of their own, removed with everything they made
    when the block ends."""

    def __init__(self, bench, services, file, port=None, changes=None):
        """`port`: where the first of the services is observed; None: nowhere. `changes`: a second
        file, which overrides the first."""
        self.name = f"ako-test-{os.getpid()}-{os.path.basename(bench.folder)[-8:].lower()}"
        self.services, self.port, self.folder = services, port, bench.folder
        self.words = [*bench.compose, "-p", self.name, "-f", file]
        self.words += ["-f", changes] if changes else []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        run(*self.words, "down", "--volumes", "--remove-orphans", "--timeout", "2")
        for kind in (["ps", "-a"], ["network", "ls"], ["volume", "ls"]):
            left = run("docker", *kind, "-q", "--filter",
                       f"label=com.docker.compose.project={self.name}")
            check_equal(left, "", f"what `docker {' '.join(kind)}` shows after `down`")

    def up(self, *services, **environment):
        run(*self.words, "up", "-d", "--no-build", *services, env=dict(os.environ, **environment))

    def container(self, service):
        return run(*self.words, "ps", "-aq", service).strip()

    def log(self, service):
        return run("docker", "logs", self.container(service))

    def inspect(self, service, what):
        return run("docker", "inspect", "-f", what, self.container(service)).strip()

    def made(self):
        """The services that have a container."""
        return sorted(run("docker", "ps", "-a", "--filter",
                          f"label=com.docker.compose.project={self.name}", "--format",
                          '{{.Label "com.docker.compose.service"}}').split())

    def line(self, service):
        """The newest metrics line of a peer, by the port that its container publishes; None while
        nobody answers."""
        try:
            status = json.loads(get(self.port + self.services.index(service), "/status.json"))
        except (OSError, ValueError):
            return None
        check_equal(status["peer"], service.partition("-")[0], "who answers")
        return status["line"]

    def line_now(self, service):
        """The same of a peer that answers."""
        return wait_for(lambda: self.line(service), f"{service} answers", 30)

    def wait_for_training(self):
        for service in self.services:
            wait_for(lambda service=service: self.line_now(service)["round"] > 0,
                     f"{service} trains", 120)

    def results(self, service):
        """The folder of its newest run, a copy."""
        copied = os.path.join(self.folder, f"results-{service}")
        run("docker", "cp", f"{self.container(service)}:/results/{service}", copied)
        return os.path.join(copied, "latest")

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
        peers = [service.partition("-")[0] for service in self.services]
        check_equal(said.pop().split(" on ")[1], ", ".join(peers), "who finished")


def shipped_cluster(bench, epochs, listen=None, changes=None):
    """What `ako compose` writes for the shipped cluster file, but with the image of this test, few
    epochs, and ports of this machine that are free. `listen`: where, instead of what it says."""
    port = free_ports_in_a_row(len(PEERS))
    shipped = os.path.join(bench.source, "deploy", "cluster.yaml")
    if listen:
        with open(shipped) as file:
            text = file.read()
        shipped = os.path.join(bench.folder, "cluster.yaml")
        data = os.path.join(bench.source, "experiments", "mnist", "data")
        with open(shipped, "w") as file:
            file.write(text.replace("0.0.0.0:7701", listen)
                       .replace("../experiments/mnist/data", data))
    written = os.path.join(bench.folder, "compose.yaml")
    run(bench.ako, "compose", shipped, "--image", IMAGE, "--set", f"training.epochs={epochs}",
        "--set", f"observe.address=0.0.0.0:{port}", "-o", written)
    return Cluster(bench, list(PEERS), written, port, changes)


def case_up(bench):
    """Everyone at once, in the foreground, as in the README."""
    run(*bench.compose, "-f", os.path.join(bench.source, "deploy", "compose.yaml"), "config", "-q")
    with shipped_cluster(bench, 0.5) as cluster:
        output = run(*cluster.words, "up", "--no-build")
        check("replicas identical: yes" in output, f"what a user sees:\n{output}")
        cluster.check_trained(90)
        check_equal(cluster.made(), list(PEERS), "what is started without a profile")
        # The results can be had, and belong to a user who is not root.
        latest = cluster.results("b")
        with open(os.path.join(latest, "result-b.json")) as file:
            check_equal(json.load(file)["identical"], True, "identical in b's result")
        check(os.path.exists(os.path.join(latest, "model.safetensors")), "b's model")
        check("uid=10001" in run("docker", "run", "--rm", "--entrypoint", "id", IMAGE),
              "the image's user")


def case_any_order(bench):
    """The last peer first, each of the others only when the ones before say what they miss, and
    the first one long after them."""
    with shipped_cluster(bench, 0.2) as cluster:
        cluster.up("d")
        wait_for(lambda: re.search(r"waiting for a \(the name in a:7701 does not resolve: .*\), b",
                                   cluster.log("d")), "d says which names do not resolve", 60)
        cluster.up("c")
        wait_for(lambda: re.search(r"waiting for a \(the name in a:7701 .*\), b \(the name in "
                                   r"b:7701 .*\)\n", cluster.log("d")), "d has met c", 60)
        cluster.up("b")
        line = wait_for(lambda: (line := cluster.line("b")) and line["time"] > LATE_S and line,
                        "b waits", 60)
        check_equal((line["phase"], line["waiting_for"]), ("waiting", ["a"]), "for whom b waits")
        check_equal(cluster.inspect("b", "{{.State.Health.Status}}"), "healthy", "b, who waits")
        cluster.up("a")
        cluster.check_trained(80)


def case_started_again(bench):
    """A container whose peer dies, as by the system when memory is short, is started again by the
    engine; the peer takes its row from the others, and all end with the same."""
    with shipped_cluster(bench, 1.5) as cluster:
        cluster.up()
        cluster.wait_for_training()
        wait_for(lambda: cluster.line_now("c")["round"] > 50, "c has made some rounds", 60)
        os.kill(int(cluster.inspect("c", "{{.State.Pid}}")), signal.SIGKILL)
        state = "{{.RestartCount}} {{.State.Running}}"
        wait_for(lambda: cluster.inspect("c", state) == "1 true", "it is started again", 30)
        cluster.check_trained(90)
        check_equal(cluster.inspect("c", state), "1 false", "restarts")


def links_to(cluster, peer):
    """What the others say of their link with a peer."""
    links = [link for other in cluster.services if other != peer
             for link in cluster.line_now(other)["links"] if link["peer"] == peer]
    check_equal(len(links), len(PEERS) - 1, f"links to {peer}")
    return links


def case_seen_and_paused(bench):
    """Containers that are healthy and can be looked at from this machine; and one that is paused:
    the others say so and go on, and it goes on after."""
    with shipped_cluster(bench, 200) as cluster:
        cluster.up()
        cluster.wait_for_training()
        table = run(bench.ako, "status", f"127.0.0.1:{cluster.port + 1}")
        check("training" in table and "does not answer" not in table, table)
        check_equal(set(PEERS) - {words[0] for row in table.splitlines() if (words := row.split())},
                    set(), f"who is not in the table:\n{table}")
        for service in cluster.services:
            wait_for(lambda service=service: cluster.inspect(
                service, "{{.State.Health.Status}}") == "healthy", f"{service} is healthy", 60, 0.5)
        checks = json.loads(cluster.inspect("b", "{{json .State.Health.Log}}"))
        check("b is well: training, round " in checks[-1]["Output"], f"what is said: {checks}")

        container, began = cluster.container("d"), time.monotonic()
        # The kernel's freezer gives up where the machine is busy.
        wait_for(lambda: works("docker", "pause", container), "the engine pauses it", 60, 1)
        wait_for(lambda: all(link["presence"] == "lost" for link in links_to(cluster, "d")),
                 "all say that d is lost", 10, 0.2)
        before = {other: cluster.line_now(other)["round"] for other in "abc"}
        wait_for(lambda: all(cluster.line_now(other)["round"] > before[other] for other in "abc"),
                 "the others go on", 10, 0.2)
        wait_for(lambda: time.monotonic() - began >= PAUSE_S, "the pause is long", 60, 0.2)
        check("d is lost: " in cluster.log("a"), "a says so to people")
        run("docker", "unpause", container)
        then = cluster.line_now("d")["round"]
        wait_for(lambda: all(link["presence"] == "up" and link["advancing"]
                             for link in links_to(cluster, "d")), "d takes part again", 30, 0.2)
        wait_for(lambda: cluster.line_now("d")["round"] > then, "d trains on", 10, 0.2)


def network_file(bench, network):
    """Changes of a Compose file, by which its one network is so."""
    changes = os.path.join(bench.folder, "network.yaml")
    with open(changes, "w") as file:
        json.dump({"networks": {"default": network}}, file)
    return changes


def case_other_address(bench):
    """A container that comes back to its network with another address is found by its name."""
    changes = network_file(bench, {"ipam": {"config": [
        {"subnet": f"10.203.{os.getpid() & 0xff}.0/24"}]}})
    with shipped_cluster(bench, 200, changes=changes) as cluster:
        cluster.up()
        cluster.wait_for_training()
        cluster.services = list("abc")  # who can be asked: d's port may not be published again
        network, container = f"{cluster.name}_default", cluster.container("d")
        address = "{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}"
        before = cluster.inspect("d", address)
        run("docker", "network", "disconnect", network, container)
        wait_for(lambda: all(link["presence"] == "lost" for link in links_to(cluster, "d")),
                 "all say that d is lost", 30, 0.2)
        taker = f"{cluster.name}-taker"
        run("docker", "run", "-d", "--rm", "--name", taker, "--network", network, "--ip", before,
            "--entrypoint", "sleep", IMAGE, "300")
        try:
            run("docker", "network", "connect", "--alias", "d", network, container)
            check(cluster.inspect("d", address) != before, f"d is at {before} again")
            rounds = [link["round"] for link in links_to(cluster, "d")]
            wait_for(lambda: all(
                link["presence"] == "up" and link["advancing"] and link["round"] > round
                for link, round in zip(links_to(cluster, "d"), rounds)),
                     "d takes part again", 60, 0.2)
        finally:
            run("docker", "kill", taker)


def case_ip6(bench):
    """Peers whose names resolve to addresses of IPv6 too, and who listen there."""
    changes = network_file(bench, {"enable_ipv6": True, "ipam": {"config": [
        {"subnet": f"fd00:a60:{os.getpid() & 0xffff:x}::/64"}]}})
    with shipped_cluster(bench, 200, "[::]:7701", changes) as cluster:
        cluster.up()
        cluster.wait_for_training()
        table = run("docker", "exec", cluster.container("a"), "cat", "/proc/net/tcp6")
        established = [words[1:3] for row in table.splitlines()[1:]
                       if (words := row.split())[3] == "01"]
        port = f":{7701:04X}"
        others = {other.partition(":")[0] for own, other in established
                  if own.endswith(port) or other.endswith(port)}
        others = {other for other in others if not other.startswith("0" * 16 + "FFFF0000")}
        check_equal(len(others), len(PEERS) - 1, f"with whom a has sessions by IPv6:\n{table}")


def case_page(bench):
    """The page that one container publishes joins what all of them publish."""
    with Browser(bench.folder) as browser, shipped_cluster(bench, 200) as cluster:
        cluster.up()
        cluster.wait_for_training()
        browser.open(f"http://127.0.0.1:{cluster.port}/")
        at_work = f"All {len(PEERS)} peers are at work."
        wait_for(lambda: at_work in (browser.text() or ""), "all are seen", 30, 0.2)
        flows = "[...document.querySelectorAll('#links td.good')].length"
        links = len(PEERS) * (len(PEERS) - 1)
        wait_for(lambda: browser.value(flows) == links, "both ends of all links are known", 30, 0.2)


def case_baseline(bench):
    """The profile baseline alone: services of its own, on a parameter server."""
    with shipped_cluster(bench, 0.3) as cluster:
        cluster.services = [f"{peer}-baseline" for peer in PEERS]
        cluster.up(*cluster.services)
        cluster.check_trained(80)
        check_equal(cluster.made(), cluster.services, "what is started")
        with open(os.path.join(cluster.results("b-baseline"), "config.yaml")) as file:
            text = file.read()
        for expected in ("mode: parameter-server", "servers: 4"):
            check(expected in text, f"{expected!r} in:\n{text}")


def case_limits(bench):
    """The profile limits alone: what each may compute and send."""
    with shipped_cluster(bench, 0.3) as cluster:
        cluster.services = [f"{peer}-limits" for peer in PEERS]
        cluster.up(*cluster.services, AKO_MBIT="20")
        for service in cluster.services:
            check_equal(cluster.inspect(service, "{{.HostConfig.CpuPeriod}} "
                                        "{{.HostConfig.CpuQuota}}"), "10000 2500", service)
        cluster.check_trained(80)
        check_equal(cluster.made(), cluster.services, "what is started")
        folder = cluster.results("b-limits")
        with open(os.path.join(folder, "result-b.json")) as file:
            result = json.load(file)
        check(5 < result["egress_mbit"] < 22, f"b sent {result['egress_mbit']} Mbit/s")
        # A container's share is that of all its threads, of the time that its rounds took.
        share = result["cpu_seconds"] / result["train_seconds"]
        check(0.05 < share < 0.3, f"b had {share} processors")
        with open(os.path.join(folder, "metrics-b.jsonl")) as file:
            throttled = [json.loads(line)["usage"]["throttled"] for line in file]
        # How much of it depends on who else runs on the machine.
        check(max(throttled) > 0.005, f"for how long its quota was spent: {throttled}")


def case_scraped(bench):
    """The profile observe: Prometheus gets the figures of all peers."""
    replace_image(PROMETHEUS_IMAGE, os.path.join(bench.source, "deploy", "observe"))
    port = free_ports_in_a_row(1)
    with shipped_cluster(bench, 200) as cluster:
        cluster.up(*PEERS, "prometheus", AKO_PROMETHEUS_IMAGE=PROMETHEUS_IMAGE,
                   AKO_PROMETHEUS_PORT=str(port))

        def trained():
            """Which peers have made a round, as Prometheus knows."""
            query = urllib.parse.quote("ako_rounds_total > 0")
            try:
                answer = json.loads(get(port, f"/api/v1/query?query={query}"))
            except (OSError, ValueError):
                return None
            return sorted(found["metric"]["instance"] for found in answer["data"]["result"])

        wait_for(lambda: trained() == list(PEERS), "rounds of all peers", 120, 0.5)


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
        cluster.wait_for_training()
        run(*cluster.words, "stop", "d")
        log = cluster.log("d")
        check("exit 0 instead of 143" in log and "all that it learned is at a, b, c" in log, log)
        check_equal(cluster.inspect("a", "{{.State.Running}}"), "true", "a goes on")
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
        except Skipped as why:
            print(f"skipped {name}: {why}", flush=True)
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
        # The images of libraries and of Prometheus stay, for the next time; the program's and the
        # compiler's do not.
        works("docker", "rmi", IMAGE)
        works("docker", "image", "prune", "-f", "--filter", "label=ako.stage=build")
        shutil.rmtree(folder)


if __name__ == "__main__":
    sys.exit(main())
