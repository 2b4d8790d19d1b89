"""A real Prometheus server on loopback that watches the peers of a case with the files of
deploy/observe, as they are shipped but for the addresses of the peers. Standard library only."""

import json
import os
import shutil
import subprocess
import urllib.error
import urllib.parse
import urllib.request

from bench import Failure, Skipped, check, check_equal, wait_for
from observing import free_ports_in_a_row

READY_S = 30
FILES = ("prometheus.yml", "alerts.yml")


def program(name):
    """Where it is; Prometheus' own programs come with the tests' packages."""
    found = shutil.which(name)
    if found is None:
        raise Skipped(f"there is no {name} (deploy/install-deps --tests installs it)")
    return found


def shipped(bench, name):
    return os.path.join(bench.source, "deploy", "observe", name)


class Prometheus:
    """A server that has the peers of these names as its targets. Use as a context manager."""

    def __init__(self, bench, names, first_port):
        self.names = names
        self.folder = os.path.join(bench.folder, "prometheus")
        os.mkdir(self.folder)
        for name in FILES:
            shutil.copy(shipped(bench, name), self.folder)
        self._move_targets(os.path.join(self.folder, FILES[0]), first_port)
        self.port = free_ports_in_a_row(1)
        with open(os.path.join(self.folder, "log.txt"), "w") as log:
            self.process = subprocess.Popen(
                [program("prometheus"), f"--config.file={self.folder}/{FILES[0]}",
                 f"--storage.tsdb.path={self.folder}/data",
                 f"--web.listen-address=127.0.0.1:{self.port}", "--log.level=warn"],
                stdout=log, stderr=subprocess.STDOUT)

    def _move_targets(self, path, first_port):
        """To loopback; the file has these peers, each at the port that the cluster gives it."""
        with open(path) as file:
            text = file.read()
        for number, name in enumerate(self.names):
            target = f'"{name}:{9470 + number}"'
            check_equal(text.count(target), 1, f"{target} in the shipped prometheus.yml")
            text = text.replace(target, f'"127.0.0.1:{first_port + number}"')
        with open(path, "w") as file:
            file.write(text)

    def __enter__(self):
        try:
            wait_for(self._is_ready, "Prometheus answers", READY_S, 0.1)
            wait_for(self._targets_are_up, "all peers are scraped", READY_S, 0.1)
        except Failure as failure:
            self.__exit__()
            raise Failure(f"{failure}; Prometheus said:\n{self._log()}")
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def _log(self):
        with open(os.path.join(self.folder, "log.txt"), errors="replace") as log:
            return log.read()

    def _is_ready(self):
        if self.process.poll() is not None:
            raise Failure(f"it ended with {self.process.returncode}")
        try:
            self._get("/-/ready")
            return True
        except (urllib.error.URLError, ConnectionError):
            return False

    def _targets_are_up(self):
        up = {labels["instance"]: value for labels, value in self.ask("up")}
        return up == dict.fromkeys(self.names, 1)

    def _get(self, path):
        url = f"http://127.0.0.1:{self.port}{path}"
        with urllib.request.urlopen(url, timeout=10) as answer:
            return answer.read().decode()

    def ask(self, expression):
        """[(labels, number)] that answer it now."""
        words = urllib.parse.urlencode({"query": expression})
        try:
            answer = json.loads(self._get(f"/api/v1/query?{words}"))
        except urllib.error.HTTPError as refused:
            raise Failure(f"{expression}: {refused.read().decode()}")
        return [(entry["metric"], float(entry["value"][1])) for entry in answer["data"]["result"]]

    def firing(self):
        """(alert, instance, peer) of those that fire now; None for a label that there is not. Each
        says in words what it is and what to do."""
        found = set()
        for alert in json.loads(self._get("/api/v1/alerts"))["data"]["alerts"]:
            if alert["state"] != "firing":
                continue
            labels, said = alert["labels"], alert["annotations"]
            check_equal(set(said), {"summary", "what_to_do"}, f"what {labels} says")
            for text in said.values():
                check(text and "<" not in text, f"{labels} says: {text}")  # <no value>, <error ..>
            found.add((labels["alertname"], labels.get("instance"), labels.get("peer")))
        return found
