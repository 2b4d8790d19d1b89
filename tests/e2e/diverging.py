"""Cases of e2e_test.py: a peer whose numbers are not to be trusted ends, and the others name it
with its cause wherever they say anything of it. Python's standard library only."""

import json
import re
import signal
import urllib.error

from bench import check, check_equal, wait_for
from fleet import Fleet
from observing import free_ports_in_a_row, get

NAMES = "abc"
# Refuses the first gradient that is larger than those before it, which is one of the first rounds.
# The key is each peer's own, so the others take the same gradients for usual.
STRICT = ("--set", "training.growth_max=0.001")


def steady_file(bench):
    """A cluster file whose training has no end of its own, and moves so little that gradients are
    as large in each round."""
    return bench.file(len(NAMES), training="epochs: 100000, learning_rate: 1e-9, evaluate_every: 0")


def log_of(fleet, name):
    try:
        with open(fleet.path(name, f"log-{name}.txt")) as log:
            return log.read()
    except FileNotFoundError:
        return ""


def start(bench, file, port, *words):
    """The peers, of which b is strict; observed from this port on. One after the other, or b could
    be over before all have met it."""
    fleet = Fleet(bench, file)
    for name in NAMES:
        others = list(fleet.runs)
        fleet.start(name, "--set", f"observe.address=127.0.0.1:{port}", *words,
                    *(STRICT if name == "b" else ()))
        wait_for(lambda: all(f" {other}: session up" in log_of(fleet, name) for other in others)
                 and "listens at" in log_of(fleet, name), f"{name} has met {others}", 30)
    return fleet


def link_to_b(line):
    return next(link for link in line["links"] if link["peer"] == "b")


def has_ended(link):
    return link["ended"] != "" and link


def served(port, path):
    """Empty before the first line of metrics."""
    try:
        return get(port, path)
    except urllib.error.HTTPError:
        return ""


def check_views(bench, port, name, said, ended):
    """What a peer that goes on shows of b: `said`, in each of its views. `ended`: its first
    words."""
    link = wait_for(lambda: (text := served(port, "/status.json"))
                    and has_ended(link_to_b(json.loads(text)["line"])),
                    f"{name} serves that b ended", 20)
    check_equal((link["ended"], link["standing"], link["why"]), ("numbers", "ended", said),
                f"b in the status of {name}")
    check(f'\nako_link_ended_info{{peer="b",cause="numbers",why="{said}"}} 1\n' in
          get(port, "/metrics"), f"b in the metrics of {name}:\n{get(port, '/metrics')}")
    events = wait_for(lambda: [event["text"] for event in
                               json.loads(get(port, "/history.json"))["events"]
                               if event["peer"] == "b" and event["text"].startswith(ended)],
                      f"the page of {name} has it among the events", 10)
    check_equal(events, [said], f"events of b at {name}")


def case_diverging_peer(bench):
    """In the mode ako the others go on; log, output, metrics, Prometheus, page, status, result and
    summary say of b how it ended, since when and why."""
    port = free_ports_in_a_row(len(NAMES))
    fleet = start(bench, steady_file(bench), port)
    own = fleet.runs["b"].expect(3, 60)
    since = int(re.search(r"stopped: the gradient of round (\d+) is far beyond", own)[1])
    check("; lower training.learning_rate" in own, own)
    ended = f"ended at round {since}: its numbers are not to be trusted (the gradient of round"
    for name in "ac":
        wait_for(lambda: fleet.runs[name].line_with(f"peer b {ended}"), f"{name} says it", 20)
        _, line = fleet.runs[name].line_with(f"peer b {ended}")
        said = line[line.index(ended):]
        stays = f"; what it gave up to round {since - 1} stays" if since > 1 else ""
        check(said.endswith(f": no more of it was sent){stays}"), said)
        check(f"peer b {said}\n" in log_of(fleet, name), f"the log of {name}")
        check_views(bench, port + NAMES.index(name), name, said, ended)
        link = wait_for(lambda: has_ended(link_to_b(fleet.metrics(name)[-1])), "in its file", 10)
        check_equal((link["ended"], link["why"]), ("numbers", said), f"metrics of {name}")
    table = bench.start("status", f"127.0.0.1:{port}").expect(0, 20)
    check(re.search(rf"^ b .* {re.escape(ended)}", table, re.MULTILINE), table)
    made = fleet.last("a", "round")
    fleet.wait_trains("a", made + 10)  # and the others go on

    fleet.runs["a"].process.send_signal(signal.SIGINT)
    for name, status in (("a", 130), ("c", 7)):
        output = fleet.runs[name].expect(status, 30)
        check(f"b {ended}" in output.partition("stopped early")[2], f"{name} ended so:\n{output}")
        with open(fleet.path(name, "summary.json")) as file:
            summary = json.load(file)
        for told in (fleet.result(name), summary):
            check_equal((told["finished_with"], told["lost_peers"]), (["a", "c"], []), name)
            (left,) = told["left_peers"]
            check_equal((left["peer"], left["rounds"], left["cause"], left["since"]),
                        ("b", since - 1, "numbers", since), f"left_peers of {name}")
            check(left["why"].startswith(f"the gradient of round {since} is far"), left["why"])
        (other,) = [other for other in summary["others"] if other["name"] == "b"]
        check_equal(other["standing"], "ended", "standing of b in the summary")


def case_diverging_in_lockstep(bench):
    """In a mode that needs all, all end by exit 3 with b's name and cause. Who is told to lower its
    learning rate is b alone."""
    for mode in ("ring", "local-sgd"):
        fleet = start(bench, steady_file(bench), free_ports_in_a_row(len(NAMES)), "--set",
                      f"exchange.mode={mode}")
        said = {name: fleet.runs[name].expect(3, 60) for name in NAMES}
        check("is far beyond what is usual" in said["b"], said["b"])
        check("; lower training.learning_rate" in said["b"], said["b"])
        for name in "ac":
            why = fleet.result(name)["why"]
            check(re.search(r"peer b is gone, .*: it ended at round \d+: its numbers are not to be "
                            r"trusted", why), f"{name} in the mode {mode}: {why}")
            check("; look at the data, the learning rate and the log of peer b" in why, why)
            check("training.learning_rate" not in why, why)
            check(why in said[name], said[name])
        # A peer that hears of it from the other one, before b says so, has it in its reason alone.
        ended = {link_to_b(fleet.metrics(name)[-1])["ended"] for name in "ac"}
        check("numbers" in ended and ended <= {"numbers", ""}, f"metrics, {mode}: {ended}")
