#!/usr/bin/env python3
"""Draws the README's picture: the live table of a real run, some seconds after one of its peers was
killed.

    experiments/front-door/live_table.py [--kill-after S] [--show-after S] [CLUSTER_FILE] > FILE.svg

Runs `build/release/ako launch` on a pseudo-terminal, kills peer c as a crash would, and draws the
screen as it is then: its own characters and colours. The run is ended afterwards. The standard
library only.
"""

import argparse
import fcntl
import html
import os
import pathlib
import pty
import re
import select
import signal
import struct
import sys
import tempfile
import termios
import time

_ROOT = pathlib.Path(__file__).resolve().parents[2]
_COLUMNS, _ROWS = 92, 24
_WIDTH, _HEIGHT, _BASE = 8.0, 17, 13  # of one character, and its baseline, in pixels
_PAPER, _INK = "#16191d", "#d5d9de"
_COLOURS = {30: "#5c6370", 31: "#e06c75", 32: "#98c379", 33: "#e5c07b", 34: "#61afef",
            35: "#c678dd", 36: "#56b6c2", 37: "#d5d9de", 90: "#7f8691"}


class Terminal:
    """A program on a pseudo-terminal of its own, and what it has written."""

    def __init__(self, words: list[str]):
        self.written = b""
        self.pid, self._main = pty.fork()
        if self.pid == 0:
            os.chdir(_ROOT)
            os.environ.update({"TERM": "xterm", "LANG": "C.UTF-8"})
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", _ROWS, _COLUMNS, 0, 0))
            os.execv(words[0], words)

    def read_for(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            if not select.select([self._main], [], [], left)[0]:
                return
            try:
                self.written += os.read(self._main, 65536)
            except OSError:  # the program has ended
                return

    def screen(self) -> list[str]:
        """The lines of the newest whole screen, with their colours."""
        drawn = re.findall(r"\033\[H(.*?)\033\[J", self.written.decode(errors="replace"), re.DOTALL)
        return drawn[-1].split("\r\n") if drawn else []

    def end(self) -> None:
        os.kill(self.pid, signal.SIGTERM)
        self.read_for(20)
        os.waitpid(self.pid, 0)


def peer_process(launch: int, name: str) -> int:
    """The process of this peer among the children of `ako launch`."""
    children = pathlib.Path(f"/proc/{launch}/task/{launch}/children").read_text().split()
    for child in map(int, children):
        words = pathlib.Path(f"/proc/{child}/cmdline").read_bytes().split(b"\0")
        if b"--peer" in words and words[words.index(b"--peer") + 1] == name.encode():
            return child
    raise SystemExit(f"no process of peer {name}: did the run start?")


def spans(line: str):
    """(column, text, colour, bold) of a line, without its control sequences."""
    column, colour, bold = 0, _INK, False
    for part in re.split(r"(\033\[[0-9;]*[mK])", line):
        if part.startswith("\033["):
            if part.endswith("m"):
                for code in map(int, part[2:-1].split(";") if part[2:-1] else ["0"]):
                    if code == 0:
                        colour, bold = _INK, False
                    elif code == 1:
                        bold = True
                    elif code == 2:
                        colour = _COLOURS[90]
                    elif code in _COLOURS:
                        colour = _COLOURS[code]
        else:
            # Words that stand apart are drawn apart: SVG does not keep spaces.
            for words in re.finditer(r"\S+(?: \S+)*", part):
                yield column + words.start(), words.group(), colour, bold
            column += len(part)


def draw(lines: list[str]) -> str:
    while lines and not re.sub(r"\033\[[0-9;]*[mK]", "", lines[-1]).strip():
        lines.pop()
    width, height = _COLUMNS * _WIDTH + 24, len(lines) * _HEIGHT + 22
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
           f'width="{width:g}" height="{height:g}">',
           f'<rect width="100%" height="100%" rx="6" fill="{_PAPER}"/>',
           '<g font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" '
           'font-size="13">']
    for row, line in enumerate(lines):
        for column, text, colour, bold in spans(line):
            out.append(f'<text x="{12 + column * _WIDTH:g}" y="{10 + row * _HEIGHT + _BASE}" '
                       f'textLength="{len(text) * _WIDTH:g}" fill="{colour}"'
                       f'{" font-weight=" + chr(34) + "bold" + chr(34) if bold else ""}>'
                       f"{html.escape(text)}</text>")
    return "\n".join([*out, "</g>", "</svg>"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cluster", nargs="?", default="experiments/mnist/cluster.yaml")
    parser.add_argument("--kill-after", type=float, default=25, metavar="S")
    parser.add_argument("--show-after", type=float, default=12, metavar="S")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ako-front-door-") as folder:
        terminal = Terminal(["build/release/ako", "launch", options.cluster, "--free-ports",
                             "--output-dir", folder + "/run"])
        try:
            terminal.read_for(options.kill_after)
            os.kill(peer_process(terminal.pid, "c"), signal.SIGKILL)
            terminal.read_for(options.show_after)
            screen = terminal.screen()
        finally:
            terminal.end()
    if not screen:
        sys.exit("no screen was drawn")
    print(draw(screen))


if __name__ == "__main__":
    main()
