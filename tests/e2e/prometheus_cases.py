"""Cases of e2e_test.py: what deploy/observe ships for Prometheus, with a real one that watches real
peers. Every question gets an answer that can be true, and every alert is caused and fires."""

import json
import math
import os
import signal
import subprocess

from bench import Failure, Skipped, check, check_equal, has_trained, wait_for
from diverging import STRICT
from fleet import BATCH, COMPUTE_MS, Fleet, paced_file
from observing import free_ports_in_a_row
from prometheus import Prometheus, program, shipped

PEERS = "abcd"  # those of deploy/cluster.yaml
RATE_WINDOW = "[10s]"  # of queries.yml; in Grafana: [$__rate_interval]
LINKS = {(one, other) for one in PEERS for other in PEERS if one != other}
# Samples/s of one peer whose rounds take no time but that of its gradient.
FASTEST = BATCH * 1000 / COMPUTE_MS

# Between which numbers an answer of a run that goes well lies, where its unit does not say it.
SANE = {
    "samples/s": (0.05 * FASTEST, 1.2 * len(PEERS) * FASTEST),
    "samples/s of each peer": (0.05 * FASTEST, 1.2 * FASTEST),
    "slowest peer": (0.05 * FASTEST, 1.2 * FASTEST),
    "time of a round": (COMPUTE_MS / 1200, COMPUTE_MS / 50),
    "time left": (1, 3600),
    "peers that train": (len(PEERS), len(PEERS)),
    "lost peers": (0, 0),
    "alerts": (0, 0),
    "loss": (1e-6, 1),
    "loss of each peer": (1e-6, 1),
    "cores in use": (1e-3, 8),
    "memory": (1e6, 1e9),
    "bytes/s sent": (1e4, 1e10),
    "bytes/s of each link": (1e3, 1e9),
    "P of each link": (1, 64),
    "rounds behind": (0, 200),
    "age of rows": (1e-3, 10),
    "round trip": (1e-6, 1),
}


def queries(bench):
    try:
        import yaml
    except ImportError:
        raise Skipped("there is no PyYAML (deploy/install-deps --tests installs it)")
    with open(shipped(bench, "queries.yml")) as file:
        return yaml.safe_load(file)


def panels(bench):
    with open(shipped(bench, "grafana-dashboard.json")) as file:
        return json.load(file)["panels"]


def watched(bench, file, *words):
    """Peers of this file that train, and a port from which on they are observed."""
    program("prometheus")  # or nothing is started
    port = free_ports_in_a_row(len(PEERS))
    run = bench.launch(file, "--set", f"observe.address=127.0.0.1:{port}", *words)
    wait_for(lambda: run.process.poll() is not None
             or all(has_trained(bench, name) for name in PEERS), "all train", 30)
    check(run.process.poll() is None, f"launch ended at once; it said:\n{run.output()}")
    return run, port


def end(run):
    """At once: a second interrupt does not wait for the final exchange."""
    run.process.send_signal(signal.SIGINT)
    wait_for(lambda: run.line_with("interrupted"), "the first interrupt is acknowledged", 10)
    run.process.send_signal(signal.SIGINT)
    run.expect(130, 10)


def case_prometheus_files(bench):
    """Prometheus' own checker takes configuration and rules; alerts are silent where they must be;
    and the dashboard has a panel for each question, with its expression."""
    promtool = program("promtool")
    for words in (["check", "config", shipped(bench, "prometheus.yml")],
                  ["check", "rules", shipped(bench, "alerts.yml")],
                  ["test", "rules", os.path.join(bench.source, "tests/e2e/alerts_test.yml")]):
        checked = subprocess.run([promtool, *words], text=True, capture_output=True, timeout=60)
        said = checked.stdout + checked.stderr
        check(checked.returncode == 0 and "SUCCESS" in said, f"promtool {words}:\n{said}")

    asked = {query["name"]: query for query in queries(bench)}
    shown = panels(bench)
    check_equal({panel["title"] for panel in shown}, set(asked), "panels of the dashboard")
    for key in ("id", "title"):
        check_equal(len({panel[key] for panel in shown}), len(shown), f"each {key} is there once")
    taken = set()
    for panel in shown:
        query = asked[panel["title"]]
        check_equal(panel["description"], query["question"], f"question of {query['name']}")
        check_equal([target["expr"] for target in panel["targets"]],
                    [query["expression"].strip().replace(RATE_WINDOW, "[$__rate_interval]")],
                    f"expression of {query['name']}")
        check_equal(panel["fieldConfig"]["defaults"]["unit"], query["unit"], query["name"])
        check_equal(panel["datasource"]["uid"], "${datasource}", "where it asks")
        at = panel["gridPos"]
        place = {(x, y) for x in range(at["x"], at["x"] + at["w"])
                 for y in range(at["y"], at["y"] + at["h"])}
        check(max(x for x, _ in place) < 24 and not place & taken, f"place of {query['name']}")
        taken |= place


