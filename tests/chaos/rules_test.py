"""The rules of chaos runs, without any run: plans follow from their seeds and leave a majority, and
every rule of the judge finds what it is there for. Python's standard library only.

    rules_test.py
"""

import itertools
import pathlib
import sys
import tempfile
import types

import case
import chaos
import claims
import faults
import ends
import judge
import lives
import made_up
import measures
import returns
from faults import Fault
from made_up import DIGEST, a_case, a_life, a_result, happened, line, said
from striker import Striker

from bench import check, check_equal

NAMES = made_up.NAMES


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


def finds(rule, case, words):
    found = rule(case)
    check(len(found) > 0 and all(words in it for it in found), f"{rule.__name__}: {found}")
    check(found[0] in judge.findings(case), f"{rule.__name__} is one of the rules")


def judge_finds():
    check_equal(judge.findings(a_case()), [], "findings where all is well")
    hangs = a_life("b", exit=None, ended=None)
    finds(judge.all_ended, a_case(hangs, hung=[hangs]),
          "a hang (finishing, round 900, its newest line of metrics at 91.0 s); its last words: "
          "said-b1.txt:1: ")
    finds(judge.no_bug, a_case(a_life("b", exit=-11)), "signal 11")
    finds(judge.no_bug, a_case(a_life("b", exit=-6, killed_at=96.5)), "signal 6")
    check_equal(judge.no_bug(a_case(a_life("b", exit=-9, killed_at=95.9))), [], "a kill -9")
    broken = "rows.cpp:7: bug in ako: 'a < b' does not hold: 3"
    finds(judge.no_bug, a_case(a_life("b", process=said((5.0, broken)))), "bug in ako")
    finds(judge.no_bug, a_case(a_life("b", exit=3)), "status 3")
    finds(judge.no_bug, a_case(a_life("b", process=said((5.0, "ERROR: AddressSanitizer: x")))),
          "AddressSanitizer")
    joins = a_life("b", metrics=[line(2.0, "waiting", 0), line(20.0, "joining", 0),
                                 line(30.0, "training", 5), line(91.0, "finishing", 900)])
    check_equal(case.stop_of(a_case(joins)), 91.0, "when training is over, if somebody joins")
    finds(judge.failed_starts, a_case(a_life("b", exit=2, role="again", ended=50.0)), "could not")
    finds(judge.same_samples, a_case(a_life("b", result=lambda: a_result(samples_total=7))),
          "different samples")
    lone = a_life("b", exit=2, role="again", began=40.0, ended=50.0)
    alone = happened("cut", "b", 39.0, 60.0)
    check_equal(judge.failed_starts(a_case(lone, happened=[alone])), [],
                "who begins where it reaches nobody may give up")
    late = a_life("b", exit=2, role="again", began=92.0, ended=95.5)
    over = said((94.0, "12:01:34  c  100 %  epoch 1.00 of 1  round 900  evaluating the result"))
    finds(judge.failed_starts, a_case(late, a_life("c", process=over)), "though 2 others ran")
    check_equal(judge.failed_starts(a_case(late, *(a_life(name, process=over) for name in "ac"))),
                [], "who evaluates the result cannot be reached")


