#!/usr/bin/env python3
"""Does the algorithm keep to its threads? Clang's thread-safety analysis over every source of it
that sees common/ako/threads.h: what a mutex guards is touched with it held, and what belongs to
one of the two threads is called on that thread.

    thread_safety.py [--compiler clang++-14]

Prints what the compiler says, and exits 1 if it says anything, or if it overlooks a seeded fault.
Without the compiler it says `skipped: why`.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys

_ROOT = pathlib.Path(__file__).resolve().parents[2]
_ROOMS = ("numbers", "exchange", "rows", "agreement", "buckets", "modes", "training")
_timeout_s = 120

# Each is well-formed C++ that breaks a rule.
_SEEDS = (
    '#include "src/rows/outbox.h"\n'
    "void f(ako::Outbox& outbox) AKO_NETWORK_THREAD { outbox.spare(); }\n",
    '#include "src/exchange/mailbox.h"\n'
    "void f(ako::Mailbox& mailbox) AKO_COMPUTE_THREAD { mailbox.set_left_behind(true); }\n",
    '#include "src/exchange/halves.h"\n'
    "bool f(ako::ComputeHalf& half) { return half.started(); }\n",
    '#include "ako/threads.h"\n'
    "struct S { ako::Mutex mutex; int value AKO_GUARDED_BY(mutex) = 0; };\n"
    "int f(S& s) { return s.value; }\n",
)


def includes(path: pathlib.Path) -> set[pathlib.Path]:
    """Our files that this one includes."""
    named = re.findall(r'#include "([^"]+)"', path.read_text())
    return {found for name in named for found in (_ROOT / name, _ROOT / "common" / name)
            if found.is_file()}


def sees_threads(source: pathlib.Path) -> bool:
    seen: set[pathlib.Path] = set()
    ahead = {source}
    while ahead:
        seen |= ahead
        ahead = set().union(*map(includes, ahead)) - seen
    return _ROOT / "common/ako/threads.h" in seen


def complaint(compiler: str, text: str) -> str:
    """What the compiler says of this source; empty if nothing."""
    done = subprocess.run(
        [compiler, "-std=c++20", "-fsyntax-only", "-Wno-everything", "-Wthread-safety",
         "-Icommon", "-I.", "-x", "c++", "-"], cwd=_ROOT, input=text, text=True,
        capture_output=True, timeout=_timeout_s)
    return done.stderr.strip() or ("" if done.returncode == 0 else f"exit {done.returncode}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--compiler", default="clang++-14")
    compiler = parser.parse_args().compiler
    if not shutil.which(compiler):
        print(f"skipped: there is no {compiler}")
        return 77
    sources = sorted(str(path.relative_to(_ROOT)) for room in _ROOMS
                     for path in (_ROOT / "src" / room).glob("*.cpp") if sees_threads(path))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        said = list(pool.map(lambda source: complaint(compiler, f'#include "{source}"\n'),
                             sources))
        overlooked = [seed for seed in _SEEDS
                      if "[-Wthread-safety" not in complaint(compiler, seed)]
    for text in filter(None, said):
        print(text)
    for seed in overlooked:
        print(f"this fault is overlooked:\n{seed}")
    faults = sum(map(bool, said)) + len(overlooked)
    print(f"thread safety: {len(sources)} sources, {len(_SEEDS)} seeds, {faults} faults")
    return 1 if faults or not sources else 0


if __name__ == "__main__":
    sys.exit(main())
