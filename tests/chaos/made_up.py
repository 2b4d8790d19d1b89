"""Lives that never ran, for the test of the rules: four peers that trained for 90 s and ended well,
and what of that is changed. Values only."""

import types

import judge
from faults import Fault
from lives import Line
from striker import Happened

NAMES = ["a", "b", "c", "d"]
DIGEST = "0123456789abcdef"


def line(at, phase, round_, links=(), **more):
    own = {"time": at, "phase": phase, "round": round_, "samples": 32 * round_, "loss": 1.0,
           "progress": at / 100, "ingress_bytes": 0, **more,
           "links": [{"peer": peer, "presence": "up", "round": heard, "live": True,
                      "staleness_rounds": 3} for peer, heard in links]}
    return Line(at, own)


def a_result(**changes):
    return {"identical": True, "agreed": True, "samples_total": 1000, "accuracy": 0.99,
            "digest": f"{DIGEST}{48 * '0'}", **changes}


def a_life(name, **changes):
    """One that trained for 90 s, ended well and said so."""
    links = [(other, 50) for other in NAMES if other != name]
    said = [(95.0, f"12:00:00  {name}  replicas identical: yes ({DIGEST}) on a, b, c, d")]
    life = types.SimpleNamespace(
        name=name, number=1, role="first", began=0.0, ended=96.0, exit=0, killed_at=None,
        log=f"/somewhere/said-{name}1.txt", phase=lambda: "finishing", rounds=lambda: 900,
        model_digest=lambda: f"{DIGEST}{48 * '0'}",
        metrics=[line(float(at), "training", 10 * at, links) for at in range(1, 91)] +
                [line(91.0, "finishing", 900, links)],
        process=types.SimpleNamespace(lines=said), label=lambda: name,
        result=lambda: a_result())
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
