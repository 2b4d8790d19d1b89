"""How a case starts the program and looks at it: processes whose output is read as it comes, the
folder of a case, and checks that say what is wrong. Python's standard library only."""

import json
import os
import re
import socket
import subprocess
import threading
import time

# Nothing here takes a tenth of this on an idle machine; a hang must not outlive the test.
PATIENCE_S = 120


class Failure(Exception):
    """What a case found wrong."""


class Skipped(Exception):
    """Why a case cannot be run here."""


def check(condition, what):
    if not condition:
        raise Failure(what)


def check_equal(found, expected, what):
    check(found == expected, f"{what}: expected {expected!r}, found {found!r}")


def wait_for(condition, what, seconds=PATIENCE_S, poll_s=0.02):
    """Polls until `condition()` is true and returns what it returned."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        result = condition()
        if result:
            return result
        time.sleep(poll_s)
    raise Failure(f"not within {seconds} s: {what}")


def newest_run(output):
    """The folder of the newest run in this one. `latest` there is the newest that has trained."""
    def made_at(name):
        when, number = re.search(r"-(\d{8}-\d{6})(?:-(\d+))?$", name).groups(default="1")
        return when, int(number)

    folders = [entry.name for entry in os.scandir(output) if not entry.is_symlink()] \
        if os.path.isdir(output) else []
    return os.path.join(output, max(folders, key=made_at) if folders else "none")


def what_is_left(folder, log_lines=15):
    """What the runs in this folder left behind, as a reader of a failure wants it: the standing of
    each peer in the summary, and the last lines of each log."""
    text = []
    for where, _, names in sorted(os.walk(folder)):
        for name in sorted(names):
            path = os.path.join(where, name)
            if name == "summary.json":
                with open(path, errors="replace") as file:
                    text += [f"{path}:", file.read().rstrip("\n")]
            elif re.fullmatch(r"log-.*\.txt", name):
                with open(path, errors="replace") as file:
                    text += [f"{path}, the end:", *file.read().split("\n")[-log_lines - 1:-1]]
    return "\n".join(text)


class Process:
    """A running ako whose output is read, line by line with its time, as it comes."""

    def __init__(self, bench, *words, before=(), **environment):
        """`before`: words of a command that becomes the program, such as env."""
        self.lines = []  # (time, text)
        environment = dict(os.environ, **{"OPENBLAS_NUM_THREADS": "1", **environment})
        self.process = subprocess.Popen(
            [*before, bench.ako, *words], cwd=bench.folder, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="surrogateescape", env=environment)
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.append((time.monotonic(), line.rstrip("\n")))

    def output(self):
        return "\n".join(text for _, text in list(self.lines))

    def line_with(self, *words):
        """(time, text) of the first line that has all the words, or None."""
        for when, text in list(self.lines):
            if all(word in text for word in words):
                return when, text
        return None

    def wait(self, seconds=PATIENCE_S):
        try:
            status = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise Failure(f"still running after {seconds} s; it said:\n{self.output()}")
        self.reader.join(5)
        return status

    def expect(self, status, seconds=PATIENCE_S):
        found = self.wait(seconds)
        check(found == status, f"exit {found}, expected {status}; it said:\n{self.output()}")
        return self.output()

    def peers(self):
        """Process ids of launch's peers by name."""
        pid = self.process.pid
        found = {}
        try:
            with open(f"/proc/{pid}/task/{pid}/children") as file:
                children = file.read().split()
            for child in children:
                with open(f"/proc/{child}/cmdline") as file:
                    words = file.read().split("\0")
                if "--peer" in words:
                    found[words[words.index("--peer") + 1]] = int(child)
        except (FileNotFoundError, ProcessLookupError):
            pass
        return found


