"""The time of a curve began with the first round of the peer that took its parameters: of one that
came late the first point had thousands of samples at 0.0009 s. Now it begins with the first round
of whoever is first."""

import json
import os

from bench import check, check_equal

LATE_S = 3


def case_late_evaluator(bench):
    # a comes late, and evaluates as soon as it is there: it has the lowest place. The others are a
    # majority and begin without it.
    start = os.path.join(bench.folder, "start")
    with open(start, "w") as script:
        script.write(f'#!/bin/sh\n[ "$1" = a ] && sleep {LATE_S}\nshift\nexec "$@"\n')
    os.chmod(start, 0o755)
    # Two peers make it in eight seconds, three in less.
    compute_ms, batch = 10, 64
    samples = int(2 * 8 * 1000 / compute_ms) * batch
    file = bench.file(3, model="{name: synthetic, parameters: 50000, "
                               f"compute_ms: {compute_ms}, samples: {samples}}}",
                      training="epochs: 1, learning_rate: 0.01, evaluate_every: 0.1, "
                               "evaluate: after",
                      exchange="start_wait_s: 0.5")
    bench.start("launch", file, "--in", f"{start} {{name}}").expect(0, 60)
    with open(bench.path("curve.json")) as text:
        curve = json.load(text)
    began = curve["began"]
    check_equal(set(began), set("abc"), "peers whose beginning is known")
    check_equal(min(began["b"], began["c"]), 0, "when the first began")
    check(began["a"] > LATE_S / 2, f"a began late: {began}")
    check(len(curve["points"]) >= 5, f"points of the curve: {curve['points']}")
    # Nobody makes more than a batch in a round's time, and what a counts are the samples of all.
    for point in curve["points"][:-1]:
        rounds = point["samples"] / batch / 3
        check(point["seconds"] > 0.8 * rounds * compute_ms / 1000, f"too early for it: {point}")