def judge_asks_for_agreement():
    finds(judge.agreement, a_case(a_life("b", exit=4)), "though nothing kept it")
    finds(judge.agreement, a_case(a_life("b", exit=4), calm=False), "though nothing kept it")
    check_equal(judge.judged(a_case()), NAMES, "who is judged after a calm end")
    cut = happened("cut", "b", 88.0, 99.0)
    stormy = a_case(a_life("b", exit=4), happened=[cut], calm=False)
    check_equal((judge.agreement(stormy), judge.judged(stormy)), ([], ["a", "c", "d"]),
                "who was cut off at the end is excused")
    # What comes when all have had time to agree excuses nobody.
    for late in (happened("partition", "", 110.0, None, ("a", "b")),
                 happened("cut", "a", 107.0, 120.0), happened("wire", "c", 94.0, None, ("d",))):
        none = [a_life(name, exit=4, ended=130.0, process=said((1.0, "no"))) for name in NAMES]
        found = judge.agreement(a_case(*none, happened=[late], calm=False))
        check_equal(len(found), 3 if late.fault.kind == "wire" else 4,
                    f"how many must agree with {late.fault.text()} at {late.began}")
    # So does what is over soon after the end of the training, if they are still there.
    apart = happened("partition", "", 89.0, 95.0, ("a", "b"))
    for ended, count in ((130.0, 4), (96.0, 0)):
        none = [a_life(name, exit=4, ended=ended, process=said((1.0, "no"))) for name in NAMES]
        halves = a_case(*none, happened=[apart], calm=False)
        check_equal((len(judge.agreement(halves)), len(judge.judged(halves))), (count, count),
                    f"how many must agree that were apart, and ended at {ended}")
    lone = happened("partition", "", 89.0, None, ("a",))
    check_equal(judge.judged(a_case(happened=[lone], calm=False)), ["b", "c", "d"],
                "three of four are enough")
    two = [happened("stop", name, 85.0, 200.0) for name in "ab"]
    some = a_case(*(a_life(name, exit=4) for name in NAMES), happened=two, calm=False)
    check_equal((judge.agreement(some), judge.judged(some)), ([], []), "two of four cannot")


def judge_dates_full_disks():
    """It excuses what was to be written, or started, while the disk was full."""
    finds(judge.agreement, a_case(a_life("b", exit=6)), "status 6")
    full, early = happened("disk", "b", 88.0, 99.0), happened("disk", "b", 10.0, 20.0)
    check_equal(judge.findings(a_case(a_life("b", exit=6), happened=[full])), [], "a full disk")
    finds(judge.agreement, a_case(a_life("b", exit=6), happened=[early]), "status 6")
    back = a_life("b", exit=2, role="again", began=40.0, ended=50.0)
    finds(judge.failed_starts, a_case(back, happened=[early]), "could not")
    check_equal(judge.failed_starts(a_case(back, happened=[happened("disk", "b", 39.0, 45.0)])),
                [], "the disk was full when it began")
    silent = a_life("b", process=said((1.0, "no")), result=lambda: None)
    check_equal(claims.claims_hold(a_case(silent, happened=[full])), [], "it could not write it")
    finds(claims.claims_hold, a_case(silent, happened=[early]), "but b ended with status 0")


def judge_doubts_claims():
    """Which file and line says what, and what is false about it."""
    yes = f"replicas identical: yes ({DIGEST}) on a, b, c, d"
    other = (95.0, "b  replicas identical: yes (ffff) on a, b, c, d")
    finds(claims.one_digest, a_case(a_life("b", process=said((1.0, "x"), other))),
          "ffff on a, b, c, d (said-b1.txt:2)")
    finds(claims.one_digest, a_case(a_life("b", result=lambda: a_result(digest="ffff"))),
          "ffff (result-b.json of b)")
    finds(claims.none_differs, a_case(a_life("b", process=said((9.0, f"replicas identical: no "
                                                                f"(a has {DIGEST})")))),
          "says that parameters differ (said-b1.txt:1)")
    silent = a_life("b", exit=4, process=said((1.0, "no")), result=lambda: None)
    finds(claims.claims_hold, a_case(silent), "but b ended with status 4 and does not say so: "
          "said-b1.txt:1: no")
    without = a_life("b", exit=4, process=said((1.0, "no")),
                     result=lambda: a_result(agreed=False, identical=False))
    finds(claims.claims_hold, a_case(without), f"says {DIGEST} on a, b, c, d (said-")
    killed = a_life("b", exit=-9, killed_at=94.0, process=said((1.0, "no")), result=lambda: None)
    check_equal(claims.claims_hold(a_case(killed)), [], "it may have held it before it was killed")
    stood = [happened("stop", "b", 80.0, None)]
    finds(claims.claims_hold, a_case(killed, happened=stood), "but b ended with status -9")
    early = a_life("b", exit=-9, killed_at=80.0, process=said((1.0, "no")), result=lambda: None)
    finds(claims.claims_hold, a_case(early), "but b ended with status -9")
    # A killed life is no excuse for a new one that gave up, unless that came after the claim.
    old = a_life("b", exit=-9, killed_at=50.0, ended=50.1, process=said((1.0, "no")),
                 result=lambda: None)
    gave_up = a_life("b", number=2, role="again", began=51.0, exit=4, process=said((1.0, "no")),
                     result=lambda: None, label=lambda: "b (life 2)")
    finds(claims.claims_hold, a_case(old, gave_up), "but b (life 2) ended with status 4")
    for began, false in ((94.0, True), (95.5, False)):
        new = a_life("b", number=2, role="again", began=began, ended=120.0, exit=4,
                     process=said((1.0, "no")), result=lambda: None)
        found = claims.claims_hold(a_case(killed, new))
        check_equal(bool(found), false, f"one that came at {began} and gave up")
    finds(claims.claims_hold, a_case(a_life("a", process=said((95.0, f"{yes}, e")))),
          "but e never ran")
    finds(claims.claims_are_in_files, a_case(a_life("b", model_digest=lambda: "ffff")),
          "in model.safetensors of ")
    finds(claims.claims_are_in_files, a_case(a_life("b", result=lambda: a_result(
        identical=False))), "result-b.json of b has")
    finds(claims.claims_are_in_files, a_case(a_life("b", process=said((1.0, "x")))),
          "says identical, and the peer did not")


