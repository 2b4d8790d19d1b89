"""What the documents say of the repository, checked: paths, headings and names are there.

A path is what stands in a Markdown link, or in backquotes or a comment and looks like one of ours
(`src/rows/ledger.h`, `src/modes/*_compute.cpp`). A name is what stands in backquotes right after
the path of a file: "`src/exchange/links.cpp`, `peer_lost`" wants that word in that file. A heading
is what a link has behind its #, or a comment puts in quotes before a page ("Lost peers" in
src/README.md).
"""

import fnmatch
import os
import re
from typing import Iterator

_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_CODE = re.compile(r"`([^`\n]+)`")
_OURS = re.compile(r"(?<![\w/])(?:include|models|net|src|tests|deploy|experiments)/[\w./*-]*[\w*]")
_NAMED = re.compile(r"`((?:include|models|net|src|tests)/[\w./-]+\.(?:cpp|h|py|html))`,\s+`(\w+)`")
_HEADING_OF_PAGE = re.compile(r'"([A-Z][^"\n]+)"\s+(?:in|of)\s+([\w/]+\.md)|'
                              r'([\w/]+\.md),\s+"([A-Z][^"\n]+)"')
_HEADING = re.compile(r"(?m)^#+ +(.+)$")


def _anchor(heading: str) -> str:
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def _prose(text: str) -> str:
    """Without fenced or indented code, line by line, so that places stay."""
    fenced, lines = False, []
    for line in text.split("\n"):
        if line.startswith("```"):
            fenced = not fenced
        lines.append("" if fenced or line.startswith(("    ", "```")) else line)
    return "\n".join(lines)


def _comments(text: str) -> str:
    """The comments of a header, without their slashes, with all lines of the file."""
    return "\n".join(line[line.find("//"):].lstrip("/<! ") if "//" in line else ""
                     for line in text.split("\n"))


class _Repository:
    def __init__(self, files: list[str], text):
        self.files, self.text = set(files), text
        self.folders = {folder for name in files for folder in self._above(name)}

    @staticmethod
    def _above(name: str) -> Iterator[str]:
        while name := os.path.dirname(name):
            yield name

    def has(self, path: str) -> bool:
        path = path.rstrip("/")
        if "*" in path:
            return any(fnmatch.fnmatch(name, path) for name in self.files)
        return path in self.files or path in self.folders

    def headings(self, page: str) -> set[str]:
        return {_anchor(found) for found in _HEADING.findall(_prose(self.text(page) or ""))}


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def _links(name: str, text: str, ours: _Repository) -> Iterator[tuple[int, str]]:
    for found in _LINK.finditer(text):
        target = found.group(1)
        if re.match(r"[a-z]+:", target):
            continue
        path, _, heading = target.partition("#")
        full = os.path.normpath(os.path.join(os.path.dirname(name), path)) if path else name
        if not ours.has(full):
            yield _line(text, found.start()), f"there is no {full}"
        elif heading and full.endswith(".md") and heading not in ours.headings(full):
            yield _line(text, found.start()), f"{full} has no heading #{heading}"


def _paths(text: str, ours: _Repository) -> Iterator[tuple[int, str]]:
    for code in _CODE.finditer(text):
        if _OURS.fullmatch(code.group(1)) and not ours.has(code.group(1)):
            yield _line(text, code.start()), f"there is no {code.group(1)}"
    for found in _NAMED.finditer(text):
        path, word = found.groups()
        if ours.has(path) and not re.search(rf"\b{word}\b", ours.text(path) or ""):
            yield _line(text, found.start()), f"{path} has no {word}"


def _headings(text: str, ours: _Repository) -> Iterator[tuple[int, str]]:
    for found in _HEADING_OF_PAGE.finditer(text):
        heading, page = (found.group(1) or found.group(4)), (found.group(2) or found.group(3))
        page = page if ours.has(page) else f"src/{page}"
        if not ours.has(page) or _anchor(heading) not in ours.headings(page):
            yield _line(text, found.start()), f'{page} has no heading "{heading}"'


def faults(files: list[str], text) -> Iterator[tuple[str, int, str]]:
    """(file, line, what is wrong); `text(name)` is the file's text or None."""
    ours = _Repository(files, text)
    for name in files:
        if name.endswith(".md"):
            page = _prose(text(name) or "")
            for line, what in (*_links(name, page, ours), *_paths(page, ours)):
                yield name, line, what
        elif name.endswith((".h", ".cpp")):
            comments = _comments(text(name) or "")
            for found in _OURS.finditer(comments):
                if re.search(r"\.(h|cpp|md|py|html)$", found.group()) \
                        and not ours.has(found.group()):
                    yield name, _line(comments, found.start()), f"there is no {found.group()}"
            for line, what in _headings(comments, ours):
                yield name, line, what
