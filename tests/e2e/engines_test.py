"""`ako submit` on real engines of this machine: a Slurm of the test's own, and a Swarm of one node.
Python's standard library only.

    engines_test.py --ako BUILD/ako --source REPOSITORY slurm | swarm

Exits 77 and says why where there is no such engine.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

from bench import Failure, check, check_equal, wait_for
from engine import SKIPPED, Skip, prepare, replace_image, run, works

NODES = 4
# Some seconds of training on these machines, with checkpoints within each of them.
CLUSTER = """run: tiny
model: {name: synthetic, parameters: 50000, compute_ms: 20, samples: 1000}
training: {epochs: %d, batch: 10, checkpoint_every: 0.5}
peers: {count: %d}
exchange: {mode: %s, start_wait_s: 30}
"""


class Bench:
    def __init__(self, arguments, folder):
        self.ako, self.source = os.path.abspath(arguments.ako), arguments.source
        self.folder = pathlib.Path(folder)
        self.environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}

    def cluster(self, epochs=4, peers=3, mode="ako"):
        path = self.folder / f"cluster-{mode}-{epochs}-{peers}.yaml"
        path.write_text(CLUSTER % (epochs, peers, mode))
        return path

    def run(self, *words, expect=0):
        done = subprocess.run([self.ako, *map(str, words)], cwd=self.folder, env=self.environment,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              stdin=subprocess.DEVNULL, timeout=200)
        check_equal(done.returncode, expect, f"exit of ako {words}, which said:\n{done.stdout}")
        return done.stdout

    def submit(self, *words):
        """The run folder."""
        said = self.run("submit", *words)
        found = re.match(r"(\S+): \S+ \S+, \d+ peers\n", said)
        check(found, f"submit said {said!r}")
        return self.folder / found.group(1)

    def ended(self, run, seconds=120):
        """The table's line of this run, once it has ended."""
        def line():
            said = self.run("jobs")
            return next((line for line in said.splitlines()
                         if line.startswith(run.name) and " ended" in line), None)
        return wait_for(line, f"the end of {run.name}", seconds, poll_s=0.5)


def trains(run, peer):
    metrics = run / "attempt-0" / f"metrics-{peer}.jsonl"
    return metrics.exists() and '"training"' in metrics.read_text()


def summary_of(run):
    return json.loads((run / "summary.json").read_text())


# ---- Slurm

class Slurm:
    def __init__(self, bench):
        self.words = [os.path.join(bench.source, "deploy", "engines", "local-slurm"), "--name",
                      f"slurm-test-{os.getpid()}"]
        self.bench = bench

    def __enter__(self):
        done = subprocess.run([*self.words, "up", "--nodes", str(NODES)], text=True,
                              capture_output=True)
        if done.returncode == SKIPPED:
            raise Skip(done.stderr.strip().removeprefix("skipped: "))
        check_equal(done.returncode, 0, f"exit of local-slurm: {done.stderr}")
        said = run(*self.words, "env")
        name, value = said.strip().removeprefix("export ").split("=", 1)
        self.bench.environment[name] = value
        return self

    def __exit__(self, *_):
        run(*self.words, "down")

    def ask(self, *words):
        return run(*words, env=self.bench.environment)


def slurm(bench):
    with Slurm(bench) as engine:
        for case in (slurm_trains, slurm_goes_on, slurm_cancels, slurm_loses_a_node,
                     slurm_refuses):
            began = time.monotonic()
            case(bench, engine)
            print(f"{case.__name__}: {time.monotonic() - began:.1f} s", flush=True)


def slurm_trains(bench, _):
    run_folder = bench.submit(bench.cluster(), "--engine", "slurm", "--time", "10")
    line = bench.ended(run_folder)
    check("COMPLETED" in line and "identical" in line, line)
    summary = summary_of(run_folder)
    check_equal([peer["exit"] for peer in summary["peers"]], [0, 0, 0], "exits")
    check((run_folder / "model.safetensors").exists(), "no model in the run folder")
    said = bench.run("logs", run_folder.name)
    check("p1 on n1, p2 on n2, p3 on n3" in said, f"logs: {said}")
    check_equal(oct((run_folder / "cluster.key").stat().st_mode & 0o777), "0o600", "mode of key")