def judge_asks_for_names():
    killed = happened("kill", "b", 50.5, 60.5)
    dead = a_life("b", killed_at=50.5, ended=50.6, exit=-9)
    again = a_life("b", number=2, role="again", began=60.5, metrics=[
        line(float(at), "training", 10 * at) for at in range(62, 91)])
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


def killed_and_back(*lines, began=60.5):
    dead = a_life("b", killed_at=50.5, ended=50.6, exit=-9, process=said((1.0, "x")))
    back = a_life("b", number=2, role="again", began=began, metrics=list(lines))
    return dead, back


def judge_wants_rounds_kept():
    killed = happened("kill", "b", 50.5, 60.5)
    peers = killed_and_back(line(62.0, "training", 1), line(63.0, "training", 11))
    finds(returns.rounds_kept, a_case(*peers, happened=[killed]), "others had heard of 50")
    # Long before, or after all is settled, nothing excuses it; meanwhile, it does those it hit.
    for more, judged in ((happened("cut", "a", 20.0, 40.0), True),
                         (happened("cut", "a", 66.0, 70.0), True),
                         (happened("cut", "a", 49.0, 70.0), True),
                         (happened("partition", "", 49.0, 70.0, ("a", "b")), False),
                         (happened("cut", "b", 62.0, 70.0), False)):
        found = returns.rounds_kept(a_case(*peers, happened=[killed, more]))
        check_equal(bool(found), judged, f"a return is judged with {more.fault.text()}")
    alone = [a_life(name, metrics=[line(30.0, "training", 300, [("b", 50 if name == "a" else 1)])])
             for name in "acd"]
    cut = happened("cut", "a", 49.0, 70.0)
    check_equal(returns.rounds_kept(a_case(*peers, *alone, happened=[killed, cut])), [],
                "what only one heard who is away")


