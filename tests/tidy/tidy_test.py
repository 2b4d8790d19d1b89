#!/usr/bin/env python3
"""The tidy test: what src/README.md says about the order of this repository, checked.

    tidy_test.py [--compiler g++]               checks the repository it lies in
    tidy_test.py [--compiler g++] --self-test   checks the checks: seeded violations are each found

Prints one line per finding, `path:line: rule: what is wrong`, and exits 1 if there are any.
"""

import argparse
import pathlib
import re
import subprocess
import sys
from typing import Callable, Iterator, NamedTuple

import class_size
import cpp_text
import documents
import isolation
import rooms
from rooms import ROOMS

FILE_LINES_MAX = 499
FUNCTION_LINES_MAX = 70
CLASS_METHODS_MAX = 35
CLASS_MEMBERS_MAX = 25
COLUMNS_MAX = 100

TOP_LEVEL_FILES = {"CMakeLists.txt", "README.md", "LICENSE", "CMakePresets.json"}
TOP_LEVEL_FOLDERS = {"common", "include", "models", "net", "src", "tests", "deploy",
                     "experiments"}

# The algorithm: what decides, free of sockets, clocks and libraries.
CORE = re.compile(r"src/(numbers|exchange|rows|agreement|buckets|modes|training)/")

STANDARD_HEADER = re.compile(r"[a-z_0-9]+$")
# The one header that is C.
C_INTERFACE = "include/ako/ako.h"
# The compiler's own headers for single instructions (CRC-32C) come with it and bring nothing along.
INTRINSICS_HEADER = re.compile(r"[a-z0-9_]*intrin\.h$")

# Where each library stops: a pattern of what is included, and of the files that may do so.
LIBRARIES = (
    ("Eigen and BLAS", r"(unsupported/)?Eigen/|eigen3/|cblas|lapack|openblas", r"models/"),
    ("zlib", r"zlib\.h", r"models/"),
    ("Asio", r"asio\.hpp|asio/|boost/", r"net/"),
    ("yaml-cpp", r"yaml-cpp/", r"src/config/"),
    ("fmt", r"fmt/",
     r"net/|src/(config|system|results|screen|launch|engines|diagnosis|observe|wiring|reporting|"
          r"native_peer|plot|compare|predict|commands|main)"),
    ("spdlog", r"spdlog/", r"src/system/|src/main\.cpp"),
    ("CLI11", r"CLI/", r"src/commands/|src/main\.cpp"),
    ("nlohmann-json", r"nlohmann/",
     r"models/|src/(results|launch|engines|observe|plot|compare|predict|commands)/"),
    ("cpp-httplib", r"httplib\.h", r"src/observe/"),
    ("OpenSSL", r"openssl/", r"src/|net/"),
    ("doctest", r"doctest/", r"tests/"),
)

# Words that the glossary replaces, with where they mean something else. Only words that have no
# other meaning here: "client" or "table" would be found where they are right.
WORDS = (
    ({"rank", "ranks"}, re.compile(r"(common|models|net|src|tests)/"), re.compile(r"$^"),
     "the glossary says peer"),
    ({"node", "nodes"}, re.compile(r"(common|models|net|src|tests)/"),
     re.compile(r"src/(config|engines)/|src/commands/(launch_place|engine_words)|"
                r"tests/(unit/(config|engines)|fuzz)/"), "the glossary says peer"),
    ({"shard", "shards"}, re.compile(r"net/|src/(exchange|rows|agreement|buckets|modes)/"),
     re.compile(r"$^"),
     "a shard is a share of the data set; what travels is a partition or a partial"),
)
_WORD_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")

# Only the table of modes, the settings of a mode and what makes one may name a mode; all else asks
# that table.
_A_MODE = re.compile(r"(?<!\w)Mode::\w+")
_OF_MODES = re.compile(r"common/ako/(mode_table|algorithm_settings)\.h|"
                       r"src/modes/(make_exchange|bucket_mode)\.cpp")

_LEFT_OPEN = re.compile(r"\b(TO" r"DO|FIX" r"ME)\b")
# Folders of somebody's machine; a path of the system (/usr, /etc, /tmp, /proc) is none.
_MACHINE_PATH = re.compile(r"(?<![\w./~-])/(?:work|root|home|Users)/\w")


