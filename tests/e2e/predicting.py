"""Cases of e2e_test.py: a machine that is profiled, and what is predicted from it."""

import json
import os
import re

from bench import check, check_equal
from own_program import program


def predicted(bench, *words):
    """The cells of `ako predict` by mode, machines and rate."""
    output = bench.start("predict", *words, "--json").expect(0, 10)
    return {(cell["mode"], cell["machines"], cell["rate_mbit"]): cell
            for cell in json.loads(output)["cells"]}


def case_predicted(bench):
    """A profile of this machine, and from it a round that a run then takes about as long for."""
    file = bench.file(2, training="epochs: 0.5, evaluate_every: 0", exchange="mode: ring")
    output = bench.start("profile", file, "-o", "profiles", "--name", "here").expect(0, 120)
    check("profile: profiles/here.json" in output, output)

    cells = predicted(bench, file, "--machines", "1..64", "--rates", "20,1000")
    check_equal(sorted({machines for _, machines, _ in cells}), [1, 2, 4, 8, 16, 32, 64],
                "machines")
    for machines in (2, 4, 8):
        ring = cells["ring", machines, 20]
        check(ring["round_s"] > cells["ring", machines, 1000]["round_s"], "a faster link helps")
        check(ring["round_s"] > cells["ako", machines, 20]["round_s"], "ako does not wait")
        check(ring["round_low_s"] < ring["round_s"] < ring["round_high_s"], "an interval")
    text = bench.start("predict", file, "--machines", "1,2,4", "--rates", "50").expect(0, 10)
    for expected in ("50 Mbit/s, ", "samples/s", "assumed: ", "alone"):
        check(expected in text, f"{expected!r} in:\n{text}")
    # Where a processor is fast enough, nothing is to be set: one machine alone is best.
    check(("--set exchange.mode=" in text) != (": one machine alone" in text.splitlines()[0]),
          f"what to set in:\n{text}")
    words = ("predict", file, "--machines", "1,2,4", "--rates", "50", "--strategies")
    text = bench.start(*words).expect(0, 10)
    for expected in ("50 Mbit/s, 4 machines: a step of", "projected", "limitation, "):
        check(expected in text, f"{expected!r} in:\n{text}")
    tables = json.loads(bench.start(*words, "--json").expect(0, 10))["strategies"]["tables"]
    check_equal([table["machines"] for table in tables], [2, 4], "tables of strategies")
    for table in tables:
        check_equal([answer["strategy"] for answer in table["answers"]
                     if not answer["projected"]], ["data"], "what Ako runs")

    output = bench.launch(file).expect(0)
    check(re.search(r"^a round took .* ms; predicted .* \(.* to .*\)$", output, re.MULTILINE),
          f"the pair in:\n{output}")
    with open(os.path.join(bench.folder, "profiles", "history.jsonl")) as history:
        pair = json.loads(history.readline())
    check_equal((pair["mode"], pair["machines"]), ("ring", 2), "what the pair is of")
    figures = bench.summary()["peers"][0]
    measured = figures["train_seconds"] / figures["rounds"]
    here = predicted(bench, file, "--machines", "2")["ring", 2, 0]["round_s"]
    # Other cases run beside this one, so that only the magnitude can be asked for.
    check(here / 8 < measured < here * 8, f"predicted {here}, measured {measured}")
    calibrated = predicted(bench, file, "--machines", "2", "--run",
                           os.path.join("runs", "latest"))["ring", 2, 0]
    check(abs(calibrated["round_s"] / here - 1) > 1e-4, "a run counts")


def case_predicted_of_run(bench):
    """A run is a profile, too: of a network, and of a program that nobody else can profile."""
    # Its links take most of a round, so that cases that run beside this one change it little.
    file = bench.file(2, training="epochs: 0.5, evaluate_every: 0",
                      exchange="mode: ring, egress_mbit_max: 100")
    bench.launch(file).expect(0)
    figures = bench.summary()["peers"][0]
    measured = figures["train_seconds"] / figures["rounds"]
    run = os.path.join("runs", "latest")
    found = predicted(bench, run, "--rates", "100")["ring", 2, 100]["round_s"]
    check(measured / 2 < found < measured * 2, f"predicted {found}, measured {measured}")
    text = bench.start("predict", run, "--rates", "100").expect(0, 10)
    for expected in (f"{run}: a: ", f"{run}: b: ", "assumed: layers' times in proportion"):
        check(expected in text, f"{expected!r} in:\n{text}")
    output = bench.start("predict", run, "--profile", "profiles").expect(2, 10)
    check(f"--profile profiles: {run} is the folder of a run" in output, output)
    output = bench.start("predict", run, "--set", "model=lenet").expect(2, 10)
    check("its network, or training.threads, is another one" in output, output)

    file = bench.file(2, model="external", training="epochs: 60", exchange="mode: ako")
    output = bench.start("predict", file, "--rates", "100").expect(2, 10)
    check("predict from that run: ako predict runs/latest" in output, output)
    bench.launch(file, "--", program(bench)).expect(0)
    cells = predicted(bench, run, "--rates", "100")
    check(cells["ako", 2, 100]["memory_bytes"] > 1e6, "memory, as the run had it")
    check(("ring", 2, 100) not in cells, "a mode that takes no updates")


def case_chosen_mode(bench):
    """`exchange.mode: auto` is what predict names first, and refused without profiles."""
    exchange = "mode: auto, egress_mbit_max: {}"
    file = bench.file(2, training="epochs: 0.2", exchange=exchange.format(20))
    output = bench.launch(file).expect(2)
    check(f"ako profile {file} -o profiles" in output, output)
    bench.start("profile", file, "--name", "here").expect(0, 120)

    for rate in (5, 1000):
        file = bench.file(2, training="epochs: 0.2", exchange=exchange.format(rate))
        text = bench.start("predict", file, "--machines", "2").expect(0, 10)
        words = re.search(r"--set (exchange.mode=(\S+).*)", text)
        check(words is not None, text)
        output = bench.launch(file).expect(0)
        check("exchange.mode: auto: 2 machines, " in output, output)
        with open(bench.path("config.yaml")) as resolved:
            check(f"mode: {words.group(2)}\n" in resolved.read(), f"not {words.group(1)}")
    output = bench.start("check", file).expect(0, 10)
    check(f"mode: {words.group(2)}\n" in output, output)
    output = bench.start("compose", file).expect(2, 10)
    check("exchange.mode: auto is chosen by" in output, output)


def case_predict_refused(bench):
    """What is missing, or of something else, is named with what to do."""
    file = bench.file(2)

    def refused(*words):
        return bench.start("predict", file, *words).expect(2, 10)

    output = refused("--rates", "20")
    check("profiles: no profile of a machine lies there" in output, output)
    check(f"ako profile {file} -o profiles" in output, output)
    os.mkdir(os.path.join(bench.folder, "profiles"))
    with open(os.path.join(bench.folder, "profiles", "x.json"), "w") as profile:
        profile.write("{}")
    check("x.json: is no profile" in refused("--rates", "20"), "no profile")

    bench.start("profile", file, "--name", "x").expect(0, 120)
    output = refused("--rates", "20", "--set", "model=lenet")
    check("there is no profile of this network" in output, output)
    check("--rates: 'fast' is no number above 0" in refused("--rates", "fast"), "rates")
    output = refused("--rates", "20", "--machines", "65")
    check("--machines: 65 is no whole number from 1 to 64" in output, output)
    check("needs both" in refused("--rates", "20", "--rounds", "100"), "half a target")
    check("nowhere/config.yaml" in refused("--rates", "20", "--run", "nowhere"), "no run")