def judge_wants_training_after():
    killed = happened("kill", "b", 20.5, 30.5)
    still = [line(float(at), "training", 300) for at in range(32, 90)]
    dead, back = killed_and_back(*still, began=30.5)
    dead.killed_at, dead.ended = 20.5, 20.6
    finds(returns.trains_on, a_case(dead, back, happened=[killed]),
          "made no round for 60 s, from 30.5 s on, though nothing kept it from that (training, "
          "round 300)")
    joins = [line(float(at), "joining", 0) for at in range(32, 90)]
    finds(returns.trains_on, a_case(dead, a_life("b", role="again", began=30.5, metrics=joins),
                                    happened=[killed]), "(joining, round 0)")
    often = [happened("cut", "b", at, at + 9.0) for at in (36.0, 52.0, 68.0, 84.0)]
    check_equal(returns.trains_on(a_case(dead, back, happened=[killed, *often])), [],
                "who joins and is cut off again and again")
    # A join goes on where it was before a cut, but what it takes to connect; so with enough time
    # it comes to an end.
    rarely = [happened("cut", "b", at, at + 5.0) for at in (40.0, 60.0, 80.0)]
    finds(returns.trains_on, a_case(dead, back, happened=[killed, *rarely]),
          "b made no round after its return, in ")
    stops = a_life("a", metrics=[line(float(at), "training", at) for at in range(1, 45)] +
                   [line(45.0, "finishing", 44)])
    check_equal(returns.trains_on(a_case(dead, back, stops, happened=[killed])), [],
                "the end came first")
    stopped = happened("stop", "c", 20.0, 30.0)
    stands = a_life("c", metrics=[line(float(at), "training", min(at, 20)) for at in range(1, 91)])
    finds(returns.trains_on, a_case(stands, happened=[stopped]), "from 30.0 s on")
    full, soon = happened("disk", "c", 10.0, 91.0), happened("disk", "c", 10.0, 15.0)
    silent = a_life("c", metrics=[line(float(at), "training", at) for at in range(1, 12)])
    hears = a_life("a", metrics=[line(float(at), "training", at, [("c", at)])
                                 for at in range(1, 91)])
    check_equal(returns.trains_on(a_case(silent, hears, happened=[full])), [],
                "who cannot say it, and the others hear its rounds")
    finds(returns.trains_on, a_case(silent, hears, happened=[soon]), "c made no round for 73 s")
    finds(returns.trains_on, a_case(silent, happened=[full]), "c made no round for 80 s")
    check_equal([after for _, after in returns.returns(a_case(happened=[stopped]))], [1.0],
                "when it trained again")


def judge_knows_what_stops_training():
    stands = a_life("c", metrics=[line(float(at), "training", min(at, 20)) for at in range(1, 91)])
    for kind, excused in (("reset", False), ("slow", False), ("far", False), ("lossy", False),
                          ("stall", False), ("wire", False), ("cut", False), ("mute", False),
                          ("deaf", False), ("partition", False), ("hang", True), ("stop", True)):
        often = [happened(kind, "" if kind == "partition" else "c", at, at + 8.0, ("c",))
                 for at in range(25, 90, 12)]
        found = returns.trains_on(a_case(stands, happened=often))
        check_equal(not found, excused, f"{kind} every 12 s excuses who trained")
    joins = a_life("c", role="late", began=5.0, metrics=[
        line(float(at), "joining", 0) for at in range(6, 91)])
    for kind, seconds, excused in (("slow", 3, False), ("stall", 3, False), ("slow", 80, True),
                                   ("cut", 12, True), ("deaf", 12, True), ("cut", 1, False)):
        often = [happened(kind, "c", at, at + float(seconds)) for at in range(10, 90, 17)]
        found = returns.trains_on(a_case(joins, happened=often))
        check_equal(not found, excused, f"{kind} of {seconds} s every 17 s excuses who joins")
    for names, excused in (("a", False), ("ab", True)):
        slow = [happened("slow", name, 15.0, 85.0) for name in names]
        check_equal(not returns.trains_on(a_case(joins, happened=slow)), excused,
                    f"it joins, and {names} of four are slow")