def slurm_goes_on(bench, engine):
    """Told that its time is over, a job stops, queues itself again and goes on."""
    run_folder = bench.submit(bench.cluster(epochs=12, mode="ring"), "--engine", "slurm", "--time",
                              "10")
    job = json.loads((run_folder / "submitted.json").read_text())["id"]
    attempt = run_folder / "attempt-0"
    wait_for(lambda: list(attempt.glob("state-p1-*")), "a checkpoint", 60)
    engine.ask("scancel", "--batch", "--signal=USR1", job)  # as Slurm does near the limit
    def requeued():
        said = engine.ask("scontrol", "show", "job", job)
        return "Restarts=1" in said and "JobState=PENDING" in said and \
            not works("pgrep", "-f", rf"slurmstepd: \[{job}\.")
    wait_for(requeued, "the requeue, and the end of what ran before", 60)
    # Else in two minutes. By the second: what was granted until then is revoked for good.
    second = int(time.time()) + 1
    wait_for(lambda: int(time.time()) > second, "another second", 10)
    engine.ask("scontrol", "update", f"JobId={job}", "StartTime=now")
    line = bench.ended(run_folder, 180)
    check("1 times again" in line and "identical" in line, line)
    first = [json.loads(line)["round"] for line in
             (run_folder / "attempt-1" / "metrics-p1.jsonl").read_text().splitlines()]
    check(first[0] > 0, f"the second attempt began anew: {first}")
    rounds = [peer["rounds"] for peer in summary_of(run_folder)["peers"]]
    check_equal(len(set(rounds)), 1, "rounds of a ring's peers, over both attempts")


def slurm_cancels(bench, engine):
    run_folder = bench.submit(bench.cluster(epochs=200), "--engine", "slurm")
    wait_for(lambda: trains(run_folder, "p1"), "training", 60)
    bench.run("cancel", run_folder.name)
    check_equal(engine.ask("squeue", "--noheader").strip(), "", "what is left in the queue")
    check("ended" in bench.run("status", run_folder), "status after cancel")
    check(summary_of(run_folder)["replicas_identical"], "the peers did not agree")

    # As the engine itself has it, whose word comes to all processes of a job.
    run_folder = bench.submit(bench.cluster(epochs=200), "--engine", "slurm")
    wait_for(lambda: trains(run_folder, "p1"), "training", 60)
    job = json.loads((run_folder / "submitted.json").read_text())["id"]
    engine.ask("scancel", job)
    line = bench.ended(run_folder)
    check("CANCELLED" in line and "identical" in line, line)


def slurm_loses_a_node(bench, engine):
    """One peer is started again where there is room; the others go on meanwhile."""
    run_folder = bench.submit(bench.cluster(epochs=40), "--engine", "slurm", "--spare", "1")
    wait_for(lambda: trains(run_folder, "p3"), "training", 60)
    run(*engine.words, "kill-node", "3")
    line = bench.ended(run_folder, 180)
    run(*engine.words, "start-node", "3")
    check("identical" in line, line)
    ends = {peer["name"]: peer["exit"] for peer in summary_of(run_folder)["peers"]}
    check_equal(ends, {"p1": 0, "p2": 0, "p3": 0}, "exits")
    check("restart 1 of 3" in bench.run("logs", run_folder.name), "p3 was not started again")


def slurm_refuses(bench, _):
    said = bench.run("submit", bench.cluster(), "--engine", "slurm", "--partition", "none",
                     expect=2)
    check("invalid partition" in said.lower(), said)
    bench.run("submit", bench.cluster(peers=60), "--engine", "slurm", "--check", expect=2)
    said = bench.run("submit", bench.cluster(), "--engine", "slurm", "--check")
    check("slurm would take it" in said, said)
    check("#SBATCH --ntasks=3" in
          bench.run("submit", bench.cluster(), "--engine", "slurm", "--print"), "--print")
    check("is no time" in bench.run("submit", bench.cluster(), "--engine", "slurm", "--time",
                                    "soon", expect=2), "a time that is none")
    folders = [path for path in (bench.folder / "runs").iterdir() if not path.is_symlink()]
    check(all((path / "submitted.json").exists() for path in folders),
          f"folders of runs that were never submitted: {folders}")


