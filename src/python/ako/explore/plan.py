"""The plan of a search: its file, checked, as values. Nothing is run by it."""

from __future__ import annotations

import dataclasses
import difflib
import hashlib
import itertools
import math
import pathlib
import re
from typing import Any

import yaml

RESERVED = {"training.epochs": "epochs", "training.until": "epochs",
            "data.validation": "validation", "training.threads": "units",
            "peers": "units", "run": "name", "output": "--output-dir",
            "training.target_accuracy": "choose.stop"}  # and what to say instead
NORMALISATIONS = {"none": {"data.normalisation.mean": 0, "data.normalisation.deviation": 1},
                  "mean-std": {}}
SCORES = {"accuracy": "maximize", "loss": "minimize"}  # that a run of Ako reports


class PlanError(Exception):
    """Something is wrong before anything runs: what, with file and line, and what to do."""


class Map(dict):
    """A map of a YAML file that knows its lines, and complains with them."""

    file, lines = "", {}

    def refuse(self, key: str, what: str) -> PlanError:
        return PlanError(f"{self.file}:{self.lines.get(key, 1)}: {key}: {what}")

    def only(self, *allowed: str) -> Map:
        for name in self:
            if name not in allowed:
                near = difflib.get_close_matches(str(name), allowed, 1)
                raise self.refuse(name, "there is no such key; " + (
                    f"did you mean {near[0]}?" if near else f"there are {', '.join(allowed)}"))
        return self

    def map(self, key: str, *allowed: str) -> Map:
        found = self.get(key, Map())
        if not isinstance(found, Map):
            raise self.refuse(key, f"expected keys and values, found {found!r}")
        return found.only(*allowed) if allowed else found

    def number(self, key: str, default: Any, low: float, high: float = math.inf,
               whole: bool = False) -> Any:
        value = self.get(key, default)
        if key in self and (isinstance(value, bool) or not isinstance(value, (int, float)) or
                            not low <= value <= high or (whole and not float(value).is_integer())):
            to = f" to {high:g}" if high < math.inf else " on"
            raise self.refuse(key, f"expected a {'whole ' * whole}number from {low:g}{to}, found "
                                   f"{value!r}")
        return value

    def choice(self, key: str, default: str, *allowed: str) -> str:
        if self.get(key, default) not in allowed:
            raise self.refuse(key, f"expected {' or '.join(allowed)}, found {self[key]!r}")
        return self.get(key, default)


class Reader(yaml.SafeLoader):
    """YAML whose maps are `Map`."""

    def located(self, node: yaml.MappingNode) -> Map:
        found = Map()
        found.file, found.lines = self.name, {}
        for key, value in node.value:
            name = self.construct_object(key, deep=True)
            found.lines[name] = key.start_mark.line + 1
            if name in found:
                raise found.refuse(name, "stands twice")
            found[name] = self.construct_object(value, deep=True)
        return found


Reader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, Reader.located)


@dataclasses.dataclass(frozen=True)
class Dimension:
    """One thing that is explored: in which stage of the plan, under which key, and what it may be:
    one of some values, or what lies between two."""

    stage: int
    key: str
    line: int
    values: tuple = ()
    low: float = 0
    high: float = 0
    log: bool = False


@dataclasses.dataclass(frozen=True)
class StagePlan:
    kind: str  # data, or what trains
    line: int
    epochs: float
    settings: dict
    keep: int | None  # so many of its branches go on; None: all


