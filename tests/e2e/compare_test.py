"""`ako compare` from the outside: a plan that is run, interrupted and gone on with, what fails and
is kept, and the report in a browser. Python's standard library only.

    compare_test.py --ako BUILD/ako --source REPOSITORY CASE

Exits 77 and says why where a case cannot run.
"""

import argparse
import contextlib
import csv
import fcntl
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

from bench import Bench, check, check_equal, wait_for

SKIPPED = 77
# As laptops show it, and as telephones do; the report is made for both.
WINDOWS = ((1280, 800), (390, 844))
# A program in the place of `ako launch` that leaves in a moment what a run would leave: a straight
# curve, faster with less momentum; seed 2 of `broken` fails.
FAKE = """#!/usr/bin/env python3
import json, pathlib, re, sys, time
text = pathlib.Path(sys.argv[2]).read_text()
folder = pathlib.Path(sys.argv[sys.argv.index("--output-dir") + 1])
folder.mkdir(parents=True)
number = lambda key: float(re.search(rf"^ *{key}: ([0-9.e-]+)", text, re.M).group(1))
if number("weight_decay") == 0.5 and number("seed") == 2:
    print("a loss is not finite")
    sys.exit(3)
time.sleep(float(pathlib.Path(__file__).with_name("pause").read_text()))
rate, epochs = number("learning_rate"), number("epochs")
seconds = 10 * (1 + number("momentum")) * epochs
slowness = 1 + abs(rate - 0.05) * 10  # in rounds: a round takes as long at any learning rate
points = [{"seconds": seconds * k / 20, "round": 25 * k * epochs, "samples": 1000 * k,
           "progress": k / 20, "loss": 1 / k,
           "accuracy": 1 - 0.9 * 0.8 ** (k / slowness) - 0.001 * number("seed")}
          for k in range(1, 21)]
(folder / "curve.json").write_text(json.dumps({"evaluated": "anchor", "peer": "a",
                                               "points": points}))
peer = {"rounds": 500 * epochs, "samples": 10000, "egress_bytes": 10 ** 7, "ingress_bytes": 10 ** 7,
        "train_seconds": seconds, "compute_share": 0.7, "exit": 0, "why": "",
        "round_ms": {"p10": 9, "p50": 10, "p90": 12, "p99": 30}}
(folder / "summary.json").write_text(json.dumps(
    {"seconds": seconds, "accuracy": points[-1]["accuracy"], "peers": [peer] * 3}))
"""


def write_plan(bench, name="plan.yaml", **keys):
    plan = {"name": "e2e", "cluster": "{model: synthetic, training: {momentum: 0.9}}",
            "machines": "3", "testbed": "{use: never}", "epochs": "1", "alone": "false", **keys}
    path = os.path.join(bench.folder, name)
    with open(path, "w") as file:
        file.write("".join(f"{key}: {value}\n" for key, value in plan.items()))
    return path


def fake_program(bench, pause=0.0):
    path = os.path.join(bench.folder, "fake")
    with open(path, "w") as file:
        file.write(FAKE)
    os.chmod(path, 0o755)
    pathlib.Path(bench.folder, "pause").write_text(str(pause))
    return ["--program", path]


def results(bench, name="e2e"):
    return pathlib.Path(bench.folder, "runs", f"compare-{name}")


def rows(bench, table, name="e2e"):
    with open(results(bench, name) / f"{table}.csv", newline="") as file:
        return list(csv.DictReader(file))


FAKE_PLAN = {
    "rates_mbit": "[20, 100]", "seeds": "[1, 2, 3]", "learning_rates": "[0.02, 0.05, 0.1]",
    "target_accuracy": "[0.9, 0.97]", "baselines": "[parameter-server, ring]",
    "modes": "{ako: {training.momentum: [0, 0.5]}, ring: {}, parameter-server: "
             "{exchange.consistency: [bsp, async]}, broken: {mode: ako, training.weight_decay: "
             "0.5}}",
    "screening": "{rate_mbit: 100, epochs: 0.25}", "alone": "true"}


