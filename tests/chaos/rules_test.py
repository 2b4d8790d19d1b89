"""The rules of chaos runs, without any run: plans follow from their seeds and leave a majority, and
every rule of the judge finds what it is there for. Python's standard library only.

    rules_test.py
"""

import itertools
import sys
import types

import faults
import judge
import measures
from faults import Fault
from lives import Line
from striker import Happened

from bench import check, check_equal

NAMES = ["a", "b", "c", "d"]
DIGEST = "0123456789abcdef"


# ---- plans


def first(plan, count):
    return [plan.next() for _ in range(count)]


def plans_follow_from_seeds():
    for seed in range(20):
        one, same = (first(faults.Plan(seed, NAMES), 200) for _ in range(2))
        check_equal(one, same, f"the plan of seed {seed} made again")
        check_equal(faults.from_json(faults.to_json(one)), one, "a plan written and read")
        check(one != first(faults.Plan(seed + 1, NAMES), 200), "another seed, another plan")
        check(all(x.at <= y.at for x, y in zip(one, one[1:])), "a plan is by time")
    drawn = {fault.kind for seed in range(20) for fault in first(faults.Plan(seed, NAMES), 200)}
    check_equal(drawn, set(faults.KINDS), "kinds that are drawn")
    late = [faults.Plan(seed, NAMES).late for seed in range(100)]
    check(20 < sum(1 for it in late if it) < 80, "about half of the seeds have a late peer")
    for fault in first(faults.Plan(3, NAMES, longest=5), 200):
        check(fault.seconds <= 5, f"not longer than asked for: {fault}")