def judge_tells_leaving_from_loss():
    asked = happened("leave", "b", 50.0, None)
    yes = (95.0, f"replicas identical: yes ({DIGEST}) on a, c, d")
    knows, lost = (51.5, "x  peer b has left, and the run goes on"), (52.5, "x  peer b is lost: no")
    none = {"process": said((1.0, "x")), "result": lambda: None, "metrics": [
        *(line(float(at), "training", 10 * at) for at in range(1, 50)),
        line(50.5, "finishing", 490)]}

    def left(*texts, **changes):
        gone = {"exit": 143, "ended": 51.4, **none, **changes}
        return a_case(a_life("b", **gone), *(a_life(name, process=said(*texts, yes))
                                             for name in "acd"), happened=[asked], calm=False)

    check_equal(judge.findings(left(knows)), [], "who leaves as it is asked to")
    check_equal(judge.judged(left(knows)), ["a", "c", "d"], "who must agree")
    finds(ends.leaving, left(), "does not say that b has left")
    finds(ends.leaving, left(knows, lost), "takes b, which left, for lost")
    finds(ends.leaving, left(knows, exit=4), "ended with status 4, not 143")
    finds(ends.leaving, left(knows, exit=-9, killed_at=99.0, ended=99.1), "status -9, not 143")
    finds(ends.leaving, left(knows, exit=0, ended=96.0), "ended with status 0, not 143")
    finds(ends.leaving, left(knows, exit=130), "ended with status 130, not 143")
    finds(ends.leaving, left(knows, ended=80.0), "took 30.0 s")
    asked.began = 85.0
    check_equal(ends.leaving(left((95.5, knows[1]), exit=130, ended=96.0)), [],
                "the end came before it had gone")


def judge_wants_seconds_refused():
    second = a_life("b", role="second", exit=2, process=said((9.0, "a refuses this peer")))
    check_equal(judge.second_refused(a_case(a_life("b"), second)), [], "a second that is refused")
    finds(judge.second_refused, a_case(a_life("b"), a_life(
        "b", role="second", exit=0, began=50.0, ended=60.0)), "second process")
    check_equal(judge.second_refused(a_case(a_life("b", ended=55.0), a_life(
        "b", role="second", exit=0, began=50.0, ended=60.0))), [], "the first has ended before")
    let_in = a_life("b", role="second", exit=0, began=50.0, ended=96.0,
                    result=lambda: a_result(samples_total=1007))
    fell, stood = (40.0, "peer b: session ended: reset"), (45.0, "peer b is connected again")
    for what, lines, excused in (
            ("a session fell while it asked", [(51.0, fell[1]), (52.0, stood[1])], True),
            ("it fell before, and stood only then", [fell, (52.0, stood[1])], True),
            ("it fell before and stood again", [fell, stood], False),
            ("it fell and stayed down", [fell], True),
            ("it fell long after", [(80.0, fell[1]), (81.0, stood[1])], False),
            ("another's session fell", [(51.0, "peer d: session ended: reset")], False)):
        seen = a_case(a_life("c", process=said(*lines)), a_life("b"), let_in)
        check_equal(judge.second_refused(seen) == [], excused, what)
        check_equal(judge.same_samples(seen) == [], excused, f"samples where {what}")


# ---- what is read of a life


def half_a_line_is_read_again():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "metrics.jsonl"
        path.write_bytes(b'{"time":1,"round":5}\n{"time":2,"rou')
        lines = lives.WholeLines(path)
        check_equal(lines.new(), [b'{"time":1,"round":5}'], "what is whole")
        path.write_bytes(b'{"time":1,"round":5}\n{"time":33,"round":9}\n')  # the half taken back
        check_equal(lines.new(), [b'{"time":33,"round":9}'], "the line in place of the half")
        check_equal(lines.new(), [], "nothing twice")
        lines.close()
        check_equal(lines.new(), [], "nothing after the end")


# ---- who strikes


def a_cluster(**changes):
    """Four that train, each of which hears all others."""
    lives = [types.SimpleNamespace(
        name=name, role="first", runs=True, phase=lambda: "training", rounds=lambda: 9,
        silent_s=lambda: 0.5,
        label=lambda name=name: name,
        newest=lambda name=name: line(1.0, "training", 9, [(it, 9) for it in NAMES
                                                           if it != name]).own) for name in NAMES]
    for name, change in changes.items():
        vars(lives[NAMES.index(name)]).update(change)
    started = []
    return types.SimpleNamespace(
        lives=lives, started=started, running=lambda: lives, place=NAMES.index,
        current=lambda name: next(it for it in lives if it.name == name),
        start=lambda name, role: started.append((name, role)))


