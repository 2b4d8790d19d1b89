"""The container engine, for the tests that need one: commands that must not fail, and images.
Python's standard library only."""

import os
import subprocess

from bench import Failure, check

SKIPPED = 77
# Building an image installs packages; what runs in the containers takes seconds.
PATIENCE_S = 300


class Skip(Exception):
    """Why nothing can be tested here."""


def run(*words, seconds=PATIENCE_S, **more):
    """What the command said, output and errors together; Failure if it fails or takes longer."""
    try:
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              stdin=subprocess.DEVNULL, timeout=seconds, **more)
    except subprocess.TimeoutExpired as late:
        said = (late.stdout or b"").decode(errors="replace")
        raise Failure(f"not within {seconds} s: {' '.join(words)}; it said:\n{said}")
    check(done.returncode == 0, f"exit {done.returncode} of {' '.join(words)}:\n{done.stdout}")
    return done.stdout


def works(*words):
    try:
        return subprocess.run(words, capture_output=True, stdin=subprocess.DEVNULL,
                              timeout=60).returncode == 0
    except (FileNotFoundError, subprocess.TimeoutExpired):
        return False


def prepare(source):
    """The base image is there afterwards; Skip where there is no engine, or none can be made."""
    if not works("docker", "version"):
        raise Skip("no docker engine answers here")
    try:
        print(run(os.path.join(source, "deploy", "base-image")), end="", flush=True)
    except Failure as failure:
        raise Skip(f"no base image: {failure}")


def image_id(name):
    found = subprocess.run(["docker", "image", "inspect", "-f", "{{.Id}}", name],
                           capture_output=True, text=True)
    return found.stdout.strip()


def replace_image(name, *words, **more):
    """`docker build`; the image that had the name before is removed, so that none pile up."""
    before = image_id(name)
    run("docker", "build", "-t", name, *words, **more)
    if before and before != image_id(name):
        works("docker", "rmi", before)