def plans_leave_a_majority():
    for names, seed in itertools.product(("abcd", "abcdef", "abc"), range(10)):
        plan = first(faults.Plan(seed, names, kinds=tuple(faults.KINDS)), 300)
        for fault in plan:
            away = {it.peer for it in plan if it.kind in faults.AWAY
                    and it.at <= fault.at < it.until()}
            check(len(names) - len(away) > len(names) // 2, f"{away} are away of {names}")
            same = [it for it in plan if it.kind in faults.OF_PROCESS and it.peer == fault.peer
                    and it.at <= fault.at < it.until()]
            check(fault.kind not in faults.OF_PROCESS or same in ([fault], []),
                  f"one process has two faults: {same}")


# ---- the judge


def line(at, phase, round_, links=(), **more):
    own = {"time": at, "phase": phase, "round": round_, "images": 32 * round_, "loss": 1.0,
           "progress": at / 100, "ingress_bytes": 0, **more,
           "links": [{"peer": peer, "presence": "up", "round": heard, "live": True,
                      "staleness_rounds": 3} for peer, heard in links]}
    return Line(at, own)


def a_life(name, **changes):
    """One that trained for 90 s, ended well and said so."""
    links = [(other, 50) for other in NAMES if other != name]
    said = [(95.0, f"12:00:00  {name}  replicas identical: yes ({DIGEST}) on a, b, c, d")]
    life = types.SimpleNamespace(
        name=name, number=1, role="first", began=0.0, ended=96.0, exit=0, killed_at=None,
        metrics=[line(float(at), "training", 10 * at, links) for at in range(1, 91)] +
                [line(91.0, "finishing", 900, links)],
        process=types.SimpleNamespace(lines=said), label=lambda: name,
        result=lambda: {"identical": True, "samples_total": 1000, "accuracy": 0.99})
    vars(life).update(changes)
    return life


def a_case(*lives, happened=(), calm=True, hung=()):
    others = [a_life(name) for name in NAMES if name not in {life.name for life in lives}]
    return judge.Case(NAMES, [*lives, *others], list(happened), calm, list(hung))


def said(*texts):
    return types.SimpleNamespace(lines=list(texts))


def happened(kind, peer, began, ended, others=()):
    it = Happened(Fault(1, kind, began, (ended or began) - began, peer, others), began)
    it.ended = ended
    return it


def finds(rule, case, words):
    found = rule(case)
    check(len(found) > 0 and all(words in it for it in found), f"{rule.__name__}: {found}")
    check(found[0] in judge.findings(case), f"{rule.__name__} is one of the rules")


def judge_finds():
    check_equal(judge.findings(a_case()), [], "findings where all is well")
    hangs = a_life("b", exit=None, ended=None)
    finds(judge.all_ended, a_case(hangs, hung=[hangs]), "did not end")
    finds(judge.no_bug, a_case(a_life("b", exit=-11)), "signal 11")
    finds(judge.no_bug, a_case(a_life("b", exit=3)), "status 3")
    finds(judge.no_bug, a_case(a_life("b", process=said((5.0, "ERROR: AddressSanitizer: x")))),
          "AddressSanitizer")
    other = (95.0, "b  replicas identical: yes (ffff) on a, b, c, d")
    finds(judge.one_digest, a_case(a_life("b", process=said(other))), "different parameters")
    finds(judge.one_digest, a_case(a_life("b", exit=4, process=said((1.0, "no")))), "says that b")
    finds(judge.agreement, a_case(a_life("b", exit=4)), "though nothing kept it")
    finds(judge.agreement, a_case(a_life("b", exit=4), calm=False), "though nothing kept it")
    joins = a_life("b", metrics=[line(2.0, "waiting", 0), line(20.0, "joining", 0),
                                 line(30.0, "training", 5), line(91.0, "finishing", 900)])
    check_equal(judge.stop_of(a_case(joins)), 91.0, "when training is over, if somebody joins")
    cut = happened("cut", "b", 88.0, 99.0)
    check_equal(judge.agreement(a_case(a_life("b", exit=4), happened=[cut], calm=False)), [],
                "who was cut off at the end is excused")
    finds(judge.agreement, a_case(a_life("b", exit=6)), "status 6")
    full = happened("disk", "b", 88.0, 99.0)
    check_equal(judge.findings(a_case(a_life("b", exit=6), happened=[full])), [], "a full disk")
    finds(judge.failed_starts, a_case(a_life("b", exit=2, role="again", ended=50.0)), "could not")
    finds(judge.same_samples, a_case(a_life("b", result=lambda: {
        "identical": True, "samples_total": 7, "accuracy": 0.99})), "different samples")
    lone = a_life("b", exit=2, role="again", began=40.0, ended=50.0)
    alone = happened("cut", "b", 39.0, 60.0)
    check_equal(judge.failed_starts(a_case(lone, happened=[alone])), [],
                "who begins where it reaches nobody may give up")


def judge_asks_for_names():
    killed = happened("kill", "b", 50.5, 60.5)
    dead = a_life("b", killed_at=50.5, ended=50.6, exit=-9)
    again = a_life("b", number=2, role="again", began=60.5,
                   metrics=[line(62.0, "training", 505), line(63.0, "training", 515)])
    lost = (52.6, "12:00:00  x  peer b is lost: no byte for 2000 ms")

    def naming(*lines):
        return [a_life(name, process=said(*lines, (95.0, f"replicas identical: yes ({DIGEST}) on "
                                                         "a, b, c, d"))) for name in "acd"]

    good = a_case(dead, again, *naming(lost), happened=[killed])
    check_equal(judge.findings(good), [], "findings where b was named and came back")
    check_equal(len(judge.namings(good)), 3, "how many had to name it")
    finds(judge.losses_named, a_case(dead, again, *naming(), happened=[killed]), "not at all")
    finds(judge.losses_named, a_case(dead, again, *naming((54.0, lost[1])), happened=[killed]),
          "after 3.5 s")
    busy = [killed, happened("stop", "a", 49.0, 53.0)]
    named = judge.namings(a_case(dead, again, *naming(), happened=busy))
    check_equal([it.life.name for it in named if it.it is killed], ["c", "d"],
                "who stood still need not name it")
    halves = happened("partition", "", 50.5, 60.5, ("a", "b"))
    named = [(it.life.name, it.victim) for it in judge.namings(a_case(happened=[halves]))]
    check_equal(sorted(named), [("a", "c"), ("a", "d"), ("b", "c"), ("b", "d"), ("c", "a"),
                                ("c", "b"), ("d", "a"), ("d", "b")], "who is apart from whom")
    short = happened("kill", "b", 50.5, 51.5)
    check_equal(judge.losses_named(a_case(dead, again, *naming(), happened=[short])), [],
                "who is back after a second need not be named")


def judge_wants_rounds_kept():
    killed = happened("kill", "b", 50.5, 60.5)
    dead = a_life("b", killed_at=50.5, ended=50.6, exit=-9)
    behind = a_life("b", number=2, role="again", began=60.5,
                    metrics=[line(62.0, "training", 1), line(63.0, "training", 11)])
    finds(judge.rounds_kept, a_case(dead, behind, happened=[killed]), "others had heard of 50")
    second = a_life("b", role="second", exit=2, process=said((9.0, "a refuses this peer")))
    check_equal(judge.second_refused(a_case(a_life("b"), second)), [], "a second that is refused")
    finds(judge.second_refused, a_case(a_life("b"), a_life("b", role="second", exit=0)),
          "second process")


# ---- the figures


def figures():
    """A pause of 2 s in the training of one, and a loss that rises by 1."""
    rounds = [10 * at for at in range(30)]
    for at in range(15, 30):
        rounds[at] -= 10 * min(at - 14, 2)
    stalled = types.SimpleNamespace(metrics=[
        line(float(at), "training", rounds[at], loss=1.0 if at < 16 else 2.0)
        for at in range(30)])
    longest, pace = measures.pauses([stalled], 14.0)
    check(1.9 < longest < 2.1, f"a pause of {longest} s, not 2")
    check(0.75 < pace < 0.85, f"a pace of {pace}, not 0.8")
    rise = measures.loss_rise([stalled], 15.0, 29.0)
    check(0.9 < rise <= 1.0, f"a rise of {rise}, not 1")
    back = measures.first_round(measures.seconds_of(stalled), 14.5)
    check(15.9 < back[0] < 16.1, f"the first round after 14.5 at {back[0]}")


def main():
    for test in (plans_follow_from_seeds, plans_leave_a_majority, judge_finds,
                 judge_asks_for_names, judge_wants_rounds_kept, figures):
        test()
        print(f"ok     {test.__name__}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