@dataclasses.dataclass(frozen=True)
class Plan:
    """`asha`: (eta, grace epochs); `threshold`: (epochs, score) that has to be reached by then;
    `first_good`: a score at which the search ends. At most one of the three is there."""

    file: str
    folder: str  # that it is in, which all names in it go by
    digest: str
    name: str
    cluster: str | None
    program: tuple
    resumes: bool  # does a program go on from `trial.start`?
    stages: tuple
    dimensions: tuple
    score: str
    direction: str
    keep: int
    asha: tuple | None
    threshold: tuple | None
    first_good: float | None
    peers: int
    cores: int
    trials: int | None
    hours: float
    sampler: str
    seed: int | None  # None: that of the cluster file
    validation: float
    store_mb: float

    def better(self, one: float, other: float) -> bool:
        return one > other if self.direction == "maximize" else one < other

    def grid(self) -> list[dict]:
        """Every configuration; the later stages' values change first, so that neighbours share."""
        return [dict(zip([d.key for d in self.dimensions], values))
                for values in itertools.product(*(d.values for d in self.dimensions))]


def read_plan(path: str) -> Plan:
    """Throws PlanError."""
    try:
        text = pathlib.Path(path).read_text()
        reader = Reader(text)
        reader.name = path
        tree = reader.get_single_data()
    except OSError as error:
        raise PlanError(f"{path}: {error.strerror}") from None
    except yaml.YAMLError as error:
        raise PlanError(f"{path}: {error}") from None
    if not isinstance(tree, Map) or ("cluster" in tree) == ("program" in tree) or \
            not {"name", "stages"} <= tree.keys():
        raise PlanError(f"{path}: a plan has name, stages, and either cluster, a cluster file, or "
                        "program, its words")
    if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}", str(tree["name"])):
        raise tree.refuse("name", "expected at most 64 letters, digits, '-', '_' and '.'")
    tree.only("name", "cluster", "program", "resumes", "direction", "stages", "choose", "units",
              "budget", "sampler", "seed", "validation", "store")
    stages, dimensions = read_stages(tree)
    choose = tree.map("choose", "score", "keep", "stop")
    stop = choose.map("stop", "asha", "threshold", "first_good")
    if len(stop) > 1:
        raise choose.refuse("stop", f"{' and '.join(stop)} exclude each other")
    asha = stop.map("asha", "eta", "grace_epochs") if "asha" in stop else None
    threshold = stop.map("threshold", "epochs", "score") if "threshold" in stop else None
    score = choose.get("score", "accuracy")
    if not isinstance(score, str) or ("cluster" in tree and score not in SCORES):
        raise choose.refuse("score", f"no run reports it; runs report {', '.join(SCORES)}")
    program = tree.get("program", ["none"])
    if not isinstance(program, list) or not program or \
            not all(isinstance(word, str) for word in program):
        raise tree.refuse("program", "expected a list of words, as [python3, train.py]")
    for key, default in (("resumes", False), ("direction", SCORES.get(score))):
        if key in tree and "cluster" in tree and tree[key] != default:
            raise tree.refuse(key, "is for a program; runs of Ako are known")
    if not isinstance(tree.get("resumes", False), bool):
        raise tree.refuse("resumes", "expected true or false")
    folder = pathlib.Path(path).absolute().parent
    cluster = str(folder / str(tree["cluster"])) if "cluster" in tree else None
    if cluster and not pathlib.Path(cluster).is_file():
        raise tree.refuse("cluster", f"there is no file {cluster}")
    units, budget = tree.map("units", "peers", "cores"), tree.map("budget", "trials", "hours")
    sampler = tree.choice("sampler", "grid", "grid", "random", "tpe")
    trials = budget.number("trials", None, 1, whole=True)
    for dimension in dimensions:
        if sampler == "grid" and not dimension.values:
            raise tree.refuse("stages", f"{dimension.key} is a range, of which a grid has no "
                              "values: list some, or take sampler: random or tpe")
    if sampler != "grid" and trials is None:
        raise tree.refuse("sampler", f"{sampler} needs budget: {{trials: ..}}")
    if any(stage.keep for stage in stages) and (
            sampler != "grid" or any(dimension.key == "epochs" for dimension in dimensions)):
        raise tree.refuse("stages", "keep waits for all who come there: only with sampler: grid, "
                          "and epochs that are the same for all")
    return Plan(
        path, str(folder), hashlib.sha256(text.encode()).hexdigest(), str(tree["name"]), cluster,
        tuple(program) if cluster is None else (),
        bool(tree.get("resumes", False)), tuple(stages), tuple(dimensions), score,
        tree.choice("direction", SCORES.get(score, "maximize"), "maximize", "minimize"),
        keep=choose.number("keep", 1, 1, whole=True),
        asha=None if asha is None else (asha.number("eta", 3, 2, whole=True),
                                            asha.number("grace_epochs", 1, 0.001)),
        threshold=None if threshold is None else (threshold.number("epochs", 1, 0),
                                                      threshold.number("score", 0, -math.inf)),
        first_good=stop.number("first_good", None, -math.inf),
        peers=units.number("peers", 1, 1, 64, True), cores=units.number("cores", 1, 1, 256, True),
        trials=trials, hours=budget.number("hours", math.inf, 0), sampler=sampler,
        seed=tree.number("seed", None, 0, whole=True),
        validation=tree.number("validation", 0.1, 0, 0.9),
        store_mb=tree.map("store", "limit_mb").number("limit_mb", math.inf, 0))


