#!/usr/bin/env python3
"""The wheel: built by pip as a user would, installed into a fresh environment, and the README's
program run with it. Takes minutes, and needs the packages of PyPI.

    wheel.py --source REPOSITORY

Exits 77 and says why where it cannot be had.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
PATIENCE_S = 1500


def run(*words, **how):
    done = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL,
                          timeout=PATIENCE_S, **how)
    assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
    return done.stdout


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", required=True)
    source = pathlib.Path(parser.parse_args().source).resolve()
    with tempfile.TemporaryDirectory(prefix="ako-wheel-") as folder:
        clone, wheels = f"{folder}/clone", f"{folder}/wheels"
        run("git", "clone", "-q", str(source), clone)
        # With Debian's PyTorch and NumPy, which the tests need anyway.
        made = subprocess.run([sys.executable, "-m", "venv", "--system-site-packages",
                               f"{folder}/env"], capture_output=True, text=True, check=False)
        if made.returncode != 0:
            skip("no module venv: apt-get install python3-venv")
        python = f"{folder}/env/bin/python"
        reached = subprocess.run([python, "-m", "pip", "download", "--no-deps", "-d", folder,
                                  "scikit-build-core"], capture_output=True, text=True, check=False)
        if reached.returncode != 0:
            skip("PyPI cannot be reached")
        # What was compiled before is found by the compiler cache in this folder too.
        compiling = dict(os.environ, CCACHE_BASEDIR=clone, CCACHE_NOHASHDIR="true")
        if shutil.which("ccache"):
            compiling["CMAKE_CXX_COMPILER_LAUNCHER"] = "ccache"
        run(python, "-m", "pip", "wheel", "--no-deps", "-w", wheels, f"{clone}/src/python",
            env=compiling)
        wheel, = pathlib.Path(wheels).glob("ako-*-py3-none-linux_x86_64.whl")
        print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB")
        run(python, "-m", "pip", "install", "--no-deps", str(wheel))
        shutil.copytree(source / "tests" / "python", f"{folder}/tests/python")
        shutil.copy(source / "README.md", folder)
        # The package is found where pip has put it: the tests' own path leads nowhere here.
        found = run(python, "-c", "import ako; print(ako.__file__)", cwd=folder)
        assert "site-packages" in found, found
        library = pathlib.Path(found.strip()).with_name("libako.so")
        environment = dict(os.environ, AKO_LIBRARY=str(library), OMP_NUM_THREADS="1")
        print(run(python, "-m", "unittest", "readme_test", "cluster_test.WithNumPy",
                  cwd=f"{folder}/tests/python", env=environment))


if __name__ == "__main__":
    main()
