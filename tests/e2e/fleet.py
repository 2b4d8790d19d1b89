"""Peers that are started one by one, as on several machines, and may come back under their names:
what cases about peers that come, go and return share. Python's standard library only."""

import json
import os
import signal

from bench import check, check_equal, newest_run, wait_for

COMPUTE_MS, BATCH = 10, 64


def paced_file(bench, peers, seconds, exchange=""):
    """A cluster file whose training takes all its peers about so long, whatever the machine."""
    samples = int(peers * seconds * 1000 / COMPUTE_MS) * BATCH
    return bench.file(peers, model="{name: synthetic, parameters: 50000, "
                                   f"compute_ms: {COMPUTE_MS}, samples: {samples}}}",
                      training="epochs: 1, learning_rate: 0.01, evaluate_every: 0",
                      **({"exchange": exchange} if exchange else {}))


class Fleet:
    """The newest process of each peer of one file; each writes its results into a folder of its
    own."""

    def __init__(self, bench, file):
        self.bench, self.file = bench, file
        self.runs, self.folders, self.started = {}, {}, 0

    def start(self, name, *words):
        self.started += 1
        self.folders[name] = f"out-{self.started}-{name}"
        self.runs[name] = self.bench.start("train", self.file, "--peer", name, "--set",
                                           f"output={self.folders[name]}", *words)
        return self.runs[name]

    def kill(self, name):
        self.runs[name].process.send_signal(signal.SIGKILL)
        self.runs[name].wait()

    def path(self, name, file):
        return os.path.join(newest_run(os.path.join(self.bench.folder, self.folders[name])), file)

    def metrics(self, name):
        try:
            with open(self.path(name, f"metrics-{name}.jsonl")) as file:
                return [json.loads(line) for line in file if line.endswith("\n")]
        except FileNotFoundError:
            return []

    def result(self, name):
        with open(self.path(name, f"result-{name}.json")) as file:
            return json.load(file)

    def last(self, name, key, otherwise=0):
        """Of its newest metrics line."""
        lines = self.metrics(name)
        return lines[-1][key] if lines else otherwise

    def wait_trains(self, name, above=0):
        """Until it has made more rounds than so many."""
        wait_for(lambda: self.last(name, "round") > above or self.ended(name),
                 f"{name} trains on after round {above}", 30)
        check(not self.ended(name), f"{name} has ended; it said:\n{self.runs[name].output()}")

    def ended(self, name):
        return self.runs[name].process.poll() is not None

    def check_finished(self, names):
        """All of these end well, together, and hold the same; each says so of all."""
        said = {name: self.runs[name].expect(0, 60) for name in names}
        results = {name: self.result(name) for name in names}
        for name, result in results.items():
            check_equal(result["finished_with"], list(names),
                        f"who finished with {name}, which said:\n{said[name]}\n")
            check_equal(result["identical"], True, f"identical, by {name}")
        digests = {result["digest"] for result in results.values()}
        check_equal(len(digests), 1, f"digests: {digests}")
        return results
