"""The processes of a chaos run. A peer of the cluster file has one life after the other; each is a
process of `ako train` in the namespace of its peer, with results in a folder of its own. A life
keeps what its process said and wrote, with the moment at which that was seen here. One thread; a
process that is started ends with the thread that started it.
"""

import collections
import glob
import hashlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import types

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "e2e"))
from bench import Process  # noqa: E402

HANG_PATIENCE_S = 10  # until a traced thread goes on: at once, but on a machine that swaps
# Before its part in the run is over: who joins trains on.
TRAINING = ("waiting", "joining", "training")

Line = collections.namedtuple("Line", "at own")  # when it was seen here, and what it says


class WholeLines:
    """What has been appended to a file, line by line. Half a line that a full disk left is taken
    back by who writes, and another comes in its place: only what is behind the last end of a line
    is read again."""

    def __init__(self, path):
        self._file = open(path, "rb")
        self._whole = 0  # bytes

    def new(self):
        """The whole lines that came since the last call."""
        if self._file.closed:
            return []
        self._file.seek(self._whole)
        *lines, _ = self._file.read().split(b"\n")
        self._whole += sum(len(line) + 1 for line in lines)
        return lines

    def close(self):
        self._file.close()


class Life:
    """One process. `role`: first, again (after a kill), late, or second (under a live name)."""

    def __init__(self, name, number, role, folder, process, log=None):
        """`folder`: of its results. `log`: the file that gets what it said; on another disk than
        its results, which may be full."""
        self.name, self.number, self.role, self.folder = name, number, role, folder
        self.process, self.log = process, log
        self.began = time.monotonic()
        self.ended = None
        self.exit = None
        self.killed_at = None
        self.metrics = []
        self._file = None
        self._hanging = None

    @property
    def runs(self):
        return self.ended is None

    def label(self):
        return self.name if self.number == 1 else f"{self.name} (life {self.number})"

    def poll(self):
        """Takes in what is new. True if the process has ended since the last time."""
        self._read_metrics()
        if self.ended is not None or self.process.process.poll() is None:
            return False
        self.ended, self.exit = time.monotonic(), self.process.process.returncode
        self.process.reader.join(5)
        self._read_metrics()
        if self._file:
            self._file.close()
        if self.log:
            with open(self.log, "w") as file:
                file.write(self.process.output() + "\n")
        return True

    def _read_metrics(self):
        if self._file is None:
            found = glob.glob(f"{self.folder}/*/metrics-{self.name}.jsonl")
            if not found:
                return
            self._file = WholeLines(found[0])
        for line in self._file.new():
            try:
                self.metrics.append(Line(time.monotonic(), json.loads(line)))
            except ValueError:
                pass  # half of one, written before the disk was full

    def newest(self):
        return self.metrics[-1].own if self.metrics else None

    def phase(self):
        return self.metrics[-1].own["phase"] if self.metrics else "starting"

    def silent_s(self):
        """How old its newest line of metrics is: on a full disk none come."""
        return time.monotonic() - (self.metrics[-1].at if self.metrics else self.began)

    def rounds(self):
        return self.metrics[-1].own["round"] if self.metrics else 0

    def trains(self):
        return self.runs and self.phase() in TRAINING and self.rounds() > 0

    def result(self):
        """What it wrote at its end, or None."""
        for path in glob.glob(f"{self.folder}/*/result-{self.name}.json"):
            try:
                with open(path) as file:
                    return json.load(file)
            except ValueError:
                return None  # cut off by a full disk
        return None

    def model_digest(self):
        """SHA-256 of the parameters in the model that it wrote, or None."""
        for path in glob.glob(f"{self.folder}/*/model.safetensors"):
            with open(path, "rb") as file:
                head = int.from_bytes(file.read(8), "little")
                file.seek(8 + head)
                return hashlib.sha256(file.read()).hexdigest()
        return None

    # ---- what is done to it

    def signal(self, number):
        if self.runs:
            try:
                os.kill(self.process.process.pid, number)
            except ProcessLookupError:
                pass

    def kill(self):
        if self.process.process.poll() is None:  # else it has ended by itself
            self.killed_at = time.monotonic()
        self.signal(signal.SIGKILL)
        self.go_on()

    def hang(self):
        self._hanging = subprocess.Popen(
            [sys.executable, str(HERE / "hang.py"), str(self.process.process.pid)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        said = self._hanging.stdout.readline().strip()
        if said != "hangs":
            self.go_on()
        return said

    def go_on(self):
        """The end of hang()."""
        if self._hanging is not None:
            self._hanging.stdin.close()
            self._hanging.wait(HANG_PATIENCE_S)
            self._hanging.stdout.close()
            self._hanging = None


class Cluster:
    """All lives of all peers of a file. The place of a peer in the network is its place in the
    file; a second process under a live name has a place of its own, behind all of them."""

    def __init__(self, ako, file, names, network, folder, words=()):
        """`words`: more of the command line, such as --set."""
        self.ako, self.file, self.names, self.network = ako, file, list(names), network
        self.folder = folder
        self.words = list(words)
        self.lives = []

    def place(self, name):
        return self.names.index(name) + 1

    def outside(self):
        """The place of a second process."""
        return len(self.names) + 1

    def start(self, name, role="first"):
        number = sum(1 for life in self.lives if life.name == name) + 1
        folder = os.path.join(self.output(name), f"life{number}")
        peers = ", ".join(f"{{name: {it}, address: '{self.network.address(self.place(it))}:7701'}}"
                          for it in self.names)
        words = ["--set", f"peers=[{peers}]", "--set", f"output={folder}", *self.words]
        place = self.place(name)
        if role == "second":
            place = self.outside()
            port = 7701 + sum(1 for life in self.lives if life.role == "second")
            words += ["--set", f"peers.{self.place(name) - 1}.listen=0.0.0.0:{port}"]
        case = types.SimpleNamespace(ako=self.ako, folder=self.folder)
        process = Process(case, "train", self.file, "--peer", name, *words,
                          before=self.network.inside(place))
        life = Life(name, number, role, folder, process,
                    os.path.join(self.folder, f"said-{name}{number}.txt"))
        self.lives.append(life)
        return life

    def output(self, name):
        """Where the results of all lives of a peer lie."""
        folder = os.path.join(self.folder, name)
        os.makedirs(folder, exist_ok=True)
        return folder

    def current(self, name):
        """The newest life of a peer, or None before its first."""
        lives = [life for life in self.lives if life.name == name and life.role != "second"]
        return lives[-1] if lives else None

    def running(self):
        return [life for life in self.lives if life.runs]

    def poll(self):
        """The lives that have ended since the last time."""
        return [life for life in self.lives if life.poll()]

    def progress(self):
        return max((life.newest()["progress"] for life in self.lives if life.metrics), default=0.0)

    def end_all(self):
        for life in self.running():
            life.kill()
            life.process.process.wait()
            life.poll()
