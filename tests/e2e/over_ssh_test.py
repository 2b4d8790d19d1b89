"""deploy/over-ssh with an `ssh` that runs the command in a folder of this machine, one per host,
and an `ako` that only writes what a training would have: what comes here when connections break,
and who is asked to stop how often. Between real machines: machines_test.py. Python's standard
library only.

    over_ssh_test.py --ako BUILD/ako --source REPOSITORY
"""

import argparse
import importlib.machinery
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from types import SimpleNamespace
from unittest import mock

from bench import Failure, check, check_equal, wait_for

HOSTS = {"a": "one", "b": "two"}
MODEL_BYTES = 1_000_000
TAR_BLOCK_BYTES = 512  # the entry of the folder itself, which comes first
PATIENCE_S = 60
CLUSTER = """{run: tiny, model: {name: synthetic, parameters: 50000, compute_ms: 5, samples: 1000},
 peers: [{name: a, address: "one:7701"}, {name: b, address: "two:7701"}]}
"""
# What a host does is said by files in its folder: `greeting` is what its shell says first, `breaks`
# after how many bytes a copy from there breaks off, and `hold`, a pipe, has a copy wait for a line.
SSH = """#!/bin/sh
while [ "$1" != -- ]; do shift; done
cd "$HOSTS/$2" || exit 255
case $3 in *'
'*) echo "Unmatched '''." >&2; exit 1;; esac
if [ -e greeting ]; then cat greeting; fi
case $3 in *'tar -cf'*)
    if [ -p hold ]; then touch held; read -r line < hold; fi
    if [ -e breaks ]; then sh -c "$3" | head -c "$(cat breaks)"; exit 255; fi;;
esac
exec sh -c "$3"
"""
AKO = """#!/bin/sh
case $1 in
    --version) echo "ako 0.1 (test)"; exit;;
    check) if [ "$3" != --network ]; then exec "$REAL_AKO" "$@"; fi;;
esac
case $1 in
    profile|check)
        while [ "$1" != -o ]; do file=$name; name=$1; shift; done
        if [ "$file" = --peer ]; then echo "$name" >> "$HOSTS/measured"; fi
        if [ "$file" = --peer ]; then file=network; else file=$name; fi
        mkdir -p "$2" && echo "$file of $name" > "$2/$file.json"; exit;;
esac
for word; do case $word in output=*) output=${word#output=};; esac; done
mkdir -p "$output/tiny-1" && cd "$output/tiny-1" || exit 2
echo "$4" > "result-$4.json"
head -c %d /dev/zero | tr '\\0' m > model.safetensors
""" % MODEL_BYTES


