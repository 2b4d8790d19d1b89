"""Several machines: the commands of README.md, word for word, between three containers with sshd.
Python's standard library only.

    machines_test.py --ako BUILD/ako --source REPOSITORY

The first container is the machine that one sits at, with the clone and the package that the first
command makes; that command itself is not run, for it compiles. Addresses are those of the
containers, and the run is short. Exits 77 and says why where there is no engine or no base image.
"""

import json
import os
import re
import subprocess
import sys
import time

import package_test
from bench import Failure, check, check_equal, wait_for
from engine import prepare, run, works

IMAGE = "ako-test-machine"
BESIDE = "openssh-client openssh-server openssl python3 sudo tcsh"
# One key for all three, and every host known: what `ssh-copy-id` and a first `ssh` leave.
KEYS = """RUN mkdir -p -m 755 /run/sshd && mkdir -m 700 ~/.ssh && cd ~/.ssh \\
    && ssh-keygen -q -t ed25519 -N '' -f id_ed25519 && cp id_ed25519.pub authorized_keys \\
    && ln -s /clone ~/ako \\
    && echo "* $(cut -d ' ' -f 1,2 /etc/ssh/ssh_host_ed25519_key.pub)" > known_hosts
CMD ["/usr/sbin/sshd", "-D", "-e"]
"""
HEADING = "## Start on several machines"
CLONE = "/clone"  # where the first machine has what one would have cloned; ~/ako is the same
RUNS = "~/.ako-runs"
LONG = "{name: synthetic, parameters: 50000, compute_ms: 5, samples: 6000000}"  # half an hour


def commands_of(readme):
    """The commands of the first code block behind the heading."""
    section = readme.split(HEADING + "\n", 1)[1]
    block = re.search(r"(?:^    .*\n|^\n)*^    .*\n", section, re.MULTILINE).group()
    return "".join(line[4:] or "\n" for line in block.splitlines(keepends=True)).strip() + "\n"


class Machines:
    """Three containers in a network of their own, removed when the block ends."""

    def __init__(self):
        self.network = f"ako-test-{os.getpid()}"
        self.names = [f"{self.network}-{number}" for number in (1, 2, 3)]
        self.addresses = []

    def __enter__(self):
        run("docker", "network", "create", self.network)
        for name in self.names:
            run("docker", "run", "-d", "--name", name, "--network", self.network, "--tmpfs",
                f"{CLONE}:exec", IMAGE)
            self.addresses.append(run(
                "docker", "inspect", "-f",
                "{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}", name).strip())
        return self

    def __exit__(self, *_):
        works("docker", "rm", "-f", "-v", *self.names)
        works("docker", "network", "rm", self.network)

    def shell(self, number, script, **more):
        return run("docker", "exec", "-w", CLONE, self.names[number], "bash", "-ec", script, **more)

    def training(self):
        """On how many machines a peer runs."""
        found = (self.shell(number, "grep -lx ako /proc/[0-9]*/comm || true")
                 for number in range(3))
        return sum(1 for text in found if text.strip())


def put_clone(machines, package, source):
    """What one would have cloned and built, as far as the commands need it."""
    for words, there in (
            (["tar", "-c", "-C", source, "deploy/over-ssh", "experiments/mnist"],
             "tar -x --no-same-owner"),
            (["cat", package], "mkdir -p build/release && cat > build/release/ako.deb")):
        with subprocess.Popen(words, stdout=subprocess.PIPE) as sent:
            done = subprocess.run(["docker", "exec", "-i", "-w", CLONE, machines.names[0], "sh",
                                   "-c", there], stdin=sent.stdout, capture_output=True, text=True)
        check_equal((sent.returncode, done.returncode), (0, 0), f"{words}: {done.stderr}")


def recipe(source, addresses):
    """The commands for these machines, without the first, which builds; and a short run."""
    with open(os.path.join(source, "README.md")) as file:
        commands = commands_of(file.read())
    first, rest = commands.split("\n", 1)
    check("--target package" in first, f"the first command builds the package: {first}")
    rest = rest.replace("10.0.0.{1,2,3}", " ".join(addresses))
    for number, address in enumerate(addresses, 1):
        check(f"10.0.0.{number}" in rest, f"machine {number} in:\n{rest}")
        rest = rest.replace(f"10.0.0.{number}", address)
    short = re.sub(r"epochs: [\d.]+", "epochs: 0.2", rest)
    check(short != rest, f"epochs in:\n{rest}")
    return short


