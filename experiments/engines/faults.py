#!/usr/bin/env python3
"""Faults of a real Slurm while Ako trains under it, and what became of each run.

    faults.py [--modes ako,ring] [--faults "kill a peer,preemption"] [--repeats 10]
    faults.py --table       # of results.jsonl, nothing is run

A Slurm of its own with five nodes, each with a network of its own (deploy/engines/local-slurm
--networks), four peers, LeNet on MNIST. Some
seconds into the training one fault happens; then nobody does anything. What is in results.jsonl is
not run again. Root, and Debian's Slurm.
"""

import argparse
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
sys.path.insert(0, str(HERE.parent))
import runs  # noqa: E402

AKO = REPOSITORY / "build/release/ako"
NAME = "faults"
LOCAL_SLURM = [str(REPOSITORY / "deploy/engines/local-slurm"), "--name", NAME]
NODES, PEERS = 5, 4  # one is spare
CONTROLLER = NODES + 1


def at(node):
    """What stands before a command that is to run in the network of a node."""
    return ["nsenter", f"--net=/run/netns/ako-{NAME}-{node}", "--"]


MODES = {
    "ako": ["exchange.mode=ako"],
    "ring": ["exchange.mode=ring"],
    "elastic ring": ["exchange.mode=ring", "exchange.elastic=true"],
    "servers": ["exchange.mode=parameter-server", f"exchange.servers={PEERS}"],
    "one server": ["exchange.mode=parameter-server", "exchange.servers=1"],  # p1
}
PATIENCE_S = 400
SETTLED_S = 4  # of training, before anything happens
CUT_S = 10
# Four peers on two cores have half a processor each; of that a quarter is left.
SLOWED = 0.125


def ask(*words, check=True, node=CONTROLLER):
    return subprocess.run([*at(node), *words], check=check, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL).stdout


def slurm(*words):
    return subprocess.run([*LOCAL_SLURM, *words], check=True, capture_output=True,
                          text=True).stdout


class Job:
    """A submitted run."""

    def __init__(self, folder):
        self.folder = folder
        self.id = json.loads((folder / "submitted.json").read_text())["id"]

    @staticmethod
    def submit(cluster, output, settings):
        words = [AKO, "submit", cluster, "--engine", "slurm", "--peers", PEERS, "--spare",
                 NODES - PEERS, "--time", "20",
                 "--set", f"output={output}"]
        for setting in settings:
            words += ["--set", setting]
        said = ask(*map(str, words))
        return Job(pathlib.Path(said.split(":", 1)[0]).resolve())

    def field(self, name):
        said = ask("scontrol", "show", "job", "--oneliner", self.id)
        return next((word.split("=", 1)[1] for word in said.split()
                     if word.startswith(name + "=")), "")

    def attempts(self):
        return sorted(self.folder.glob("attempt-*"),
                      key=lambda path: int(path.name.split("-")[1]))

    def lines(self, attempt, peer):
        path = attempt / f"metrics-{peer}.jsonl"
        lines = path.read_text().splitlines() if path.exists() else []
        return [json.loads(line) for line in lines if line.endswith("}")]

    def trains(self):
        """For how long the newest attempt has trained, of the peer that began last."""
        if not self.attempts():
            return 0
        spans = []
        for k in range(PEERS):
            times = [line["time"] for line in self.lines(self.attempts()[-1], f"p{k + 1}")
                     if line["phase"] == "training"]
            spans.append(times[-1] - times[0] if times else 0)
        return min(spans)

    def over(self):
        ended = not ask("pgrep", "-f", rf"slurmstepd: \[{self.id}\.", check=False)
        if ended and self.field("Reason") == "BeginTime":
            # Slurm holds back what was queued again for two minutes, which says nothing of Ako.
            # What was granted before is revoked by the second.
            time.sleep(2)
            ask("scontrol", "update", f"JobId={self.id}", "StartTime=now", check=False)
        if ask("squeue", "--noheader", "--jobs", self.id, check=False).strip():
            return False
        return self.field("JobState") not in ("PENDING", "RUNNING", "COMPLETING", "REQUEUED",
                                              "CONFIGURING", "SUSPENDED")


def wait_for(condition, what, seconds=PATIENCE_S):
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            raise TimeoutError(f"not within {seconds} s: {what}")
        time.sleep(0.2)


