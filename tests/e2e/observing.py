"""Cases of e2e_test.py: peers that are looked at while they run."""

import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import urllib.request

from bench import Skipped, check, check_equal, long_run, wait_for
from browser import Browser

PEERS = 3


def free_ports_in_a_row(count):
    """The first of so many ports of loopback that nobody listens at now. Below those that the
    system gives to whoever asks for any, and those that `launch --free-ports` takes: of these one
    could be gone a moment later."""
    while True:
        first = random.randint(10_000, 19_000)
        sockets = []
        try:
            for number in range(count):
                sockets.append(socket.socket())
                sockets[-1].bind(("127.0.0.1", first + number))
            return first
        except OSError:
            continue
        finally:
            for sock in sockets:
                sock.close()


def get(port, path):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=10) as answer:
        return answer.read().decode()


def observed_run(bench, seconds, *words, peers=PEERS, **how):
    """Peers that train, and the port of the first."""
    port = free_ports_in_a_row(peers)
    run = long_run(bench, peers, seconds, "--set", f"observe.address=127.0.0.1:{port}", *words,
                   **how)
    return run, port


def case_observed(bench):
    """Every peer serves what it writes; a peer that is killed is seen as lost by the others; and
    `ako status` shows the table of a launch that it knows nothing else of."""
    run, port = observed_run(bench, 8)
    for number, name in enumerate("abc"):
        status = json.loads(get(port + number, "/status.json"))
        check_equal(status["peer"], name, "who answers")
        check_equal([peer["port"] for peer in status["peers"]],
                    [port + other for other in range(PEERS)], "where the others are")
        check(status["line"] in bench.metrics(name)[-3:], "the line is one of the file")
    metrics = get(port, "/metrics")
    for other in "bc":
        check(f'ako_link_up_ratio{{peer="{other}"}} 1\n' in metrics, metrics)
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/events", timeout=10) as events:
        rounds = []
        while len(rounds) < 3:
            line = events.readline().decode()
            if line.startswith("data: "):
                rounds.append(json.loads(line[6:])["line"]["round"])
    check(rounds == sorted(set(rounds)), f"rounds of events: {rounds}")

    output = bench.start("status", f"127.0.0.1:{port}").expect(0, 10)
    rows = {words[0]: words for line in output.splitlines() if (words := line.split())}
    check("training" in output and set("abc") <= set(rows), output)

    output = bench.start("status", "--health", f"127.0.0.1:{port + 1}").expect(0, 10)
    check("b is well: training, round " in output, output)

    os.kill(run.peers()["c"], signal.SIGKILL)
    wait_for(lambda: re.search(r'ako_link_presence_info{peer="c",.*standing="(lost|gone)"} 1',
                               get(port, "/metrics")), "a says that c is lost", 10)
    # What it shows of c is what one of the others says, who may find it lost a moment later.
    is_lost = re.compile(r"^ c +[\d,]+  (lost|gone) for \d+ s: .* \(as others say\)$", re.MULTILINE)
    output = wait_for(lambda: is_lost.search(
        said := bench.start("status", f"127.0.0.1:{port}").expect(0, 10)) and said,
        "the table says that c is lost", 5, 0.2)
    check("c does not answer: " in output, output)
    run.expect(0)
    check_equal(bench.summary()["finished_with"], ["a", "b"], "who finished with the same")
    output = bench.start("status", f"127.0.0.1:{port}").expect(2, 10)
    check(f"127.0.0.1:{port}" in output, output)
    output = bench.start("status", "--health", f"127.0.0.1:{port}").expect(1, 10)
    check(f"127.0.0.1:{port}: " in output, output)


def case_bottleneck(bench):
    """A link that is narrower than the others is named by the page's server, by `ako status`, and
    in the end. What a busy machine does to the peers may be named as well, for a while."""
    run, port = observed_run(bench, 600, "--set", "exchange.link_mbit=40", "--set",
                             "exchange.link_limits=[{from: b, to: c, mbit: 0.5}]")
    found = {}
    wait_for(lambda: found.update(json.loads(get(port, "/bottleneck.json")))
             or found["label"] == "link b -> c", "the narrow link is named", 60, 0.5)
    check(re.search(r"^b -> c comes to 0\.\d Mbit/s", found["evidence"]), found)
    wait_for(lambda: "\nbottleneck: link b -> c: " in
             bench.start("status", f"127.0.0.1:{port}").expect(0, 10), "by status", 60)
    run.process.send_signal(signal.SIGINT)
    output = run.expect(130)
    told = bench.summary()["bottleneck"]
    check(f"\nbottleneck: {told['label']}: {told['evidence']}" in output, output)


def case_observed_by_prometheus(bench):
    """Prometheus' own checker finds nothing to complain of."""
    promtool = shutil.which("promtool")
    if promtool is None:
        raise Skipped("there is no promtool (deploy/install-deps --tests installs it)")
    run, port = observed_run(bench, 3)
    metrics = get(port, "/metrics")
    checked = subprocess.run([promtool, "check", "metrics"], input=metrics, text=True,
                             capture_output=True, timeout=60)
    check_equal((checked.returncode, checked.stdout, checked.stderr), (0, "", ""), "promtool")
    run.expect(0)