def fake_modes(bench):
    """All parts of a comparison, with a program that only says it had trained."""
    plan = write_plan(bench, **FAKE_PLAN)
    output = bench.start("compare", plan, *fake_program(bench)).expect(1)
    check("failed: exit 3: a loss is not finite" in output, f"the failed cell is named:\n{output}")
    cells = rows(bench, "cells")
    failed = [cell for cell in cells if cell["failed"] == "yes"]
    check_equal({(cell["contender"], cell["seed"]) for cell in failed}, {("broken", "2")}, "failed")
    targets = rows(bench, "targets")
    check_equal({row["learning_rate"] for row in targets}, {"0.05"}, "learning rates chosen")
    ako = [row for row in targets if row["contender"] == "ako"]
    check_equal({row["variant"] for row in ako}, {"momentum 0"}, "variant of ako chosen")
    ring = [row for row in targets if row["contender"] == "ring"]
    check_equal({(row["rate_mbit"], row["composed"]) for row in ring},
                {("20", "yes"), ("100", "no")}, "what of ring is composed")
    for row in ako:
        check(abs(float(row["ratio_to_ring"]) - 1 / 1.9) < 0.02, f"ratio to ring: {row}")
    broken = [row for row in targets if row["contender"] == "broken"]
    check_equal({(row["seeds"], row["reached"]) for row in broken}, {("3", "2")}, "seeds of broken")
    alone = [row for row in targets if row["contender"] == "one machine alone"]
    check_equal({(row["rate_mbit"], row["machines"]) for row in alone}, {("20", "1"), ("100", "1")},
                "one machine alone")
    check_equal(len([cell for cell in cells if cell["contender"] == "one machine alone"
                     and cell["part"] == "headline"]), 3, "its runs: one for each seed")
    for row in ako:  # which has no momentum, as the one alone has
        check(abs(float(row["speed_up"]) - 1.9) < 0.05, f"speed-up: {row}")
    page = (results(bench) / "report.html").read_text()
    for text in ("To 97 % test accuracy with 3 machines, batch 64: at 20 Mbit/s ako",
                 "1.9 times as fast as one machine alone", "commit", "lost at the end, points",
                 "Speed-ups are over one machine alone", "Time to 97 % test accuracy",
                 "2 of 3 seeds", "exit 3: a loss is not finite",
                 "ring *", "composed / measured", "Rules", "learning_rates: [0.02, 0.05, 0.1]"):
        check(text in page, f"the report says {text!r}")
    check(not re.search(r"<script|src=|@import|url\(", page), "the report loads nothing")
    check_equal(page.count("<svg"), 2 + 4, "plots")
    again = bench.start("compare", plan, *fake_program(bench)).expect(1)
    check(f"{len(cells)} cells are there already" in again, f"nothing is run again:\n{again}")
    check(" of " not in again.split("already")[1].split("report:")[0], f"nothing runs:\n{again}")
    retried = bench.start("compare", plan, *fake_program(bench), "--retry-failed").expect(1)
    check_equal(retried.count("failed: exit 3"), 2, "failed cells run once more")


def interrupted(bench):
    """Ctrl-C ends the cell and keeps those before it; the same command goes on from there."""
    plan = write_plan(bench, seeds="[1, 2, 3, 4]", modes="{ako: {}}")
    running = bench.start("compare", plan, *fake_program(bench, pause=1))
    wait_for(lambda: running.line_with("3 of 4"), "the third cell")
    running.process.send_signal(signal.SIGINT)
    output = running.expect(130)
    check("the same command goes on from here" in output, f"it says how to go on:\n{output}")
    check_equal(len(rows(bench, "cells")), 2, "cells kept")
    output = bench.start("compare", plan, *fake_program(bench)).expect(0)
    check("2 cells are there already" in output, f"it goes on:\n{output}")
    check_equal(len(rows(bench, "cells")), 4, "cells in the end")
    # Another plan in the same folder at the same time would mix them.
    running = bench.start("compare", plan, *fake_program(bench, pause=5), "--set", "seeds=[9]")
    wait_for(lambda: running.line_with("1 of 1"), "a cell that runs")
    refused = bench.start("compare", plan).expect(2)
    check("another `ako compare` is at work there" in refused, refused)
    running.process.send_signal(signal.SIGINT)
    output = running.expect(130)
    check("no report: no cell has ended" in output, output)
    check_equal(len(rows(bench, "cells")), 4, "cells of the report that was there")


