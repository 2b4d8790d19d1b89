"""What a run came to, as one peer saw it: result-<peer>.json as a value; the standing before."""

from __future__ import annotations

import dataclasses
from typing import Any, Dict, Tuple


@dataclasses.dataclass(frozen=True)
class Report:
    """How a peer ended. `json` has all of it, as the result file does."""

    agreed: bool                     # the model holds what this peer and others agreed on
    identical: bool                  # all who finished together hold the same, bit for bit
    finished_with: Tuple[str, ...]   # names, this peer among them
    lost_peers: Tuple[str, ...]      # names of those that were not heard from any more
    digest: str                      # of the parameters; "" without an agreement
    exit: int                        # the status that `ako train` would exit with
    rounds: int                      # made by this peer
    samples: int                     # that it has trained on
    losses_not_finite: int           # so many of its rounds had a loss that is not a number
    why: str                         # why training is over, or why there was no agreement
    left: bool                       # this peer alone went, while the others went on
    ending: str                      # one word, such as "finished" or "left"
    json: Dict[str, Any] = dataclasses.field(repr=False)

    @classmethod
    def from_json(cls, json: Dict[str, Any]) -> Report:
        """`json`: an object as in result-<peer>.json. A key that is missing counts as empty."""
        return cls(agreed=bool(json.get("agreed")), identical=bool(json.get("identical")),
                   finished_with=tuple(json.get("finished_with") or ()),
                   lost_peers=tuple(json.get("lost_peers") or ()),
                   digest=json.get("digest") or "", exit=int(json.get("exit") or 0),
                   rounds=int(json.get("rounds") or 0),
                   samples=int(json.get("samples", json.get("images")) or 0),
                   losses_not_finite=int(json.get("losses_not_finite") or 0),
                   why=json.get("why") or "", left=json.get("ending") == "left",
                   ending=json.get("ending") or "", json=json)


@dataclasses.dataclass(frozen=True)
class Standing:
    """How far the run is now."""

    rounds: int       # made by this peer, earlier processes of its name included
    samples: int      # that it has trained on, likewise
    progress: float   # 0 .. 1 of the sample budget, over all peers; never falls
    epochs: float     # what a progress of 1 stands for: training.epochs of the cluster file
    seed: int         # of the cluster file
    place: int        # of this peer among those that train, from 0
    trainers: int     # how many those are; with data.sharding: own 1, for it shares no data
    batch: int        # training.batch of the cluster file
    evaluates: bool   # it is this peer whose test results count now