def fault(query, answers):
    """What cannot be true of these answers; empty if nothing."""
    labels = {"cluster": lambda _: "one", "peer": lambda of: of["instance"],
              "link": lambda of: (of["instance"], of["peer"])}[query["per"]]
    wanted = {"cluster": {"one"}, "peer": set(PEERS), "link": LINKS}[query["per"]]
    found = [labels(of) for of, _ in answers]
    if set(found) != wanted or len(found) != len(wanted):
        return f"answers of {found}, expected {sorted(wanted)}"
    low, high = SANE.get(query["name"], (0, 1 if query["unit"] == "percentunit" else 1e12))
    wrong = [number for _, number in answers
             if not math.isfinite(number) or not low <= number <= high]
    return f"{wrong}, expected {low} to {high}" if wrong else ""


def check_answers(server, query, expression):
    """Some are known only when a peer has made its first evaluation, or a cycle."""
    try:
        wait_for(lambda: not fault(query, server.ask(expression)), "", 20, 0.2)
    except Failure:
        found = fault(query, server.ask(expression))
        check(not found, f"{query['name']}: {expression}: {found}")


def case_prometheus_answers(bench):
    """Every question of queries.yml, and every panel of the dashboard, gets an answer about the
    whole cluster, each peer or each link; and no alert fires of a run that goes well and ends."""
    asked = queries(bench)
    run, port = watched(bench, paced_file(bench, len(PEERS), 60), "--set",
                        "training.evaluate_every=0.02")
    with Prometheus(bench, PEERS, port) as server:
        for query in asked:
            check_answers(server, query, query["expression"])
        by_name = {query["name"]: query for query in asked}
        for panel in panels(bench):
            for target in panel["targets"]:
                check_answers(server, by_name[panel["title"]],
                              target["expr"].replace("$__rate_interval", "12s"))
        check_equal(server.firing(), set(), "alerts of a run that goes well")
        run.process.send_signal(signal.SIGINT)
        run.expect(130, 30)
        wait_for(lambda: server.ask("sum(up)") == [({}, 0)], "all peers are gone", 10, 0.2)
        missed = server.ask('count_over_time(ALERTS{alertname="LostPeer"}[1m])')
        check_equal(missed, [], "peers that were missed when the run ended")


def case_prometheus_alerts(bench):
    """A link of 0.3 Mbit/s is slow, and has rows come late at its end, nowhere else; a peer that is
    killed is lost."""
    run, port = watched(bench, paced_file(bench, len(PEERS), 120,
                                          "link_limits: [{from: a, to: b, mbit: 0.3}]"))
    slow = {("SlowLink", "a", "b"), ("StaleRows", "b", "a")}
    with Prometheus(bench, PEERS, port) as server:
        wait_for(lambda: server.firing() >= slow, "the link and the rows are told of", 60, 0.2)
        check_equal(server.firing(), slow, "alerts")
        os.kill(run.peers()["c"], signal.SIGKILL)
        wait_for(lambda: ("LostPeer", None, "c") in server.firing(), "c is told of", 30, 0.2)
    end(run)


def case_prometheus_ended(bench):
    """A peer that ends for its numbers is told of, and is not missed."""
    program("prometheus")
    port = free_ports_in_a_row(len(PEERS))
    fleet = Fleet(bench, paced_file(bench, len(PEERS), 120))
    observe = ("--set", f"observe.address=127.0.0.1:{port}")
    for name in PEERS:
        fleet.start(name, *observe)
    for name in PEERS:
        fleet.wait_trains(name)
    with Prometheus(bench, PEERS, port) as server:
        check_equal(server.firing(), set(), "alerts before")
        fleet.runs["b"].process.send_signal(signal.SIGTERM)
        fleet.runs["b"].expect(143, 30)
        fleet.start("b", *observe, *STRICT).expect(3, 60)
        wait_for(lambda: server.firing() == {("EndedPeer", None, "b")}, "it is told of", 30, 0.2)
    for name in "acd":
        fleet.kill(name)


def case_prometheus_diverging(bench):
    """A quadratic loss at a rate of 2.02: a step of the mean gradient, which ring takes, leads away
    from the optimum, 1.02 times as far each round. After 40 s that is too far for the program."""
    file = bench.file(len(PEERS), model="{name: synthetic, parameters: 5000, compute_ms: 50}",
                      training="learning_rate: 2.02, momentum: 0, epochs: 100, evaluate_every: 0",
                      exchange="mode: ring")
    run, port = watched(bench, file)
    with Prometheus(bench, PEERS, port) as server:
        wait_for(lambda: ("DivergingLoss", None, None) in server.firing(), "it is told of", 40, 0.2)
        (_, loss), = server.ask("cluster:ako_training_loss:mean10s")
        check(loss > 1, f"loss {loss}")
    end(run)