def listed(bench):
    """`--list` says what would run, on what and how long; it runs and writes nothing."""
    plan = write_plan(
        bench, rates_mbit="[10]", target_accuracy="0.9", seeds="[1]", alone="true",
        modes="{ako: {}, ring: {}}",
        cluster=f"{{model: mlp, data: {{path: '{bench.source}/experiments/mnist/data'}}}}")
    output = bench.start("compare", plan, "--list").expect(0)
    check_equal(output.count("one machine alone, "), 1, output)
    check("3 cells\nnetwork: all peers on this machine over 127.0.0.1" in output, output)
    found = re.search(r"time: about (\d+) to (\d+) (s|min), by the budget of samples", output)
    check(found, output)
    # A round of ring sends 0.54 MB, 0.43 s at 10 Mbit/s; there are 313.
    unit = {"s": 1, "min": 60}[found[3]]
    check(int(found[1]) * unit >= 100 and int(found[2]) * unit < 3600, found[0])
    check(not results(bench).exists(), "nothing is written")
    bench.start("compare", plan, *fake_program(bench)).expect(0)
    output = bench.start("compare", plan, "--list").expect(0)
    check("time: none, all cells are there already" in output, output)
    more = bench.start("compare", plan, "--list", "--set", "seeds=[1, 2]").expect(0)
    check(re.search(r"for 3 cells, judged by the 3 that are there", more), more)


def reported(bench):
    """`--report` finds what was run, whatever network this machine could offer now, and never
    replaces a report by one of nothing."""
    plan = write_plan(bench, seeds="[1, 2]", modes="{ako: {}, ring: {}}")
    bench.start("compare", plan, *fake_program(bench)).expect(0)
    cells = rows(bench, "cells")
    check_equal(len(cells), 4, "cells")
    # What the testbed would do is not tried: nobody may be disturbed by a report.
    for use in ("never", "auto", "always"):
        output = bench.start("compare", plan, "--report", "--set", f"testbed.use={use}").expect(0)
        check("report:" in output, output)
        check_equal(rows(bench, "cells"), cells, f"cells found with testbed.use={use}")
    more = bench.start("compare", plan, "--report", "--set", "seeds=[3, 2]").expect(0)
    check("report:" in more, more)
    check_equal({cell["seed"] for cell in rows(bench, "cells")}, {"2"}, "behind a missing one")
    page = (results(bench) / "report.html").read_text()
    output = bench.start("compare", plan, "--report", "--set", "seeds=[9]").expect(2)
    check("no cell of this plan has been run" in output, output)
    check_equal((results(bench) / "report.html").read_text(), page, "the report after that")
    check(list((results(bench) / "plots").glob("*.svg")), "its plots are still there")