# ---- Swarm

IMAGE = "ako-test-swarm"


def in_a_swarm():
    return run("docker", "info", "--format", "{{.Swarm.LocalNodeState}}").strip() == "active"


def build_image(bench):
    context = bench.folder / "image"
    context.mkdir()
    run("strip", "-o", str(context / "ako"), bench.ako)
    dockerfile = os.path.join(bench.source, "deploy", "Dockerfile")
    replace_image("ako-test-runtime", "--target", "runtime", "-f", dockerfile, bench.source)
    (context / "Dockerfile").write_text("FROM ako-test-runtime\nCOPY ako /usr/local/bin/ako\n")
    replace_image(IMAGE, str(context))


def swarm(bench):
    prepare(bench.source)
    if in_a_swarm():
        raise Skip("this engine is in a swarm already, which is not ours to use")
    build_image(bench)
    said = bench.run("submit", bench.cluster(), "--engine", "swarm", "--image", IMAGE, expect=2)
    check("swarm" in said, f"without a swarm: {said}")
    if not works("docker", "swarm", "init", "--advertise-addr", "127.0.0.1"):
        raise Skip("this engine can be no swarm")
    try:
        swarm_trains(bench)
    finally:
        run("docker", "swarm", "leave", "--force")


def of_stack(name, kind, *words):
    return run("docker", kind, *words, "--quiet", "--filter",
               f"label=com.docker.stack.namespace={name}").strip()


def swarm_trains(bench):
    # Each has a processor reserved for it, of which there are two everywhere.
    run_folder = bench.submit(bench.cluster(epochs=10, peers=2), "--engine", "swarm", "--image",
                              IMAGE, "--memory", "500")
    name = json.loads((run_folder / "submitted.json").read_text())["id"]
    wait_for(lambda: "Running" in bench.run("status", run_folder), "running peers", 60, 0.5)
    peer = wait_for(lambda: run("docker", "ps", "--quiet", "--filter",
                                f"label=com.docker.swarm.service.name={name}_p2").strip(),
                    "p2's container", 60, 0.5)
    wait_for(lambda: "round" in bench.run("logs", run_folder.name), "training", 60, 0.5)
    run("docker", "kill", "--signal", "KILL", peer)  # and the Swarm starts it again
    line = bench.ended(run_folder, 120)
    check("Complete" in line and "1 times again" in line, line)
    said = bench.run("cancel", run_folder.name)
    check("what peers on this node wrote" in said, said)
    results = [json.loads(path.read_text()) for path in run_folder.glob("p*/*/result-p*.json")]
    check_equal(len({result["digest"] for result in results if result["exit"] == 0}), 1,
                "digests of those who finished")
    for kind, words in (("ps", ["--all"]), ("network", ["ls"]), ("service", ["ls"]),
                        ("volume", ["ls"])):
        check_equal(of_stack(name, kind, *words), "", f"what docker {kind} shows after cancel")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ako", required=True)
    parser.add_argument("--source", required=True)
    parser.add_argument("engine", choices=("slurm", "swarm"))
    arguments = parser.parse_args()
    # Where the nodes' daemons look, too.
    folder = tempfile.mkdtemp(prefix="ako-engines-")
    bench = Bench(arguments, folder)
    try:
        {"slurm": slurm, "swarm": swarm}[arguments.engine](bench)
    except Skip as why:
        print(f"skipped: {why}")
        sys.exit(SKIPPED)
    except Failure as failure:
        print(f"failed: {failure}")
        for log in sorted(bench.folder.glob("runs/*/log.txt")):
            print(f"---- {log}\n{log.read_text()[-3000:]}")
        sys.exit(1)
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