def seconds_where_the_first_is():
    network = types.SimpleNamespace(places=5, apply=lambda *_: None)
    unheard = line(1.0, "training", 9, [("b", 9)]).own
    unheard["links"][0]["presence"] = "lost"
    timeline = types.SimpleNamespace(say=lambda text: None)
    for what, changes, before, struck in (
            ("all train", {}, (), True),
            ("it joins", {"b": {"phase": lambda: "joining"}}, (), False),
            ("it is silent", {"b": {"silent_s": lambda: 9.0}}, (), False),
            ("it ends", {"b": {"phase": lambda: "finishing"}}, (), False),
            ("it is not there", {"b": {"runs": False}}, (), False),
            ("one has lost it", {"c": {"newest": lambda: unheard}}, (), False),
            ("it is cut off", {}, (Fault(1, "cut", 0.0, 5.0, "b"),), False),
            ("another is", {}, (Fault(1, "cut", 0.0, 5.0, "c"),), True),
            ("halves are apart", {}, (Fault(1, "partition", 0.0, 5.0, "", ("a", "b")),), False)):
        cluster = a_cluster(**changes)
        striker = Striker(cluster, network, {}, timeline)
        for fault in (*before, Fault(2, "second", 1.0, 0.0, "b")):
            striker.strike(fault)
        check_equal(cluster.started, [("b", "second")] if struck else [], f"seconds where {what}")
    cluster.lives.append(types.SimpleNamespace(name="b", role="second", label=lambda: "b"))
    striker = Striker(cluster, network, {}, timeline)
    striker.strike(Fault(3, "cut", 2.0, 5.0, "b"))
    check_equal(striker.happened, [], "what hides a name while a second is being refused")


# ---- the command line


def again_names_all():
    words = ["x.yaml", "--seed", "3", "--every", "3", "--rate", "20mbit", "--kinds", "kill,stop",
             "--set", "training.epochs=6", "--set", "seed=4", "--accuracy-min", "0.9"]
    said = chaos.again(chaos.parse(words), "p.json")
    for word in ("--every 3", "--rate 20mbit", "--kinds kill,stop", "--set training.epochs=6",
                 "--set seed=4", "--accuracy-min 0.9", "--tail stormy", "--replay p.json"):
        check(word in said, f"{word} is missing: {said}")
    check("--longest" not in said, f"what is the default: {said}")
    words = said.split()
    same = chaos.parse(words[words.index("deploy/chaos") + 1:])
    first = chaos.parse(["x.yaml"])
    check_equal(chaos.again(same, "p.json"), said, "the command again")
    check(chaos.again(first, "p.json").count("--") == 3, chaos.again(first, "p.json"))
    check_equal(chaos.words_for_peers(same)[-2:], ["--set", "seed=4"], "the last word")
    resolved = types.SimpleNamespace(number={"start_wait_s": 100.0}.get)
    check_equal(chaos.start_patience_s(resolved), 160.0, "how long the start may take")


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
    check(0.7 < pace < 0.8, f"a pace of {pace}, not 0.75")
    rise = measures.loss_rise([stalled], 15.0, 29.0)
    check(0.9 < rise <= 1.0, f"a rise of {rise}, not 1")
    back = measures.first_round(measures.seconds_of(stalled), 14.5)
    check(15.9 < back[0] < 16.1, f"the first round after 14.5 at {back[0]}")


def main():
    for test in (plans_follow_from_seeds, plans_leave_a_majority, judge_finds,
                 judge_asks_for_agreement, judge_dates_full_disks, judge_doubts_claims,
                 judge_asks_for_names, judge_wants_rounds_kept, judge_wants_training_after,
                 judge_knows_what_stops_training, judge_tells_leaving_from_loss,
                 judge_wants_seconds_refused, half_a_line_is_read_again,
                 seconds_where_the_first_is, again_names_all,
                 figures):
        test()
        print(f"ok     {test.__name__}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