def locked(bench):
    """Two comparisons cannot use the testbed of one name: the second would end the first's cell."""
    if os.geteuid() != 0:
        print("skipped: the testbed needs root")
        sys.exit(SKIPPED)
    name = f"e2e{os.getpid()}"
    path = pathlib.Path(f"/run/lock/ako-testbed-{name}.lock")
    path.parent.mkdir(parents=True, exist_ok=True)
    plan = write_plan(bench, modes="{ako: {}}", testbed=f"{{use: auto, name: {name}}}")
    try:
        with open(path, "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            output = bench.start("compare", plan, *fake_program(bench)).expect(2)
        check("--set testbed.name=" in output and "another comparison" in output, output)
        check(not (results(bench) / "cells").exists(), "no cell was begun")
    finally:
        path.unlink(missing_ok=True)


@contextlib.contextmanager
def testbed_name(bench):
    """The name of a testbed that can be made here, of which nothing stays."""
    name = f"e2e{os.getpid()}"
    testbed = [f"{bench.source}/deploy/testbed", "--name", name]
    made = subprocess.run([*testbed, "up", "--peers", "1", "--rate", "100mbit"],
                          capture_output=True, text=True)
    if made.returncode == SKIPPED:
        print(made.stderr.strip())
        sys.exit(SKIPPED)
    check_equal(made.returncode, 0, f"exit of testbed up: {made.stderr}")
    try:
        yield name
    finally:
        subprocess.run([*testbed, "down"], check=False)
        pathlib.Path(f"/run/lock/ako-testbed-{name}.lock").unlink(missing_ok=True)


def networkless(bench):
    """When no network can be made any more, cells fail one by one; after three in a row the
    comparison stops, with a report."""
    # An `ip` that refuses from some moment on.
    broken, folder = pathlib.Path(bench.folder, "broken"), pathlib.Path(bench.folder, "bin")
    folder.mkdir()
    (folder / "ip").write_text(f"#!/bin/sh\n[ -e '{broken}' ] && echo busy >&2 && exit 1\n"
                               f"exec {shutil.which('ip')} \"$@\"\n")
    (folder / "ip").chmod(0o755)
    with testbed_name(bench) as name:
        os.environ["PATH"] = f"{folder}:{os.environ['PATH']}"
        plan = write_plan(bench, modes="{ako: {}}", rates_mbit="[100, 90, 80, 70, 60]",
                          testbed=f"{{use: always, name: {name}}}")
        try:
            running = bench.start("compare", plan, *fake_program(bench, pause=3))
            wait_for(lambda: list(results(bench).glob("cells/*/run"))
                     or running.process.poll() is not None, "the first cell")
            broken.touch()
            output = running.expect(2)
        finally:
            broken.unlink(missing_ok=True)
        check("3 cells in a row had no network" in output and "report:" in output, output)
        check_equal([cell["failed"] for cell in rows(bench, "cells")].count("yes"), 3, "failed")
        check("busy" in output, output)
        output = bench.start("compare", plan, *fake_program(bench), "--retry-failed").expect(0)
        check_equal({cell["failed"] for cell in rows(bench, "cells")}, {"no"}, "failed in the end")


def refused(bench):
    """What is wrong is said with its place, before anything runs."""
    for keys, words, expected in (
            ({"modes": "{ako: {exchange.rule: strange}}"}, [], "plan.yaml:7:9: modes.ako: "),
            ({"modes": "{ako: {}}", "sedes": "[1]"}, [], "did you mean seeds?"),
            ({"modes": "{ako: {}}"}, ["--set", "rates_mbit=fast"], "--set rates_mbit=fast"),
            ({"modes": "{ako: {}}", "rates_mbit": "[[1, 2, 3]]"}, [], "needs the testbed")):
        output = bench.start("compare", write_plan(bench, **keys), *words).expect(2)
        check(expected in output, f"expected {expected!r} in:\n{output}")
    check(not list(results(bench).glob("cells/*")), "no cell was begun")


def real(bench):
    """Four contenders on MNIST without root, run in earnest."""
    plan = write_plan(
        bench, name="real.yaml", rates_mbit="[100]", target_accuracy="0.9", epochs="0.5",
        cluster=f"{{model: mlp, data: {{path: '{bench.source}/experiments/mnist/data'}}}}",
        modes="{ako: {}, ring: {}, butterfly: {mode: ring, exchange.all_reduce: butterfly, "
              "exchange.rounds_ahead: 1}, averaging: {mode: sma, training.learners: 2}}",
        baselines="[ring]", evaluate_every="0.05", alone="true")
    near = bench.file(2, model="mlp")
    bench.start("profile", near, "--name", "here").expect(0, seconds=120)
    listed = bench.start("compare", plan, "--list").expect(0)
    check("the rates and the profiles of machines" in listed, listed)
    output = bench.start("compare", plan).expect(0, seconds=280)
    pairs = re.findall(r"^    a round took [0-9.]+ ms; predicted [0-9.]+ \([0-9.]+ to ", output,
                       re.MULTILINE)
    with open(os.path.join(bench.folder, "profiles", "history.jsonl")) as history:
        check_equal(len(history.readlines()), len(pairs), f"pairs, each kept once:\n{output}")
    check(len(pairs) >= 3, f"ako, ring and one machine alone, at least:\n{output}")
    targets = rows(bench, "targets")
    check_equal([row["contender"] for row in targets],
                ["ako", "ring", "butterfly", "averaging", "one machine alone"], "contenders")
    for row in targets:
        check(row["seconds_median"] and row["speed_up"], f"90 % is reached: {row}")
    # Nobody sends more than it can: in t seconds rate * (t + 15 ms), and this is over in few.
    for row in rows(bench, "figures"):
        seconds = 30_000 / float(row["samples_per_s"])
        check(float(row["egress_share_busiest"] or 0) < 1.02 + 0.015 / seconds, f"{row}")
    for path in results(bench).glob("cells/*/run/curve.json"):
        check(json.loads(path.read_text())["began"], f"{path}: the clocks are one")
    check(len(rows(bench, "curves")) >= 10, "points of the curves")


def lost_machine(bench):
    """Between shaped links one of three machines is killed in mid-training: Ako and an elastic ring
    go on without it, and the ring is kept as failed, in its own words."""
    with testbed_name(bench) as name:
        plan = write_plan(
            bench, rates_mbit="[100]", epochs="2.5",
            modes="{ako: {}, ring: {}, elastic: {mode: ring, exchange.elastic: true}}",
            cluster="{model: {name: synthetic, parameters: 20000, compute_ms: 10}, "
                    "training: {batch: 64}}", baselines="[ring]",
            lost_peer="{machine: 2, after_s: 4}", testbed=f"{{use: always, name: {name}}}")
        bench.start("compare", plan).expect(1, seconds=200)
        left = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=True)
        check(f"ako-{name}-" not in left.stdout, f"the testbed is taken down: {left.stdout}")
    cells = {cell["contender"]: cell for cell in rows(bench, "cells")}
    for survivor in ("ako", "elastic"):
        check_equal(cells[survivor]["failed"], "no", f"goes on: {cells[survivor]['why']}")
    check("exit 5: " in cells["ring"]["why"] and "peer b is gone" in cells["ring"]["why"],
          f"why the ring failed: {cells['ring']['why']}")
    for survivor in ("ako", "elastic"):
        summaries = results(bench).glob(f"cells/{survivor}-*/run/summary.json")
        lost = [json.loads(path.read_text())["lost_peers"] for path in summaries]
        check_equal(lost, [["b"]], f"whom {survivor} lost")
    page = (results(bench) / "report.html").read_text()
    check("one network namespace per machine" in page, "the report says what the network was")


