"""The runs of an experiment: launched with settings, and kept as the lines of a file.

A run that is in the file is not made again, so that a measurement goes on where it was stopped, and
its tables are printed without a run. One thread; who uses several locks around add().
"""

import json
import subprocess


def renamed(entry):
    """An object of JSON, or a row, by the names of today: what older programs and experiments wrote
    as `images_per_s` is `samples_per_s`. As object_hook of json.loads, in all that it holds."""
    for key in [key for key in entry if "image" in key]:
        entry.setdefault(key.replace("image", "sample"), entry.pop(key))
    return entry


def launch(ako, cluster_file, settings, *words):
    """`ako launch` of the file with each setting, "key=value". The finished process; all that it
    said is in its stdout."""
    command = [ako, "launch", cluster_file, "--plain", *words]
    for setting in settings:
        command += ["--set", setting]
    return subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)


class Runs:
    """Of a file with one JSON object per run (`path`; none yet where there is no file)."""

    def __init__(self, path):
        self.path = path
        self.lines = [json.loads(line, object_hook=renamed) for line in path.open()] \
            if path.exists() else []

    def of(self, **key):
        """The runs that have these values, by their seeds."""
        found = [line for line in self.lines
                 if all(line.get(name) == value for name, value in key.items())]
        return sorted(found, key=lambda line: line.get("seed", 0))

    def find(self, **key):
        """The first of them, or None."""
        return next(iter(self.of(**key)), None)

    def add(self, line):
        self.lines.append(line)
        with self.path.open("a") as out:
            out.write(json.dumps(line) + "\n")
