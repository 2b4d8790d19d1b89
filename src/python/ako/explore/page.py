"""`explore.html`: one page without anything from elsewhere, of drawings in SVG."""

from __future__ import annotations

import html
import math
from typing import TYPE_CHECKING, Any

from .choosing import best
from .live import short
from .plan import Plan
from .sampling import import_optuna, space
from .tree import Trial

if TYPE_CHECKING:
    from .driver import Driver

WIDE, HIGH, EDGE = 900, 260, 46
STYLE = """body{font:15px/1.5 system-ui,sans-serif;max-width:940px;margin:2em auto;padding:0 1em;
color:#1c2733;background:#fff}h1{font-size:1.5em}h2{font-size:1.1em;margin-top:2em}
svg{width:100%;min-width:640px;height:auto}text{font:12px system-ui,sans-serif;fill:#45525f}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
td,th{padding:.2em .6em;text-align:left;white-space:nowrap;border-bottom:1px solid #dde3e9}
.rest{stroke:#c3ccd5}
.best{stroke:#c2410c;stroke-width:2.5}.done{stroke:#3f73a8}path,line{fill:none}
.wide{overflow-x:auto}
@media(prefers-color-scheme:dark){body{background:#14191f;color:#dbe2e9}text{fill:#a9b4bf}
td,th{border-color:#333d47}.rest{stroke:#414c57}.done{stroke:#7aa9dc}.best{stroke:#fb923c}}"""


def polyline(points: list[tuple[float, float]], kind: str, title: str) -> str:
    way = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    return f'<path class="{kind}" d="{way}"><title>{html.escape(title)}</title></path>'


def svg(high: float, *inside: str) -> str:
    drawn = f'<svg viewBox="0 0 {WIDE} {high:.0f}" role="img">{"".join(inside)}</svg>'
    return f'<div class="wide">{drawn}</div>'


def label(x: float, y: float, text: Any, anchor: str = "middle") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{html.escape(str(text))}</text>'


def scale(values: list[float], low: float, high: float) -> Any:
    """Maps values to places between two; equal ones to the middle."""
    least, most = min(values), max(values)
    if least == most:
        return lambda value: (low + high) / 2
    return lambda value: low + (value - least) / (most - least) * (high - low)


def kind_of(trial: Trial, winners: list[Trial]) -> str:
    return "best" if trial in winners else "done" if trial.state == "done" else "rest"


def parallel(plan: Plan, trials: list[Trial], winners: list[Trial]) -> str:
    """Parallel coordinates: a line a trial, an axis a dimension, the score as the last."""
    shown = [trial for trial in trials if trial.score is not None]
    axes = [(d.key.split(".")[-1], [trial.config[d.key] for trial in shown], d.log)
            for d in plan.dimensions] + [(plan.score, [trial.score for trial in shown], False)]
    places = scale(list(range(len(axes))), EDGE * 1.5, WIDE - EDGE * 1.5)
    heights, drawn = [], []
    for number, (name, values, log) in enumerate(axes):
        words = not all(isinstance(value, (int, float)) for value in values)
        order = sorted(set(map(str, values)) if words else set(values))
        few = words or (len(order) <= 8 and number < len(axes) - 1)
        as_number = (lambda value, o=order, w=words: o.index(str(value) if w else value)) if few \
            else math.log if log else float
        to = scale([as_number(value) for value in values], HIGH - EDGE, EDGE)
        heights.append([to(as_number(value)) for value in values])
        x = places(number)
        drawn.append(polyline([(x, EDGE), (x, HIGH - EDGE)], "rest", name) +
                     label(x, HIGH - 12, name))
        for value in order if few else (order[0], order[-1]):
            drawn.append(label(x + 6, to(as_number(value)) + 4, short(value), "start"))
    rank = {"rest": 0, "done": 1, "best": 2}
    lines = sorted(range(len(shown)), key=lambda k: rank[kind_of(shown[k], winners)])
    return svg(HIGH, *(polyline([(places(a), heights[a][k]) for a in range(len(axes))],
                                kind_of(shown[k], winners), f"trial {shown[k].number}")
                       for k in lines), *drawn)


def curves(plan: Plan, trials: list[Trial], winners: list[Trial]) -> str:
    shown = [trial for trial in trials if trial.curve]
    points = [point for trial in shown for point in trial.curve]
    x = scale([0, *(point[0] for point in points)], EDGE * 1.5, WIDE - EDGE)
    y = scale([point[1] for point in points], HIGH - EDGE, EDGE / 2)
    ends = [min(point[1] for point in points), max(point[1] for point in points)]
    return svg(HIGH, *(polyline([(x(a), y(b)) for a, b in trial.curve], kind_of(trial, winners),
                                f"trial {trial.number}: {trial.score:.4f}")
                       for trial in sorted(shown, key=lambda it: it in winners)),
               *(label(EDGE * 1.4, y(end) + 4, f"{end:.3f}", "end") for end in ends),
               label(WIDE / 2, HIGH - 12, f"{plan.score} by epochs"),
               *(label(x(end), HIGH - 28, f"{end:g}") for end in
                 (0, max(point[0] for point in points))))