class Finding(NamedTuple):
    path: str
    line: int
    rule: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.rule}: {self.message}"


class Tree:
    """The files of a repository: what git tracks or would track, else all but build folders."""

    _not_ours = {".git", "build", "runs", ".cache", "__pycache__"}

    def __init__(self, root: pathlib.Path):
        self.root = root
        self.files = sorted(self._from_git() or self._from_disk())
        self._texts: dict[str, str | None] = {}

    def _from_git(self) -> list[str]:
        if not (self.root / ".git").exists():
            return []
        try:
            listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"],
                                    cwd=self.root, capture_output=True, text=True)
        except FileNotFoundError:
            return []
        names = listed.stdout.split("\0") if listed.returncode == 0 else []
        return [name for name in set(names) if name and (self.root / name).is_file()]

    def _from_disk(self) -> list[str]:
        names = [path.relative_to(self.root) for path in self.root.rglob("*") if path.is_file()]
        return [name.as_posix() for name in names if not self._not_ours & set(name.parts)]

    def text(self, name: str) -> str | None:
        """The file as text; None if it is not text."""
        if name not in self._texts:
            data = (self.root / name).read_bytes()
            try:
                self._texts[name] = None if b"\0" in data else data.decode()
            except UnicodeDecodeError:
                self._texts[name] = None
        return self._texts[name]

    def texts(self, wanted: Callable[[str], bool]) -> Iterator[tuple[str, str]]:
        for name in self.files:
            if wanted(name) and (text := self.text(name)) is not None:
                yield name, text

    def is_cpp(self, name: str) -> bool:
        return name.endswith((".h", ".cpp"))

    def is_code(self, name: str) -> bool:
        return self.is_cpp(name) or name.endswith(".py") or self.is_script(name)

    def is_script(self, name: str) -> bool:
        return (self.text(name) or "").startswith("#!")


def top_level(tree: Tree) -> Iterator[Finding]:
    for first in sorted({name.split("/")[0] for name in tree.files}):
        allowed = TOP_LEVEL_FOLDERS if (tree.root / first).is_dir() else TOP_LEVEL_FILES
        if first not in allowed and not first.startswith("."):
            yield Finding(first, 1, "top-level", "not one of the files and folders of the layout")


def _room(name: str) -> str:
    """The room that a file stands in, or an include points into; empty for common/ako and what is
    no folder of the program."""
    parts = name.split("/")
    room = "/".join(parts[:-1][:2]) if parts[0] == "src" else parts[0]
    return room if room in ROOMS or parts[0] == "src" else ""


def rooms_of_tests(tree: Tree) -> Iterator[Finding]:
    """A room's unit tests lie in a folder of its name, and so do the tests of bugs mended in it."""
    folders = {room.removeprefix("src/") for room in ROOMS} | {"common", "e2e"}
    for name in tree.files:
        parts = name.split("/")
        if parts[0] == "tests" and parts[1] in ("unit", "issues") and len(parts) > 3 \
                and parts[2] not in folders:
            yield Finding(name, 1, "rooms-of-tests", f"{parts[2]} is no room of the house")


def _room_fault(name: str, target: str) -> str:
    room, other = _room(name), _room(target)
    if not other or other == room or name.startswith("tests/"):
        return ""
    if name.startswith("common/"):
        return f'common/ako may not see "{target}"'
    if room not in ROOMS:
        return f"{room}/ is no room of the house; see tests/tidy/rooms.py"
    if other not in ROOMS[room].sees.split():
        return f'{room}/ may not see "{target}"; see tests/tidy/rooms.py'
    return ""


def _layer_fault(name: str, include: cpp_text.Include) -> str:
    """Why this file may not include this; empty if it may."""
    target = include.target
    layer, first = name.split("/")[0], target.split("/")[0]
    if ".." in target.split("/"):
        return f'"{target}" climbs out of its folder; say it from the top, "net/codec.h"'
    if include.quoted and (fault := _room_fault(name, target)):
        return fault
    if name == C_INTERFACE and target not in ("stddef.h", "stdint.h"):
        return f"what users compile has the C standard library only: {target}"
    if layer == "common":
        shared = first == "ako" if include.quoted else (
            STANDARD_HEADER.match(target) or target == "tl/expected.hpp")
        if not shared:
            return f"common/ako has only the standard library, tl::expected and ako/: {target}"
        return ""
    if CORE.match(name):
        if not include.quoted and not (
                STANDARD_HEADER.match(target) or INTRINSICS_HEADER.match(target)
                or target == "tl/expected.hpp" or target.startswith("openssl/")):
            return f"the algorithm has the standard library, tl::expected and OpenSSL: {target}"
    if layer != "tests":
        for library, pattern, place in LIBRARIES:
            if re.match(pattern, target) and not re.match(place, name):
                return f"{library} may not be seen here: {target}"
    return ""


