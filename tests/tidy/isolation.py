"""Does the algorithm get by with nothing but the standard library, tl::expected and OpenSSL?

The include path is built up, not thinned out: the compiler tells which files the whole standard
library, tl/expected.hpp and OpenSSL consist of, and a folder of links to exactly these files takes
the place of the system's include folders. Asio, Eigen, YAML and anything else are then
not to be found, however they are spelled.
"""

import concurrent.futures
import os
import pathlib
import subprocess
import tempfile
from typing import Iterator, NamedTuple

# What the algorithm may see. The first names every header of libstdc++.
_ALLOWED = ["bits/stdc++.h", "tl/expected.hpp", "openssl/crypto.h", "openssl/err.h",
            "openssl/evp.h", "openssl/hmac.h", "openssl/rand.h", "openssl/sha.h"]

# One file takes about 2 s; this is for a machine that is busy with everything else too.
_compile_timeout_s = 120


class Refused(NamedTuple):
    source: str
    message: str


def _search_path(compiler: str) -> list[str]:
    """The folders `compiler` looks into for <...>, in its order."""
    told = subprocess.run([compiler, "-E", "-v", "-x", "c++", os.devnull], text=True, check=True,
                          capture_output=True, env={**os.environ, "LC_ALL": "C"}).stderr
    listed = told.split("#include <...> search starts here:")[1].split("End of search list.")[0]
    return [os.path.realpath(line.strip()) for line in listed.strip().splitlines()]


def _dependencies(compiler: str, source: str) -> list[str]:
    made = subprocess.run([compiler, "-std=c++20", "-M", "-x", "c++", "-"], text=True, check=True,
                          capture_output=True, input=source).stdout
    return made.replace("\\\n", " ").split(":", 1)[1].split()


class Isolation:
    """A context: an include path with only the allowed, in a temporary folder."""

    def __init__(self, compiler: str):
        self._compiler = compiler
        self._folder = tempfile.TemporaryDirectory(prefix="ako-isolation-")

    def __enter__(self) -> "Isolation":
        wanted = "".join(f"#include <{name}>\n" for name in _ALLOWED)
        needed = [os.path.normpath(path) for path in _dependencies(self._compiler, wanted)]
        self._arguments = ["-nostdinc"]
        for place, folder in enumerate(_search_path(self._compiler)):
            # The compiler's own folders hold nothing but its library and may stay as they are.
            if not any(mark in folder for mark in ("/c++/", "/lib/gcc/", "/lib/clang/")):
                folder = self._mirror(folder, needed, str(place))
            self._arguments += ["-isystem", folder]
        return self

    def __exit__(self, *_) -> None:
        self._folder.cleanup()

    def _mirror(self, folder: str, needed: list[str], name: str) -> str:
        copy = pathlib.Path(self._folder.name, name)
        copy.mkdir()
        for path in needed:
            if path.startswith(folder + "/"):
                link = copy / os.path.relpath(path, folder)
                link.parent.mkdir(parents=True, exist_ok=True)
                link.symlink_to(path)
        return str(copy)

    def refused(self, root: str, text: str, includes_only: bool = False) -> str:
        """What the compiler says to this text, or to its includes alone; empty if nothing."""
        how = "-M" if includes_only else "-fsyntax-only"
        done = subprocess.run(
            [self._compiler, "-std=c++20", how, *self._arguments, "-Icommon", "-I.",
             "-x", "c++", "-"],
            cwd=root, input=text, text=True, capture_output=True, timeout=_compile_timeout_s)
        return "" if done.returncode == 0 else done.stderr.strip() or f"exit {done.returncode}"

    def check(self, root: str, sources: list[str], built: set[str]) -> Iterator[Refused]:
        """`sources` are relative to `root`. Of those in `built`, which a build compiles as they
        are, only the includes are looked for: seven times as fast. The others are compiled."""
        def look_at(source: str) -> str:
            return self.refused(root, f'#include "{source}"\n', source in built)

        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for source, message in zip(sources, pool.map(look_at, sources)):
                if message:
                    yield Refused(source, message)