def graph(driver: Driver) -> str:
    """Stages from left to right, by epochs; those that several trials share are as wide as that."""
    stages = {stage.key: stage for trial in driver.trials for stage in trial.stages}
    users = {key: sum(key in {s.key for s in trial.stages} for trial in driver.trials)
             for key in stages}
    rows: dict[str, float] = {}
    ends = [trial.stages[-1].key for trial in driver.trials]
    for row, key in enumerate(dict.fromkeys(ends)):
        rows[key] = row
    for stage in sorted(stages.values(), key=lambda it: -len(it.chain())):
        below = [rows[key] for key, it in stages.items()
                 if it.parent and it.parent.key == stage.key and key in rows]
        if below:
            rows[stage.key] = (min(below) + max(below)) / 2
    high = 22 * (max(rows.values()) + 2)
    x = scale([0, *(stage.until for stage in stages.values())], EDGE, WIDE - EDGE)
    winners = {stage.key for trial in best(driver.plan, driver.trials)[:1]
               for stage in trial.stages}
    drawn = []
    for key, stage in stages.items():
        kind = "best" if key in winners else "done" if key in driver.results else "rest"
        from_y = rows[stage.parent.key] if stage.parent else rows[key]
        points = [(x(stage.begin), 22 * (from_y + 1)), (x(stage.begin) + 8, 22 * (rows[key] + 1)),
                  (x(stage.until), 22 * (rows[key] + 1))]
        spent = driver.results.get(key, {}).get("seconds")
        drawn.append(polyline(points, kind, f"{key[:8]}: {stage.begin:g} to {stage.until:g} "
                              f"epochs, of {users[key]} trials, "
                              f"{'not made' if spent is None else f'{spent:.1f} s'}"))
        if users[key] > 1:
            drawn.append(label(x(stage.until) - 8, 22 * (rows[key] + 1) - 4, f"{users[key]} trials",
                               "end"))
    return svg(high, *drawn)


def table(rows: list[list[Any]], head: list[str]) -> str:
    def line(cells: list[Any], kind: str) -> str:
        return f"<tr>{''.join(f'<{kind}>{html.escape(str(it))}</{kind}>' for it in cells)}</tr>"

    lines = line(head, "th") + "".join(line(row, "td") for row in rows)
    return f'<div class="wide"><table>{lines}</table></div>'


def importance(plan: Plan, trials: list[Trial]) -> str:
    """How much of the scores each dimension explains, by Optuna (fANOVA)."""
    try:
        optuna = import_optuna()
        study = optuna.create_study(direction=plan.direction)
        spaces = {d.key: space(optuna, d) for d in plan.dimensions}
        for trial in trials:
            if trial.state == "done":
                study.add_trial(optuna.trial.create_trial(
                    params=trial.config, distributions=spaces, value=trial.score))
        found = optuna.importance.get_param_importances(study)
    except Exception as why:  # noqa: BLE001: whatever a library says, the page is worth having
        return f"<p>Not known: {html.escape(str(why).splitlines()[0])}</p>"
    return table([[name, f"{share:.2f}"] for name, share in found.items()], ["", "share"])


def page(driver: Driver, summary: str) -> str:
    plan, trials = driver.plan, driver.trials
    winners = best(plan, trials)[:plan.keep]
    rows = [[trial.number, trial.state, "" if trial.score is None else f"{trial.score:.4f}",
             f"{trial.epochs:g}", *map(short, trial.config.values()),
             trial.why.splitlines()[0] if trial.why else ""]
            for trial in sorted(trials, key=lambda it: it not in winners)]
    parts = [f"<h1>{html.escape(plan.name)}</h1><p>{html.escape(summary)}. Orange: the best; "
             "blue: what came to its end; grey: what did not.</p>"]
    if any(trial.curve for trial in trials):
        parts += ["<h2>Configurations</h2>", parallel(plan, trials, winners), "<h2>Curves</h2>",
                  curves(plan, trials, winners), "<h2>What matters</h2>", importance(plan, trials)]
    parts += ["<h2>What was shared</h2>", graph(driver), "<h2>All trials</h2>",
              table(rows, ["trial", "state", plan.score, "epochs",
                           *(d.key for d in plan.dimensions), "why"])]
    return ("<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport "
            f'content="width=device-width"><title>{html.escape(plan.name)}</title>'
            f"<style>{STYLE}</style>{''.join(parts)}</html>\n")