def check_recipe(machines, source):
    output = machines.shell(0, recipe(source, machines.addresses))
    for name in "abc":
        said = re.search(rf"^{name} \| .*replicas identical: yes \([0-9a-f]{{16}}\) on a, b, c$",
                         output, re.MULTILINE)
        check(said, f"{name}'s last words in:\n{output}")
    left = machines.shell(0, "ls runs/latest/").split()
    expected = {f"{kind}-{name}.{end}" for name in "abc"
                for kind, end in (("metrics", "jsonl"), ("result", "json"), ("log", "txt"))}
    expected.add("model.safetensors")
    check(expected <= set(left), f"what lies here: {left}")
    results = [json.loads(machines.shell(0, f"cat runs/latest/result-{name}.json"))
               for name in "abc"]
    check_equal(len({result["digest"] for result in results}), 1, "digests of three peers")
    model = machines.shell(0, "head -c 2000 runs/latest/model.safetensors | tr -cd '[:print:]'")
    check(results[0]["digest"] in model, f"the model is the one that all agreed on: {model}")
    for number in range(3):
        modes = machines.shell(number, f"stat -c %a {RUNS} {RUNS}/three {RUNS}/three/cluster.key")
        check_equal(modes.split(), ["700", "700", "600"], "who may read the key")
        there = set(machines.shell(number, "ls -A").split())
        expected = {"build", "cluster.key", "cluster.yaml", "deploy", "experiments", "runs"}
        check_equal(there, set() if number else expected, f"in ~/ako of machine {number + 1}")


class LongRun:
    """over-ssh in the first container, as in the foreground of a terminal; all peers train."""

    def __init__(self, machines, name):
        self.machines = machines
        self.process = subprocess.Popen(
            ["docker", "exec", "-w", CLONE, machines.names[0], "bash", "-c",
             'echo $$ > pid; exec "$@"', "-", "deploy/over-ssh", "cluster.yaml", "--set",
             f"run={name}", "--set", f"model={LONG}"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        logs = f"cat {RUNS}/{name}/runs/*/*/{name}-*/log-*.txt 2>/dev/null || true"
        wait_for(lambda: self.process.poll() is not None or all(
            machines.shell(number, logs).count("session up") == 2 for number in range(3)),
            "every peer has met the two others", 60)
        check(self.process.poll() is None, "it ended at once")
        check_equal(machines.training(), 3, "machines on which a peer runs")

    def signal(self, name):
        """As a terminal sends it: to the whole group."""
        self.machines.shell(0, f"kill -{name} -- -$(cat pid)")

    def finish(self):
        try:
            output, _ = self.process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise Failure("over-ssh still runs after 60 s")
        return output


def check_interrupt(machines):
    """Ctrl-C: everyone agrees, and the model comes here all the same, also where the shell of one
    machine is csh and that of another says something when it starts."""
    machines.shell(1, "usermod -s /bin/tcsh root")
    machines.shell(2, "sed -i '1i echo Welcome' ~/.bashrc")
    long_run = LongRun(machines, "interrupted")
    long_run.signal("INT")
    output = long_run.finish()
    check_equal(long_run.process.returncode, 130, f"exit status; it said:\n{output}")
    check("stopping all peers" in output and "the model: runs/" in output, output)
    check_equal(machines.training(), 0, "machines on which a peer runs after the end")


def check_killed(machines):
    """Where over-ssh is killed, nobody trains on."""
    long_run = LongRun(machines, "killed")
    long_run.signal("KILL")
    wait_for(lambda: machines.training() == 0, "all peers end", 60)
    long_run.finish()


def check_refused(machines):
    """What keeps a run from starting is said with the machine, before any peer is started."""
    machines.shell(2, "mv /usr/bin/ako /usr/bin/ako-hidden")
    output = machines.shell(0, "! deploy/over-ssh cluster.yaml 2>&1")
    check(f"{machines.addresses[2]} has no ako" in output and "apt-get install" in output, output)
    machines.shell(2, "printf '#!/bin/sh\\necho ako 0.0.1\\n' > /usr/bin/ako")
    machines.shell(2, "chmod +x /usr/bin/ako")
    output = machines.shell(0, "! deploy/over-ssh cluster.yaml 2>&1")
    check("different versions" in output and "ako 0.0.1" in output, output)
    machines.shell(2, "rm ~/.ssh/authorized_keys")
    output = machines.shell(0, "! deploy/over-ssh cluster.yaml 2>&1")
    check("cannot be reached" in output and "ssh-copy-id" in output, output)


def test(ako, source, folder):
    prepare(source)
    package = package_test.make_package(ako, folder)
    package_test.make_image(package, folder, IMAGE, BESIDE, KEYS)
    with Machines() as machines:
        put_clone(machines, package, source)
        for part in (check_recipe, check_interrupt, check_killed, check_refused):
            began = time.monotonic()
            part(*([machines, source] if part is check_recipe else [machines]))
            print(f"ok {part.__name__} ({time.monotonic() - began:.1f} s)", flush=True)


if __name__ == "__main__":
    sys.exit(package_test.main(test, __doc__))