def layers(tree: Tree) -> Iterator[Finding]:
    ours = ("common/", "include/", "models/", "net/", "src/", "tests/")
    for name, text in tree.texts(lambda name: tree.is_cpp(name) and name.startswith(ours)):
        for include in cpp_text.includes(text):
            if fault := _layer_fault(name, include):
                yield Finding(name, include.line, "layers", fault)


def sizes(tree: Tree) -> Iterator[Finding]:
    for name, text in tree.texts(tree.is_code):
        lines = text.splitlines()
        if len(lines) > FILE_LINES_MAX:
            yield Finding(name, len(lines), "file-length", f"more than {FILE_LINES_MAX} lines")
        for number, line in enumerate(lines, 1):
            if len(line) > COLUMNS_MAX:
                yield Finding(name, number, "columns", f"{len(line)}, {COLUMNS_MAX} at most")


def functions(tree: Tree) -> Iterator[Finding]:
    for name, text in tree.texts(tree.is_cpp):
        for function in cpp_text.functions(text):
            if function.body_lines > FUNCTION_LINES_MAX:
                yield Finding(name, function.line, "function-length", f"{function.name} has "
                              f"{function.body_lines} lines, {FUNCTION_LINES_MAX} at most")


def class_sizes(tree: Tree) -> Iterator[Finding]:
    """No class of the program does or keeps more than a reader can hold together. A struct of plain
    data may have any number of members, for it keeps no promise about them: settings, results, a
    line of a file. It is plain if all is public and no method is there but defaulted operators."""
    ours = ("common/", "include/", "models/", "net/", "src/")
    for name, text in tree.texts(lambda name: tree.is_cpp(name) and name.startswith(ours)):
        for found in class_size.class_sizes(text):
            many = []
            if found.methods > CLASS_METHODS_MAX:
                many.append(f"{found.methods} methods, {CLASS_METHODS_MAX} at most")
            if found.members > CLASS_MEMBERS_MAX and not found.plain:
                many.append(f"{found.members} members, {CLASS_MEMBERS_MAX} at most")
            if many:
                yield Finding(name, found.line, "class-size",
                              f"{found.name or 'a type'} has {'; '.join(many)}")


def _continues_header(tree: Tree, name: str, text: str) -> bool:
    """Is this the .cpp of a header beside it (codec.cpp, codec_decode.cpp: codec.h), which has the
    contract of both? Repeating it would be filler."""
    headers = [include.target for include in cpp_text.includes(text)
               if include.target in tree.files and include.target.endswith(".h")]
    return name.endswith(".cpp") and any(
        name.startswith(header.removesuffix(".h")) for header in headers)


def opening_comments(tree: Tree) -> Iterator[Finding]:
    for name, text in tree.texts(tree.is_cpp):
        if not text.startswith(("//", "/*")) and not _continues_header(tree, name, text):
            yield Finding(name, 1, "opening-comment", "the first line is no comment")


def type_names(tree: Tree) -> Iterator[Finding]:
    """No two types of the program have the same name, nor of the tests where other files see it:
    two that are linked into one program break C++'s rule of one definition, and no compiler says
    so. In the program not even in anonymous namespaces: some builds compile files in batches."""
    first: dict[str, str] = {}
    ours = sorted(filter(tree.is_cpp, tree.files), key=lambda name: name.startswith("tests/"))
    for name, text in ((name, tree.text(name) or "") for name in ours):
        for found in cpp_text.types(text):
            if found.anonymous and name.startswith("tests/"):
                continue
            if (other := first.setdefault(found.name, name)) != name:
                yield Finding(name, found.line, "type-names",
                              f"{found.name} is defined in {other} too; each needs a name")