class Bench:
    """The folder of one case and how it starts the program."""

    def __init__(self, ako, source, folder):
        self.ako, self.source, self.folder = ako, source, folder
        self.started = []

    def end(self):
        """Whatever a case that failed has left running."""
        for process in self.started:
            if process.poll() is None:
                process.kill()

    def file(self, peers, **keys):
        """Writes a cluster file of `peers` peers on ports that are free now."""
        lines = ["run: e2e", "seed: 3", "model: " + keys.pop("model", "mlp"),
                 f"data: {{path: '{self.source}/experiments/mnist/data'}}"]
        for group in ("training", "exchange"):
            inner = keys.pop(group, None)
            if inner:
                lines.append(f"{group}: {{{inner}}}")
        lines += [f"{key}: {value}" for key, value in keys.items()] + ["peers:"]
        sockets = [socket.socket() for _ in range(peers)]
        for number, sock in enumerate(sockets):
            sock.bind(("127.0.0.1", 0))
            lines.append(f"  - {{name: {chr(ord('a') + number)}, "
                         f"address: '127.0.0.1:{sock.getsockname()[1]}'}}")
        for sock in sockets:
            sock.close()
        path = os.path.join(self.folder, "cluster.yaml")
        with open(path, "w") as file:
            file.write("\n".join(lines) + "\n")
        return path

    def start(self, *words, **how):
        process = Process(self, *words, **how)
        self.started.append(process.process)
        return process

    def launch(self, *words):
        return self.start("launch", *words, "--free-ports")

    def path(self, name):
        """A file of the newest run, whether it has trained or not."""
        return os.path.join(newest_run(os.path.join(self.folder, "runs")), name)

    def summary(self):
        with open(self.path("summary.json")) as file:
            return json.load(file)

    def log(self, peer):
        """All that this peer has noted so far."""
        with open(self.path(f"log-{peer}.txt")) as text:
            return text.read()

    def metrics(self, peer):
        try:
            with open(self.path(f"metrics-{peer}.jsonl")) as file:
                return [json.loads(line) for line in file if line.endswith("\n")]
        except FileNotFoundError:
            return []


def long_run(bench, peers, seconds, *words, compute_ms=10):
    """Launches peers whose training takes about so long, whatever the machine, and waits until
    all of them train. A round takes `compute_ms`, and more where processors are short."""
    batch = 64
    samples = int(peers * seconds * 1000 / compute_ms) * batch
    file = bench.file(peers, model=f"{{name: synthetic, parameters: 50000, "
                                   f"compute_ms: {compute_ms}, samples: {samples}}}",
                      training="epochs: 1, learning_rate: 0.01, evaluate_every: 0")
    run = bench.launch(file, *words)
    names = [chr(ord("a") + number) for number in range(peers)]
    wait_for(lambda: run.process.poll() is not None or all(has_trained(bench, n) for n in names),
             "all peers train")
    check(run.process.poll() is None, f"launch ended at once; it said:\n{run.output()}")
    return run


def has_trained(bench, name):
    return any(line["round"] > 0 for line in bench.metrics(name))


def check_all_identical(bench, count):
    """`count` peers a, b and so on have trained and agree; returns the summary. Their training has
    to take seconds: all draw from one budget, and who begins late may find it empty."""
    summary = bench.summary()
    names = [chr(ord("a") + number) for number in range(count)]
    check_equal(summary["replicas_identical"], True, "replicas_identical")
    check_equal(summary["finished_with"], names, "finished_with")
    digests = {peer["digest"] for peer in summary["peers"]}
    check_equal(len(digests), 1, "different digests")
    check(re.fullmatch("[0-9a-f]{64}", digests.pop()), "a digest of 64 hexadecimal digits")
    for peer in summary["peers"]:
        check_equal(peer["exit"], 0, f"exit of {peer['name']}")
        check_equal(peer["lost_peers"], [], f"lost peers of {peer['name']}")
        check(peer["rounds"] > 0 and peer["samples"] > 0, f"{peer['name']} has trained")
        if count > 1:
            check(peer["egress_bytes"] > 0 and peer["ingress_bytes"] > 0, "bytes were exchanged")
    return summary
