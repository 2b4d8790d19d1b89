"""What a judgement is made from: the lives of all peers, what happened to them, and where in the
files of a run each word of theirs stands. Values only.
"""

import dataclasses
import os

from faults import AWAY
from lives import TRAINING

TROUBLE = AWAY | {"partition", "wire", "disk"}  # what a peer is excused by


@dataclasses.dataclass
class Case:
    names: list      # of the file
    lives: list      # see lives.Life: name, role, began, ended, exit, killed_at, metrics, result()
    happened: list   # see striker.Happened
    calm: bool       # the faults were over before the end, and all that were away are back
    hung: list = dataclasses.field(default_factory=list)  # lives that did not end
    zero: float = 0.0  # the moment from which the timeline counts
    agree_s: float = 15.0  # how long a majority that hears each other may take to agree
    leave_s: float = 25.0  # and a peer to go that is asked to leave


def lines_of(life):
    return life.process.lines


def where(life, place):
    """The file and line of what a life said; `place`: in lines_of, from 0."""
    return f"{os.path.basename(life.log)}:{place + 1}"


def said_last(life):
    """The last of what it said that is more than where its results lie, and where."""
    for place in reversed(range(len(lines_of(life)))):
        if " results in " not in (text := lines_of(life)[place][1]):
            return f"{where(life, place)}: {text}"
    return f"{where(life, 0)}: nothing"


def last_words(life):
    said = [text for _, text in lines_of(life) if " results in " not in text]
    return said[-1] if said else "nothing"


def out_of_reach_from(life):
    """When nobody can reach it any more: its final exchange is over, or it has ended."""
    over = (at for at, text in lines_of(life) if text.endswith("evaluating the result"))
    return next(over, float("inf") if life.ended is None else life.ended)


def of_peer(case, name):
    return [it for it in case.happened if it.fault.peer == name or name in it.fault.others or
            it.fault.kind == "partition"]


def in_trouble(case, name, begin, end, but=None):
    """Was it hit by something that keeps a peer from training, hearing or being heard?"""
    return any(it.fault.kind in TROUBLE and it.overlaps(begin, end) and it is not but
               for it in of_peer(case, name))


def lives_of(case, name):
    return [life for life in case.lives if life.name == name and life.role != "second"]


def newest(case, name):
    lives = lives_of(case, name)
    return lives[-1] if lives else None


def stop_of(case):
    """When training was over for the first peer that was not asked to leave."""
    leaves = {it.fault.peer for it in case.happened if it.fault.kind == "leave"}
    return min((line.at for life in case.lives
                if life.role != "second" and life.name not in leaves for line in life.metrics
                if line.own["phase"] not in TRAINING), default=float("inf"))


def full_disks(case, name, begin, end):
    return [it for it in case.happened if it.fault.kind == "disk" and it.fault.peer == name and
            it.overlaps(begin, end)]


def disk_was_full(case, name, begin, end):
    return bool(full_disks(case, name, begin, end))
