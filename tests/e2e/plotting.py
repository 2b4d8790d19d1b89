"""Cases of e2e_test.py: what a run leaves of its metrics, and the charts that are made of it."""

import csv
import os
import shutil
import signal
from xml.etree import ElementTree

from bench import Skipped, check, check_equal, long_run, wait_for
from browser import Browser

CHARTS = ("loss", "accuracy", "samples", "partitions", "staleness")


def need_gnuplot():
    if shutil.which("gnuplot") is None:
        raise Skipped("there is no gnuplot (deploy/install-deps installs it)")


def run_folder(bench):
    return os.path.dirname(bench.path("config.yaml"))


def check_charts(folder, names):
    """The page in this folder, which has all charts inside and as files."""
    with open(os.path.join(folder, "run.html")) as file:
        page = file.read()
    for chart in CHARTS:
        root = ElementTree.parse(os.path.join(folder, "plots", f"{chart}.svg")).getroot()
        check(root.tag.endswith("}svg"), f"{chart}.svg is an SVG file")
        titles = {element.text for element in root.iter() if element.tag.endswith("}title")}
        check(chart == "accuracy" or set(names) <= titles, f"lines of {chart}: {titles}")
        check(f'id="{chart}-gnuplot_plot_1"' in page, f"{chart} is drawn in the page")
    check_equal(page.count("<figure>"), len(CHARTS), "figures of the page")
    check("<script" not in page and "src=" not in page, "the page needs nothing else")
    return page


def check_rows(bench, name):
    """The CSV file has what the lines of JSON have of the peer itself."""
    with open(bench.path(f"metrics-{name}.csv"), newline="") as file:
        rows = list(csv.DictReader(file))
    lines = bench.metrics(name)
    check_equal(len(rows), len(lines), f"rows of {name}")
    for row, line in zip(rows, lines):
        check_equal(row["phase"], line["phase"], "phase")
        for key in ("time", "round", "samples", "samples_per_s", "loss", "accuracy", "accuracy_at",
                    "progress", "egress_bytes", "ingress_bytes", "egress_mbit", "ingress_mbit",
                    "cpu_seconds", "memory_bytes"):
            found = float(row[key]) if row[key] else None
            check_equal(found, line[key], f"{key} of {name} at {line['time']} s")
        for part, took in line["round_parts"].items():
            check_equal(float(row[f"{part}_seconds"]), took["seconds"], f"{part} of {name}")
        stalest = max((link["staleness_rounds"] for link in line["links"] if link["live"]),
                      default=None)
        check_equal(row["staleness_rounds"], "" if stalest is None else str(stalest), "staleness")


def case_plotted(bench):
    """A run on MNIST: its charts while it is under way and when it was ended, and its metrics as
    CSV."""
    need_gnuplot()
    run = bench.launch(bench.file(3, training="epochs: 1000, evaluate_every: 0.5"))
    wait_for(lambda: all(sum(line["round"] > 0 for line in bench.metrics(name)) > 2
                         for name in "abc") and bench.metrics("a")[-1]["accuracy"],
             "all have trained for some lines, and one has evaluated")
    folder = run_folder(bench)
    output = bench.start("plot", folder).expect(0, 60)
    check(f"page: {folder}/run.html\n" in output + "\n", output)
    page = check_charts(folder, "abc")
    check("There is no summary yet" in page, "the page says that the run is under way")

    run.process.send_signal(signal.SIGINT)
    run.expect(130, 60)
    elsewhere = os.path.join(bench.folder, "charts", "here")
    bench.start("plot", os.path.join(bench.folder, "runs", "latest"),
                "--output", elsewhere).expect(0, 60)
    page = check_charts(elsewhere, "abc")
    accuracy = f"{100 * bench.summary()['accuracy']:.2f} %"
    for expected in ("exit status 130", accuracy, "replicas identical: yes", "training.epochs"):
        check(expected in page, f"{expected!r} is in the page")
    for name in "abc":
        check_rows(bench, name)
    output = bench.start("plot", folder, PATH=bench.folder).expect(2, 10)
    check("gnuplot, which draws the plots, is not there" in output, output)


def case_plotted_in_a_browser(bench):
    """The page fits, wide and on a telephone, light and dark, and every chart is drawn."""
    need_gnuplot()
    run = long_run(bench, 3, 4)
    run.expect(0)
    bench.start("plot", run_folder(bench)).expect(0, 60)
    with Browser(bench.folder) as browser:
        browser.open(f"file://{run_folder(bench)}/run.html")
        drawn = ("[...document.querySelectorAll('figure > div > svg')].filter(svg => "
                 "svg.getBoundingClientRect().width > 300 && [...svg.querySelectorAll('path')]"
                 ".some(path => path.getTotalLength() > 100)).length")
        for width, height in ((1280, 800), (390, 844)):
            browser.resize(width, height)
            wait_for(lambda: browser.value(drawn) == len(CHARTS), f"all is drawn at {width}")
            page = browser.value("document.documentElement.scrollWidth")
            check(page <= width, f"the page is {page} wide in a window of {width}")
            for is_dark in (False, True):
                browser.dark(is_dark)
                picture = f"{bench.folder}/run-{width}{'-dark' if is_dark else ''}.png"
                browser.screenshot(picture)
                check(os.path.getsize(picture) > 10_000, "a picture of the page")
        symbols = browser.value("[...document.querySelectorAll('.key use')].filter(use => "
                                "use.getBoundingClientRect().width > 0).length")
        check_equal(symbols, 3 * (len(CHARTS) - 1), "symbols in the keys")
        check_equal(browser.complaints, [], "what the browser complains of")


def case_plot_refused(bench):
    """A folder that is no run's, and a line that cannot be read."""
    def refused(*words):
        return bench.start("plot", *words).expect(2, 10)

    check("nowhere: there is no such folder" in refused("nowhere"), "no folder")
    os.mkdir(os.path.join(bench.folder, "empty"))
    check("empty: there are no metrics" in refused("empty"), "no metrics")
    with open(os.path.join(bench.folder, "empty", "metrics-a.jsonl"), "w") as file:
        file.write('{"time": 1}\n')
    check("metrics-a.jsonl:1: no line of metrics" in refused("empty"), "no line")
    check("--output" in bench.start("plot", "--help").expect(0, 10), "help")
    bench.start("plot").expect(2, 10)