def process_of(peer):
    """The number of the peer's own process: `ako train .. --peer NAME`."""
    for path in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = path.joinpath("cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if b"attend" not in words and b"train" in words and peer.encode() in words and \
                words[0].endswith(b"ako"):
            return int(path.name)
    raise RuntimeError(f"no process of {peer}")


def node_of(job, peer):
    said = ask("squeue", "--noheader", "--steps", "--jobs", job.id, "--format=%j %N")
    return next(line.split()[1] for line in said.splitlines() if line.split()[0] == peer)


# What happens; each returns what undoes it once the run is over.

def kill_a_peer(job):
    os.kill(process_of("p3"), signal.SIGKILL)
    return lambda: None


def kill_a_node(job):
    number = str(number_of(node_of(job, "p3")))
    slurm("kill-node", number)
    return lambda: slurm("start-node", number)


def kill_a_daemon(job):
    number = str(number_of(node_of(job, "p3")))
    pid = int(pathlib.Path(f"/tmp/ako-faults/slurmd-n{number}.pid").read_text())
    os.kill(pid, signal.SIGKILL)
    return lambda: slurm("start-node", number)


def drain_a_node(job):
    node = node_of(job, "p3")
    ask("scontrol", "update", f"NodeName={node}", "State=DRAIN", "Reason=test")
    return lambda: ask("scontrol", "update", f"NodeName={node}", "State=RESUME")


def time_limit(job):
    ask("scancel", "--batch", "--signal=USR1", job.id)  # Slurm's own word near the limit
    return lambda: None


def preemption(job):
    said = ask("sbatch", "--parsable", "--partition=urgent", f"--ntasks={NODES}",
               "--output=/dev/null", "--wrap", "sleep 5")
    return lambda: ask("scancel", said.strip(), check=False)


def scancel(job):
    ask("scancel", job.id)
    return lambda: None


def kill_the_server(job):
    os.kill(process_of("p1"), signal.SIGKILL)
    return lambda: None


def number_of(node):
    return int(node.removeprefix("n"))


def cut_a_peer_off(job):
    """Nothing of the training passes, either way; Slurm's own words do."""
    node = number_of(node_of(job, "p3"))
    said = (job.attempts()[-1] / "config.yaml").read_text()
    ports = ",".join(sorted(set(re.findall(r"10\.99\.0\.\d+:(\d+)", said))))
    rules = [(chain, "--protocol", "tcp", "--match", "multiport", "--ports", ports, "--jump",
              "DROP") for chain in ("INPUT", "OUTPUT")]
    for rule in rules:
        ask("iptables", "--append", *rule, node=node)
    time.sleep(CUT_S)
    for rule in rules:
        ask("iptables", "--delete", *rule, node=node)
    return lambda: None


def slow_a_peer(job):
    """A quarter of its share of the processor, until the end."""
    group = pathlib.Path(f"/sys/fs/cgroup/cpu/ako-{NAME}-{number_of(node_of(job, 'p3'))}")
    quota, period = group / "cpu.cfs_quota_us", int((group / "cpu.cfs_period_us").read_text())
    before = quota.read_text()
    quota.write_text(str(int(SLOWED * period)))
    return lambda: quota.write_text(before)


def stop_a_peer(job):
    number = process_of("p3")
    os.kill(number, signal.SIGSTOP)
    time.sleep(10)
    os.kill(number, signal.SIGCONT)
    return lambda: None


FAULTS = {
    "none": lambda job: (lambda: None),
    "kill a peer": kill_a_peer,
    "kill the server": kill_the_server,
    "kill a node": kill_a_node,
    "kill a node's daemon": kill_a_daemon,
    "drain a node": drain_a_node,
    "stop a peer for 10 s": stop_a_peer,
    "cut a peer off for 10 s": cut_a_peer_off,
    "a quarter of a processor": slow_a_peer,
    "time limit": time_limit,
    "preemption": preemption,
    "scancel": scancel,
}


def happens(mode, fault):
    """Only one mode has a single server."""
    return fault != "kill the server" or mode == "one server"


def pause_of(job, attempt):
    """The longest time in which no peer made a round, s."""
    moments = {}
    for k in range(PEERS):
        lines = job.lines(attempt, f"p{k + 1}")
        begin = next((line for line in lines if line["phase"] == "training"), None)
        for before, line in zip(lines, lines[1:]):
            if begin and line["phase"] == "training" and line["round"] > before["round"]:
                moments[round(line["time"] - begin["time"])] = True
    seconds = sorted(moments)
    return max((b - a for a, b in zip(seconds, seconds[1:])), default=0)


def left_behind(job):
    """Processes, jobs and steps that the run should have taken with it."""
    said = ask("squeue", "--noheader", "--jobs", job.id, check=False).strip()
    processes = ask("pgrep", "-f", str(job.folder), check=False).split()
    return [*said.splitlines(), *processes]


def measure(mode, fault, repeat, cluster, output):
    job = Job.submit(cluster, output, MODES[mode])
    wait_for(lambda: job.trains() >= SETTLED_S, "training")
    undo = FAULTS[fault](job)
    began = time.monotonic()
    try:
        wait_for(job.over, "the end of the job")
    finally:
        undo()
    ended_s = time.monotonic() - began
    attempts = job.attempts()
    try:
        summary = json.loads((attempts[-1] / "summary.json").read_text())
    except (OSError, ValueError):
        summary = {}
    time.sleep(1)
    rounds = [peer["rounds"] for peer in summary.get("peers", [])]
    line = {"mode": mode, "fault": fault, "repeat": repeat, "state": job.field("JobState"),
            "exit": summary.get("exit"), "identical": summary.get("replicas_identical"),
            "accuracy": summary.get("accuracy"), "attempts": len(attempts), "rounds": rounds,
            "restarts": sum(peer["restarts"] for peer in summary.get("peers", [])),
            "pause_s": pause_of(job, attempts[-1]), "ended_s": round(ended_s, 1),
            "left": left_behind(job)}
    if len(attempts) > 1:
        line["rounds_lost"] = max(lost_by(job, attempts, f"p{k + 1}") for k in range(PEERS))
    return line


def lost_by(job, attempts, peer):
    """Rounds of a peer that the newest attempt, of those that trained, has made again."""
    trained = [lines for lines in (job.lines(attempt, peer) for attempt in attempts)
               if any(line["phase"] == "training" for line in lines)]
    if len(trained) < 2:
        return 0
    begun = next(line["round"] for line in trained[-1] if line["phase"] == "training")
    return max(0, trained[-2][-1]["round"] - begun)


def table(found):
    print("| fault | mode | runs | ended identical | accuracy, % | started again: job, peers | "
          "longest pause, s | rounds lost | left behind |\n|---|---|---|---|---|---|---|---|---|")
    for fault in FAULTS:
        for mode in MODES:
            lines = found.of(fault=fault, mode=mode)
            if not lines:
                continue
            accuracies = sorted(line["accuracy"] for line in lines if line["accuracy"])
            middle = f"{100 * accuracies[len(accuracies) // 2]:.2f}" if accuracies else "-"
            print(f"| {fault} | {mode} | {len(lines)} | "
                  f"{sum(bool(line['identical']) for line in lines)} | {middle} | "
                  f"{sum(line['attempts'] - 1 for line in lines)}, "
                  f"{sum(line['restarts'] for line in lines)} | "
                  f"{max(line['pause_s'] for line in lines)} | "
                  f"{max(line.get('rounds_lost', 0) for line in lines)} | "
                  f"{sum(len(line['left']) for line in lines)} |")


def words(text):
    return text.split(",")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--modes", type=words, default=list(MODES))
    parser.add_argument("--faults", type=words, default=list(FAULTS))
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--out", type=pathlib.Path, default=HERE)
    arguments = parser.parse_args()
    found = runs.Runs(arguments.out / "results.jsonl")
    if arguments.table:
        return table(found)
    subprocess.run([*LOCAL_SLURM, "up", "--nodes", str(NODES), "--networks"], check=True)
    os.environ["SLURM_CONF"] = slurm("env").strip().split("=", 1)[1]
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    try:
        with tempfile.TemporaryDirectory(prefix="ako-faults-") as output:
            for repeat in range(arguments.repeats):
                for fault in arguments.faults:
                    for mode in arguments.modes:
                        key = {"mode": mode, "fault": fault, "repeat": repeat}
                        if not happens(mode, fault) or found.find(**key):
                            continue
                        line = measure(mode, fault, repeat, HERE / "cluster.yaml", output)
                        found.add(line)
                        print(json.dumps(line), flush=True)
    finally:
        slurm("down")


if __name__ == "__main__":
    main()