def file_names(tree: Tree) -> Iterator[Finding]:
    """Every file of the program has a name of its own, which tells what is in it."""
    first: dict[str, str] = {}
    for name in filter(tree.is_cpp, tree.files):
        path = pathlib.PurePosixPath(name)
        if path.parts[0] not in ("common", "include", "models", "net", "src"):
            continue
        if (other := first.setdefault(path.name, name)) != name:
            yield Finding(name, 1, "file-names", f"{other} has this name too")


def words(tree: Tree) -> Iterator[Finding]:
    for name, text in tree.texts(tree.is_cpp):
        rules = [rule for rule in WORDS if rule[1].match(name) and not rule[2].match(name)]
        for number, line in enumerate(text.splitlines(), 1):
            parts = {part.lower() for part in _WORD_PARTS.findall(line)}
            for forbidden, _, _, instead in rules:
                for word in sorted(forbidden & parts):
                    yield Finding(name, number, "words", f'"{word}": {instead}')


def modes(tree: Tree) -> Iterator[Finding]:
    for name, text in tree.texts(lambda name: tree.is_cpp(name)
                                 and not name.startswith(("tests/", "experiments/"))):
        if _OF_MODES.match(name):
            continue
        for number, line in enumerate(text.splitlines(), 1):
            if found := _A_MODE.search(line):
                yield Finding(name, number, "modes", f"{found.group()}: ask entry_of() "
                              "(common/ako/mode_table.h) for what it is about the mode")


def leftovers(tree: Tree) -> Iterator[Finding]:
    for name, text in tree.texts(lambda name: True):
        for number, line in enumerate(text.splitlines(), 1):
            if found := _LEFT_OPEN.search(line):
                yield Finding(name, number, "left-open", f"{found.group()}: do it or file an issue")
            if found := _MACHINE_PATH.search(line):
                yield Finding(name, number, "machine-path", "a folder of somebody's machine")


def true_documents(tree: Tree) -> Iterator[Finding]:
    for name, line, what in documents.faults(tree.files, tree.text):
        yield Finding(name, line, "documents", what)
    for page in rooms.PAGES:
        text = tree.text(page) if page in tree.files else None
        if text is not None and rooms.with_table(page, text) != text:
            yield Finding(page, 1, "documents", "the table of rooms is not that of "
                          "tests/tidy/rooms.py: rooms.py --write")


def scripts(tree: Tree) -> Iterator[Finding]:
    for name in tree.files:
        executable = bool((tree.root / name).stat().st_mode & 0o111)
        if tree.is_script(name) and not executable:
            yield Finding(name, 1, "executable", "a script that cannot be started: chmod +x")
        if executable and not tree.is_script(name):
            yield Finding(name, 1, "executable", "executable, but no script: chmod -x")


def _built(tree: Tree, name: str) -> bool:
    """Does the build of the program compile this as it is? Sources, and headers that come first in
    the source of their name; a header by itself is compiled nowhere."""
    if name.endswith(".cpp"):
        return True
    source = name.removesuffix(".h") + ".cpp"
    return source in tree.files and [
        include.target for include in cpp_text.includes(tree.text(source))][:1] == [name]


def isolated(tree: Tree, compiler: str) -> Iterator[Finding]:
    sources = [name for name in tree.files if tree.is_cpp(name)
               and (CORE.match(name) or name.startswith("common/"))]
    built = {name for name in sources if _built(tree, name)}
    with isolation.Isolation(compiler) as alone:
        for refused in alone.check(str(tree.root), sources, built):
            yield Finding(refused.source, 1, "isolation", "does not compile with the standard "
                          f"library, tl::expected and OpenSSL alone:\n{refused.message}")


RULES = (top_level, layers, rooms_of_tests, sizes, functions, class_sizes, opening_comments,
         type_names, file_names, words, modes, leftovers, scripts, true_documents)


def findings(tree: Tree, compiler: str) -> list[Finding]:
    found = [finding for rule in RULES for finding in rule(tree)]
    return found + list(isolated(tree, compiler))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    if arguments.self_test:
        import self_test
        return self_test.run(arguments.compiler)
    tree = Tree(pathlib.Path(__file__).resolve().parents[2])
    found = findings(tree, arguments.compiler)
    for finding in found:
        print(finding)
    print(f"tidy: {len(tree.files)} files, {len(found)} findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
