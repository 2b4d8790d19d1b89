"""The rooms of the house: the one table of them, which the tidy test holds `#include`s to, and from
which the tables of rooms in the documents are made.

    rooms.py --write    writes the tables anew
"""

import os
import pathlib
import re
from typing import NamedTuple


class Room(NamedTuple):
    sees: str            # other rooms, all of them above this one in the table
    what: str            # Markdown, links as from the top of the repository
    libraries: str = ""  # that stop here


# From the ground up. All see common/ako. A room names only rooms above it, so no two see each
# other.
ROOMS = {
    "models": Room(
        "",
        "layers, networks, data sets, model files: [its page](models/README.md)",
        "OpenBLAS, Eigen, zlib"),
    "src/numbers": Room(
        "",
        "optimizer, learning rate, batch plan, checksum, digest, buffer pool, durations, answer "
        "times"),
    "net": Room(
        "src/numbers",
        "peers and bytes: codec, sessions, handshake, pacing, keys: [its page](net/README.md)",
        "Asio"),
    "src/exchange": Room(
        "src/numbers",
        "what the exchange of all modes shares: steps and waits, links, mailbox, roster, "
        "departures, the two halves of a mode: [its page](src/exchange/README.md)"),
    "src/probe": Room(
        "",
        "peers that measure the links between them, beside which no run is: `LinkProbe`"),
    "src/rows": Room(
        "src/numbers src/exchange",
        "what the mode `ako` keeps and sends: ledger, replica, anchor, link schedule, puller, "
        "relay: [its page](src/rows/README.md)"),
    "src/agreement": Room(
        "src/numbers src/exchange src/rows",
        "how peers agree: the cut at the end of `ako`, the epochs of an elastic ring: [its "
        "page](src/agreement/README.md)"),
    "src/buckets": Room(
        "src/numbers src/exchange",
        "what the other modes sum up and send: ring, butterfly, parameter server, local SGD, "
        "model averaging"),
    "src/modes": Room(
        "src/numbers src/exchange src/rows src/agreement src/buckets",
        "the two halves of each mode and what it costs; `lockstep_compute`, what those share that "
        "wait for each other; `make_exchange`, which knows all: [its page](src/modes/README.md)"),
    "src/training": Room(
        "src/numbers",
        "the driver of a run and the loop over it, learners, evaluation, checkpoints, round times: "
        "[its page](src/training/README.md)"),
    "src/config": Room(
        "models",
        "cluster file, the table of keys, `--set`, key file",
        "yaml-cpp"),
    "src/system": Room(
        "",
        "log, console, signals, child processes, lock files, whole files",
        "spdlog"),
    "src/results": Room(
        "models src/numbers src/training src/config src/system",
        "what a run leaves: metrics, results, curves, models"),
    "src/screen": Room(
        "src/results src/system",
        "the live view, and lines of text in a pipe"),
    "src/launch": Room(
        "src/results src/config src/system",
        "peers as processes: their words, ports, pipes and restarts; the attendant of one on "
        "another machine"),
    "src/engines": Room(
        "models src/config src/system src/launch",
        "engines of shared clusters: what they are given, asked and told; containers; a Slurm "
        "allocation: [its page](src/engines/README.md)"),
    "src/diagnosis": Room(
        "src/numbers src/results",
        "what limits a cluster, found from how its peers use machines and links"),
    "src/observe": Room(
        "net src/config src/system src/results src/diagnosis",
        "a run as browsers and Prometheus see it: board, web server, page, metrics text, health",
        "cpp-httplib"),
    "src/wiring": Room(
        "net src/numbers src/exchange src/probe src/modes src/config src/results",
        "puts a peer's part in a cluster together, whatever it trains: transport, exchange, what "
        "it says of itself, its memory plan, the safety of its links"),
    "src/reporting": Room(
        "models src/numbers src/training src/config src/system src/results src/screen src/launch "
        "src/wiring src/observe",
        "a peer's run as people and files see it: log, folder, metrics, view, results, warnings"),
    "src/library": Room(
        "net src/numbers src/training src/config src/system src/results src/launch "
        "src/wiring src/reporting",
        "a peer for a program with a training loop of its own: the [C "
        "interface](include/ako/ako.h)"),
    "src/native_peer": Room(
        "models src/numbers src/modes src/training src/config src/results src/wiring",
        "a peer that trains a network of `models`: the network, its data, and how much memory they "
        "take"),
    "src/plot": Room(
        "src/config src/results src/system",
        "plots by gnuplot, pages that show them, `ako plot`: the record of a run, its charts and "
        "page"),
    "src/compare": Room(
        "src/config src/results src/system src/plot",
        "`ako compare`: [its page](src/compare/README.md)"),
    "src/predict": Room(
        "models src/numbers src/exchange src/rows src/buckets src/modes src/training src/config "
        "src/system src/results src/wiring src/native_peer src/plot",
        "`ako profile` and `ako predict`: a machine as measured, the model of a step, and the "
        "replay of its events: [its page](src/predict/README.md)"),
    "src/commands": Room(
        "models src/numbers src/probe src/training src/config src/system src/results src/screen "
        "src/launch src/engines src/diagnosis src/observe src/wiring src/reporting "
        "src/native_peer src/plot src/compare src/predict",
        "one file for each command, and the command line",
        "CLI11"),
    "src": Room(
        "src/commands",
        "`main.cpp`: says why the program could not start"),
}
# What Python and people have beside them, in the documents alone.
OTHERS = {
    "src/python": Room("", "the Python package over the library: [its page](src/python/README.md); "
                       "the search over configurations: "
                       "[its page](src/python/ako/explore/README.md)",
                       "ctypes, NumPy, PyTorch"),
    "tests": Room("", "a folder per kind of test, `unit` with one per room"),
    "deploy": Room("", "scripts, containers, machines: [its page](deploy/README.md)"),
    "experiments": Room("", "questions and answers: cluster files, data, figures: "
                        "[its page](experiments/README.md)"),
}

PAGES = ("README.md", "src/README.md")
_BEGIN, _END = "<!-- rooms.py writes this table -->\n", "<!-- to here -->\n"


def table(page: str) -> str:
    """The table as it stands in this page."""
    folder = os.path.dirname(page)

    def link(found: re.Match) -> str:
        return f"]({os.path.relpath(found.group(1), folder or '.')})"

    rows = [("`common/ako`", "the words and seams that all share", "")]
    rows += [(f"`{name}`", re.sub(r"\]\(([^)]+)\)", link, room.what), room.libraries)
             for name, room in (*ROOMS.items(), *OTHERS.items())]
    head = "| room | what is in it | libraries that stop here |\n|---|---|---|\n"
    return head + "".join(f"| {' | '.join(row)} |\n" for row in rows)


def with_table(page: str, text: str) -> str:
    """The text of the page with its table as it should be."""
    begin, end = text.find(_BEGIN), text.find(_END)
    if begin < 0 or end < begin:
        return text
    return text[:begin] + _BEGIN + table(page) + text[end:]


def main() -> None:
    top = pathlib.Path(__file__).resolve().parents[2]
    for page in PAGES:
        text = (top / page).read_text()
        (top / page).write_text(with_table(page, text))


if __name__ == "__main__":
    main()