def read_stages(tree: Map) -> tuple[list[StagePlan], list[Dimension]]:
    stages: list[StagePlan] = []
    dimensions: list[Dimension] = []
    for place in tree["stages"] if isinstance(tree["stages"], list) else []:
        if not isinstance(place, Map) or len(place.only("data", "start", "train")) != 1:
            raise tree.refuse("stages", f"expected data, start or train, found {place!r}")
        kind = next(iter(place))
        if kind == "data":
            inside = place.map(kind, "explore", "settings")
            if stages:
                raise place.refuse(kind, "data come before all training")
        else:
            inside = place.map(kind, "epochs", "explore", "settings", "keep")
            if "epochs" not in inside and "epochs" not in inside.map("explore"):
                raise place.refuse(kind, "for how many epochs? epochs: 1")
        for key in inside.map("explore"):
            if any(known.key == key for known in dimensions):
                raise inside["explore"].refuse(key, "is explored twice")
            dimensions.append(read_dimension(len(stages), inside["explore"], key))
        for said in (inside.map("settings"), *(
                value for key, values in inside.map("explore").items() if isinstance(values, list)
                for value in (*values, {key: None}) if isinstance(value, dict))):
            for key in RESERVED.keys() & said.keys():
                raise place.refuse(kind, f"{key} is said by {RESERVED[key]} of the plan")
        normalise = [*inside.map("explore").get("normalise", []),
                     inside.map("settings").get("normalise", "none")]
        if kind == "data" and not all(value in NORMALISATIONS for value in normalise):
            raise place.refuse(kind, f"normalise: expected {' or '.join(NORMALISATIONS)}")
        stages.append(StagePlan(kind, place.lines[kind], inside.number("epochs", 0, 0),
                                dict(inside.map("settings")),
                                inside.number("keep", None, 1, whole=True)))
    if not stages or stages[-1].kind == "data" or stages[-1].keep:
        raise tree.refuse("stages", "expected a list of stages, the last of which trains; how many "
                          "of its trials are kept is said by choose.keep")
    return stages, dimensions


def read_dimension(stage: int, place: Map, key: str) -> Dimension:
    value, line = place[key], place.lines[key]
    if isinstance(value, list) and value:
        if key in ("epochs", "units.peers", "units.cores") and not all(
                isinstance(one, (int, float)) and one > 0 for one in value):
            raise place.refuse(key, f"expected numbers above 0, found {value!r}")
        return Dimension(stage, key, line, tuple(value))
    if isinstance(value, Map) and {"low", "high"} <= value.only("low", "high", "log").keys():
        low, high = (value.number(end, None, -math.inf) for end in ("low", "high"))
        if low < high and (low > 0 or not value.get("log")) and not key.startswith("units."):
            return Dimension(stage, key, line, (), low, high, bool(value.get("log")))
    raise place.refuse(key, "expected a list of values, or {low: 0.01, high: 0.1, log: true}; "
                            f"found {value!r}")