def case_observed_in_a_browser(bench):
    """The page joins all peers, goes on by itself and shows who is lost, without an error of its
    script, wide and on a telephone, light and dark."""
    run, port = observed_run(bench, 400, compute_ms=50)  # however slow the browser is
    with Browser(bench.folder) as browser:
        browser.open(f"http://127.0.0.1:{port}/")
        wait_for(lambda: "All 3 peers are at work." in browser.text(), "all are seen", 90, 0.2)
        flows = "[...document.querySelectorAll('#links td.good')].length"
        wait_for(lambda: browser.value(flows) == PEERS * (PEERS - 1), "all links flow", 90, 0.2)
        before = browser.value("document.querySelector('#peers').innerText")
        wait_for(lambda: browser.value("document.querySelector('#peers').innerText") != before,
                 "it goes on by itself", 90, 0.2)
        for name in "abc":
            heard_at = f"statuses.get('{name}').at"
            for _ in range(2):
                before = browser.value(heard_at)
                wait_for(lambda: browser.value(heard_at) > before, f"{name} is heard again", 90,
                         0.2)
        for width, height in ((1280, 800), (390, 844)):
            browser.resize(width, height)
            for is_dark in (False, True):
                browser.dark(is_dark)
                picture = f"{bench.folder}/page-{width}{'-dark' if is_dark else ''}.png"
                browser.screenshot(picture)
                check(os.path.getsize(picture) > 10_000, "a picture of the page")
            page = browser.value("document.documentElement.scrollWidth")
            check(page <= width, f"the page is {page} wide in a window of {width}")
        check_equal(browser.faults(), [], "what the script complains of")
        os.kill(run.peers()["b"], signal.SIGKILL)
        wait_for(lambda: re.search("b is (lost|gone)", browser.text()), "b is lost", 90, 0.2)
    run.process.send_signal(signal.SIGINT)
    run.expect(130)


def case_observed_late(bench):
    """A page that is opened late shows the run from its beginning: curves with axes, who was lost
    when, and how long the rest takes."""
    run, port = observed_run(bench, 600)  # however slow the browser is
    os.kill(run.peers()["b"], signal.SIGKILL)

    def of_b():
        history = json.loads(get(port, "/history.json"))
        texts = [event["text"] for event in history["events"] if event["peer"] == "b"]
        return any(re.match("was lost|is gone", text) for text in texts) and history

    history = wait_for(of_b, "b is lost", 60)
    lost = [event for event in history["events"] if event["text"] != "trains"]
    check_equal({event["peer"] for event in lost}, {"b"}, f"who was lost: {history}")
    with Browser(bench.folder) as browser:
        browser.open(f"http://127.0.0.1:{port}/")
        table = "document.querySelector('#events').innerText"
        wait_for(lambda: re.search(r"b\s+(was lost|is gone)", browser.value(table)), "when", 60,
                 0.2)
        wait_for(lambda: " left" in browser.text(), "the time that is left", 60, 0.2)
        drawn = "document.querySelectorAll('#loss polyline').length"
        wait_for(lambda: browser.value(drawn) == 1, "a curve", 60, 0.2)
        check(browser.value("document.querySelector('#loss').textContent").count("s") >= 2, "axis")
        browser.value("window.scrollTo(0, 9999)")
        browser.screenshot(f"{bench.folder}/page-opened-late.png")
        first = browser.value("past.loss[0][0]")
        check(first < lost[0]["time"], f"the curve begins at {first} s, before {lost}")
        check("samples/s" in browser.text() and "images" not in browser.text(), browser.text())
    run.process.send_signal(signal.SIGINT)
    run.expect(130)


def case_sixteen_in_a_browser(bench):
    """With 16 peers all rows and all links are there, and a telephone has to move nothing but the
    tables sideways."""
    peers = 16
    # Rounds are rare, so that the browser gets its share of a machine with few processors.
    run, port = observed_run(bench, 600, peers=peers, compute_ms=250)
    with Browser(bench.folder) as browser:
        browser.open(f"http://127.0.0.1:{port}/")
        for width, height in ((1280, 800), (390, 844)):
            browser.resize(width, height)
            rows = "document.querySelectorAll('#peers tr').length"
            wait_for(lambda: browser.value(rows) == peers + 1, "a row for each peer", 60, 0.2)
            cells = "document.querySelectorAll('#links td').length"
            wait_for(lambda: browser.value(cells) == peers * peers, "all links", 60, 0.2)
            known = "[...document.querySelectorAll('#links td.quiet')].length"
            wait_for(lambda: browser.value(known) == 0, "all links are known", 120, 0.2)
            browser.screenshot(f"{bench.folder}/page-of-16-{width}.png")
            page = browser.value("document.documentElement.scrollWidth")
            check(page <= width, f"the page is {page} wide in a window of {width}")
        check_equal(browser.faults(), [], "what the script complains of")
    run.process.send_signal(signal.SIGINT)
    run.expect(130)


def case_observe_refused(bench):
    """A port that is taken, and an address that is none, before any training."""
    file = bench.file(2, training="epochs: 0.01")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        output = bench.start("train", file, "--peer", "a", "--set",
                             f"observe.address=127.0.0.1:{port}").expect(2, 20)
        check(f"127.0.0.1:{port}" in output and "observe.address" in output, output)
    output = bench.start("check", file, "--set", "observe.address=here").expect(2, 10)
    check("host:port" in output, output)
    output = bench.start("status", file).expect(2, 10)
    check("observe.address is null" in output, output)
