"""Cases of `ako check --network`: the peers of a file measure the links between them."""

import json
import os

from bench import check, check_equal, wait_for

MEASURED_S = 60  # two turns or three, beside other cases


def measure_as(bench, file, names, *words):
    """What each of these peers says, started side by side."""
    started = [bench.start("check", file, "--network", "--peer", name, "-o", f"of-{name}", *words)
               for name in names]
    return [process.expect(0, MEASURED_S) for process in started]


def network_in(bench, folder):
    with open(os.path.join(bench.folder, folder, "network.json")) as file:
        return json.load(file)


def case_network_measured(bench):
    """Three peers come to the same matrix, which a prediction then takes for its links."""
    limit = 100
    file = bench.file(3, exchange=f"mode: ring, egress_mbit_max: {limit}")
    outputs = measure_as(bench, file, "abc")
    for output in outputs:
        check("there and back, ms" in output, output)
    networks = [network_in(bench, f"of-{name}") for name in "abc"]
    check_equal(networks[1:], networks[:1] * 2, "what all have measured")
    check_equal([peer["name"] for peer in networks[0]["peers"]], ["a", "b", "c"], "peers")
    links = {(link["from"], link["to"]): link for link in networks[0]["links"]}
    check_equal(len(links), 6, "links")
    for pair, link in links.items():
        for key in ("mbit", "both_mbit"):
            check(limit / 2 < link[key] < limit * 1.05, f"{pair}: {key} of {link}")

    bench.start("profile", file, "-o", "of-a", "--name", "a").expect(0, 120)
    apart = os.path.join(bench.folder, "apart.yaml")  # not on one machine, which has no links
    with open(file) as near, open(apart, "w") as far:
        for line in near:
            far.write(line.replace("127.0.0.1", "192.0.2.1"))
    check_predicted(bench, apart)


def check_predicted(bench, file):
    """Measured links count, as far as the file's limit goes, and for the machines that measured."""
    def predict(status, *words):
        return bench.start("predict", file, "--profile", "of-a", *words).expect(status, 10)

    measured = os.path.join(bench.folder, "of-a", "network.json")
    with open(measured) as text:
        network = json.load(text)
    for peer in network["peers"]:
        peer["address"] = peer["address"].replace("127.0.0.1", "192.0.2.1")
    text = predict(2)
    check("was at 127.0.0.1:" in text and "--network -o of-a" in text, text)
    with open(measured, "w") as text:
        json.dump(network, text)
    text = predict(0)
    check("of-a/network.json: links of " in text, text)
    text = predict(0, "--set", "exchange.egress_mbit_max=10")
    check("of-a/network.json: links of 10 to " in text, text)
    text = predict(2, "--set", "exchange.egress_mbit_max=null")
    check("with exchange.egress_mbit_max: 100, which the cluster file does not say" in text, text)
    with open(file, "a") as far:
        far.write("  - {name: d, address: '192.0.2.1:9'}\n")
    text = predict(2)
    check("the links of peer d were not measured" in text, text)


def case_network_lost(bench):
    """A peer that dies while links are measured is named by all others, and nothing is kept."""
    file = bench.file(3)
    started = {name: bench.start("check", file, "--network", "--peer", name) for name in "abc"}
    for process in started.values():
        wait_for(lambda process=process: "measuring" in process.output(), "all have met")
    started["c"].process.kill()
    for name in "ab":
        output = started[name].expect(2, 30)
        check("while links were measured the session with" in output, output)
        check("start it again on all machines" in output, output)
    check(not os.path.exists(os.path.join(bench.folder, "profiles", "network.json")), "kept")


def case_network_here(bench):
    """Without --peer all of the file measure, on this machine; a limit of links is a link's."""
    file = bench.file(2, exchange="mode: ako, link_mbit: 20")
    output = bench.start("check", file, "--network").expect(0, MEASURED_S)
    check("network: profiles/network.json" in output, output)
    for link in network_in(bench, "profiles")["links"]:
        check(10 < link["both_mbit"] < 21, f"{link}")


def case_network_refused(bench):
    """Who cannot measure is told why, and peers that train take no part."""
    file = bench.file(2, training="epochs: 300, evaluate_every: 0")
    output = bench.start("check", file, "--network", "--peer", "x").expect(2, 10)
    check("--peer: expected one of the file's peers: a, b, found x" in output, output)
    output = bench.start("check", file, "--peer", "a").expect(2, 10)
    check("--network" in output, output)
    output = bench.start("profile", file, "--name", "network").expect(2, 10)
    check("measured links" in output, output)

    trains = bench.start("train", file, "--peer", "a", "--plain")
    wait_for(lambda: "waiting for" in trains.output(), "the peer that trains")
    output = bench.start("check", file, "--network").expect(2, 10)
    check("peers.0.address" in output, output)  # where another process listens
    measures = bench.start("check", file, "--network", "--peer", "b")
    wait_for(lambda: "another run" in measures.output() + trains.output(), "a refusal")

    order = bench.file(2)
    with open(order) as text:
        lines = text.readlines()
    other = os.path.join(bench.folder, "other.yaml")
    with open(other, "w") as text:
        text.writelines(lines[:-2] + lines[:-3:-1])
    first = bench.start("check", order, "--network", "--peer", "a")
    second = bench.start("check", other, "--network", "--peer", "b")
    wait_for(lambda: "peers.1: a here" in first.output() + second.output(),
             "that the order differs")