class Hosts:
    """Two hosts, a cluster file, and a place where over-ssh is run."""

    def __init__(self, ako, source, folder):
        self.folder = folder
        for host in HOSTS.values():
            os.makedirs(os.path.join(folder, "hosts", host))
        self.write("cluster.yaml", CLUSTER)
        for name, text in (("ssh", SSH), ("ako", AKO)):
            self.write(f"bin/{name}", text)
            os.chmod(os.path.join(folder, "bin", name), 0o755)
        # A copy, for one beside a build would take the program from there.
        self.program = os.path.join(folder, "bin", "over-ssh")
        shutil.copy(os.path.join(source, "deploy", "over-ssh"), self.program)
        self.environment = dict(os.environ, HOSTS=os.path.join(folder, "hosts"), REAL_AKO=ako,
                                PATH=os.path.join(folder, "bin") + ":" + os.environ["PATH"])

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)

    def keep_key(self, bytes_of_key):
        """A cluster file with a key."""
        self.write("cluster.yaml", CLUSTER.replace("run: tiny", "run: tiny, cluster_key_file: key"))
        self.write("key", "k" * bytes_of_key)
        os.chmod(os.path.join(self.folder, "key"), 0o600)

    def start(self, *words):
        """In a process group of its own, as in the foreground of a terminal."""
        self.said = open(os.path.join(self.folder, "said"), "w+")
        return subprocess.Popen([self.program, "cluster.yaml", *words], cwd=self.folder,
                                stdout=self.said, stderr=subprocess.STDOUT, env=self.environment,
                                stdin=subprocess.DEVNULL, start_new_session=True)

    def read(self):
        with open(os.path.join(self.folder, "said")) as file:
            return file.read()

    def finish(self, process):
        try:
            process.wait(timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise Failure(f"over-ssh still runs after {PATIENCE_S} s; it said:\n{self.read()}")
        finally:
            self.said.close()
        return process.returncode, self.read()

    def run(self, status, *left):
        """over-ssh ends with this status and leaves these files here."""
        self.check_end(self.start(), status, *left)
        return self.read()

    def check_end(self, process, status, *left):
        found, said = self.finish(process)
        check_equal(found, status, f"exit status; it said:\n{said}")
        check_equal(sorted(self.files()), sorted(left), f"what is here; it said:\n{said}")

    def files(self):
        """Names in the folder of the run, each file complete."""
        runs = os.path.join(self.folder, "runs")
        stems = [entry.name for entry in os.scandir(runs) if entry.name != "latest"]
        check(len(stems) <= 1, f"folders in runs: {stems}")
        found = os.listdir(os.path.join(runs, stems[0])) if stems else []
        if "model.safetensors" in found:
            size = os.path.getsize(os.path.join(runs, stems[0], "model.safetensors"))
            check_equal(size, MODEL_BYTES, "bytes of the model here")
        return found

    def latest(self):
        return os.path.islink(os.path.join(self.folder, "runs", "latest"))


def all_come(hosts):
    said = hosts.run(0, "model.safetensors", "result-a.json", "result-b.json")
    check("the model: runs/tiny-" in said and hosts.latest(), said)


def profiles_come(hosts):
    """Each machine's own and the network's, over what was there; all measure the links."""
    for _ in range(2):
        status, said = hosts.finish(hosts.start("--profile"))
        check_equal(status, 0, said)
        check("next: ako predict cluster.yaml" in said, said)
        profiles = os.path.join(hosts.folder, "profiles")
        check_equal(sorted(os.listdir(profiles)), ["a.json", "b.json", "network.json"], said)
        with open(os.path.join(profiles, "b.json")) as file:
            check_equal(file.read(), "b of b\n", "the profile of b")
        with open(os.path.join(hosts.folder, "hosts", "measured")) as file:
            check_equal(sorted(set(file.read().split())), ["a", "b"], "who measured links")
    check(not os.path.exists(os.path.join(hosts.folder, "runs")), "nothing is trained")


def key_is_brought(hosts):
    hosts.keep_key(4096)
    hosts.run(0, "model.safetensors", "result-a.json", "result-b.json")
    for host in HOSTS.values():
        path = os.path.join(hosts.folder, "hosts", host, ".ako-runs", "tiny", "cluster.key")
        check_equal((os.path.getsize(path), os.stat(path).st_mode & 0o777), (4096, 0o600), path)


def no_key(hosts):
    """A file that is no key, whatever its size, stays here, and no pipe is waited for."""
    hosts.keep_key(4097)
    status, said = hosts.finish(hosts.start())
    check("cluster_key_file: " in said and "more than 4096 bytes are no key" in said, said)
    check_equal(status, 2, said)
    os.remove(os.path.join(hosts.folder, "key"))
    os.mkfifo(os.path.join(hosts.folder, "key"))
    status, said = hosts.finish(hosts.start())
    check("cluster_key_file: " in said and "this is no file" in said, said)
    check_equal(status, 2, said)
    for host in HOSTS.values():
        check_equal(os.listdir(os.path.join(hosts.folder, "hosts", host)), [], "what is there")


def one_breaks(hosts):
    """What a broken connection left out of a model is not a model; the next peer has it whole."""
    hosts.write("hosts/one/breaks", str(MODEL_BYTES // 2))
    check_equal(hosts.finish(hosts.start())[0], 6, "exit status")
    said = hosts.read()
    # tar packs in the order of the directory: this small file may have come before the break.
    check_equal(sorted(set(hosts.files()) - {"result-a.json"}),
                ["model.safetensors", "result-b.json"], f"what is here; it said:\n{said}")
    check("not all files of a came" in said and "one:~/.ako-runs/tiny/runs/" in said, said)
    check("the model: runs/tiny-" in said and hosts.latest(), said)


def breaks_between_files(hosts):
    """A copy that breaks off where a file ends looks whole; only ssh says that it is not."""
    hosts.write("hosts/one/breaks", str(len("\nover-ssh: answer\n") + TAR_BLOCK_BYTES))
    said = hosts.run(6, "model.safetensors", "result-b.json")
    check("not all files of a came" in said, said)


def all_break(hosts):
    for host in HOSTS.values():
        hosts.write(f"hosts/{host}/breaks", str(2 * TAR_BLOCK_BYTES))
    said = hosts.run(6)
    check("there is no model" in said and not hosts.latest(), said)


def greeting(hosts):
    """A shell may say something when it starts; the last line may have no end."""
    for host in HOSTS.values():
        hosts.write(f"hosts/{host}/greeting", "Welcome to this machine.\nYou have mail")
    hosts.run(0, "model.safetensors", "result-a.json", "result-b.json")


def folder_called_latest(hosts):
    """It stays, and a run that has trained has not failed for it."""
    hosts.write("runs/latest/mine", "")
    said = hosts.run(0, "model.safetensors", "result-a.json", "result-b.json")
    check("runs/latest cannot be linked" in said and "the model: runs/tiny-" in said, said)
    check_equal(os.listdir(os.path.join(hosts.folder, "runs", "latest")), ["mine"], "runs/latest")


def held(hosts):
    """over-ssh, waiting for what comes from the first host."""
    hold = os.path.join(hosts.folder, "hosts", "one", "hold")
    os.mkfifo(hold)
    process = hosts.start()
    wait_for(lambda: os.path.exists(os.path.join(hosts.folder, "hosts", "one", "held")),
             "the copy has begun", PATIENCE_S)
    os.killpg(process.pid, signal.SIGINT)
    wait_for(lambda: "once more: leave them there" in hosts.read(), "it has heard", PATIENCE_S)
    return process, hold


def interrupted_while_fetching(hosts):
    """Ctrl-C goes to the whole group, and what is on its way comes all the same."""
    process, hold = held(hosts)
    with open(hold, "w") as pipe:
        pipe.write("go on\n")
    hosts.check_end(process, 0, "model.safetensors", "result-a.json", "result-b.json")


def interrupted_twice_while_fetching(hosts):
    process, _ = held(hosts)
    os.killpg(process.pid, signal.SIGINT)
    hosts.check_end(process, 6)
    said = hosts.read()
    check("not all files of a came" in said and "not all files of b came: left there" in said, said)


def over_ssh(hosts):
    """The program as a module."""
    sys.dont_write_bytecode = True
    loader = importlib.machinery.SourceFileLoader("over_ssh", hosts.program)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("over_ssh", loader))
    loader.exec_module(module)
    return module


def interrupted_twice_while_a_copy_starts(hosts):
    """The copy runs already, but the process has no name yet when both signals come."""
    os.mkfifo(os.path.join(hosts.folder, "hosts", "one", "hold"))
    module = over_ssh(hosts)
    peer = SimpleNamespace(name="a", host="one", status=0, lost=lambda: False)
    run = SimpleNamespace(peers=[peer], cluster=SimpleNamespace(run="tiny"), folder=".",
                          output="runs", fetching=None, leaves=False)
    for name in ("leave", "fetch_from"):
        setattr(run, name, getattr(module.Run, name).__get__(run))
    handlers = {}

    class Interrupted(subprocess.Popen):
        def __init__(self, *words, **options):
            super().__init__(*words, **options)
            for _ in range(2):
                handlers[signal.SIGINT]()

    target = os.path.join(hosts.folder, "here")
    os.mkdir(target)
    with mock.patch.object(module.signal, "signal", handlers.__setitem__), \
            mock.patch.object(module.subprocess, "Popen", Interrupted), \
            mock.patch.dict(os.environ, hosts.environment), \
            mock.patch.object(module, "tell"):
        check(not module.Run.fetch(run, target), "not all came, and nobody waits")
    check_equal(os.listdir(target), [], "what is here")


class Asked:
    """Counts how often a peer is asked to stop."""

    def __init__(self, name, status):
        self.name, self.status, self.times = name, status, 0

    def stop(self):
        self.times += 1


def stops(hosts):
    """Where two peers cannot start at the same time, the others are asked once. The user's first
    Ctrl-C after that is not a second time; only another one ends them at once."""
    module = over_ssh(hosts)
    peers = [Asked("a", module.COULD_NOT_START), Asked("b", module.COULD_NOT_START),
             Asked("c", None)]
    cluster = SimpleNamespace(run="tiny", hosts={peer.name: "one" for peer in peers})
    said = []

    def tell(text):
        """The other peer ends at this very moment."""
        said.append(text)
        if len(said) == 1:
            other = threading.Thread(target=run.ended, args=(peers[1],))
            other.start()
            other.join(PATIENCE_S)
            check(not other.is_alive(), "the other peer's end has been seen")

    with mock.patch.object(module, "Peer", side_effect=peers), \
            mock.patch.object(module, "tell", tell), mock.patch.object(module.signal, "signal"):
        run = module.Run(cluster, "folder", "runs/tiny", lambda *_: [])
        run.ended(peers[0])
        check_equal(peers[2].times, 1, f"asked after two peers have failed; said: {said}")
        run.stop()
        check_equal(peers[2].times, 1, f"asked after the first Ctrl-C; said: {said}")
        check("once more: at once" in said[-1], said[-1])
        run.stop()
        check_equal(peers[2].times, 2, f"asked after the second Ctrl-C; said: {said}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--ako", required=True)
    parser.add_argument("--source", required=True)
    words = parser.parse_args()
    for case in (all_come, profiles_come, key_is_brought, no_key, one_breaks, breaks_between_files,
                 all_break, greeting, folder_called_latest, interrupted_while_fetching,
                 interrupted_twice_while_fetching, interrupted_twice_while_a_copy_starts, stops):
        with tempfile.TemporaryDirectory(prefix="ako-over-ssh-") as folder:
            case(Hosts(os.path.abspath(words.ako), words.source, folder))
        print(f"ok: {case.__name__}", flush=True)


if __name__ == "__main__":
    main()