def console_errors(text):
    """What the page complained of; the browser's own messages are its own affair."""
    return [line for line in text.splitlines() if "CONSOLE" in line or "Uncaught" in line]


def browser(bench):
    """The report in a real browser, on a wide and on a narrow page: nothing to complain of, every
    plot drawn, and it fits; what is wider than the page scrolls in a box of its own."""
    chromium = shutil.which("chromium")
    if chromium is None:
        print("skipped: there is no chromium (deploy/install-deps --tests installs it)")
        sys.exit(SKIPPED)
    bench.start("compare", write_plan(bench, **FAKE_PLAN), *fake_program(bench)).expect(1)
    report = results(bench) / "report.html"
    # The page has no script; what its elements measure is asked by one that is added to a copy.
    probe = """<script>addEventListener('load', () => {
      const plots = [...document.querySelectorAll('figure svg')];
      const drawn = plots.filter(svg => svg.getBoundingClientRect().width > 300 &&
        [...svg.querySelectorAll('path')].some(path => path.getTotalLength() > 100));
      const wide = [...document.querySelectorAll('.scroll')].filter(
        box => box.scrollWidth > box.clientWidth);
      document.body.dataset.probe = [plots.length, drawn.length,
        document.documentElement.scrollWidth, innerWidth, wide.length].join(' ');
    });</script>"""
    inner = report.with_name("probed.html")
    inner.write_text(report.read_text().replace("</body>", probe + "</body>"))
    for width, height in WINDOWS:
        # A window is not made as narrow as a telephone; a frame in it is.
        outer = report.with_name("framed.html")
        outer.write_text(f"""<iframe src="probed.html" width="{width}" height="{height}"
          style="border: 0" onload="document.body.dataset.probe =
          this.contentDocument.body.dataset.probe"></iframe>""")
        words = [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
                 "--allow-file-access-from-files", f"--user-data-dir={bench.folder}/chromium",
                 f"--window-size={max(width, 800)},{height}"]
        shown = subprocess.run([*words, "--dump-dom", f"file://{outer}"], capture_output=True,
                               text=True, timeout=120)
        check_equal(console_errors(shown.stderr), [], "what the page complains of")
        found = re.search(r'data-probe="(\d+) (\d+) (\d+) (\d+) (\d+)"', shown.stdout)
        check(found, f"the page was not shown:\n{shown.stderr[-2000:]}")
        plots, drawn, page, window, wide = map(int, found.groups())
        check_equal((plots, drawn), (6, 6), f"plots, and those with a line in them, at {width}")
        check(abs(window - width) < 20, f"a window of {window} instead of {width}")
        check(page <= window, f"the page is {page} wide in a window of {window}")
        check(width > 600 or wide >= 3, f"{wide} tables that scroll at {width}")
        picture = pathlib.Path(bench.folder, f"report-{width}.png")
        subprocess.run([*words, f"--screenshot={picture}", f"file://{outer}"],
                       capture_output=True, timeout=120, check=True)
        check(picture.stat().st_size > 10_000, "a picture of the page")


CASES = {case.__name__: case for case in (fake_modes, interrupted, listed, reported, locked,
                                          networkless, refused, real, lost_machine, browser)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ako", required=True)
    parser.add_argument("--source", required=True)
    parser.add_argument("--keep", help="a folder to work in, which stays")
    parser.add_argument("case", choices=CASES)
    arguments = parser.parse_args()
    if shutil.which("gnuplot") is None:
        print("skipped: there is no gnuplot (deploy/install-deps installs it)")
        sys.exit(SKIPPED)
    with tempfile.TemporaryDirectory(prefix="ako-compare-") as folder:
        if arguments.keep:
            folder = os.path.abspath(arguments.keep)
            os.makedirs(folder, exist_ok=True)
        bench = Bench(os.path.abspath(arguments.ako), os.path.abspath(arguments.source), folder)
        CASES[arguments.case](bench)


if __name__ == "__main__":
    main()
