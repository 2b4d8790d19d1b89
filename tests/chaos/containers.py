"""The acceptance measurements on the Docker engine: a container of the shipped Compose file is
killed and started again, paused for 10 s, or taken off its network and put back with another
address, while four train. One thread."""

import calendar
import json
import os
import random
import re
import shutil
import tempfile
import time

import judge
import lives  # noqa: F401, which knows where these are:
import compose_test
import engine
from bench import Failure, wait_for
from claims import CLAIM
from network import Skip

# Apart from that of the end-to-end tests, which may run beside this.
compose_test.IMAGE = "ako-acceptance"
EPOCHS = 3
SERVICES = "abcd"
# How long it is away; None: until the engine has started it again.
AWAY_S = {"killed": 3.0, "killed, restarted by the engine": None, "paused": 10.0, "moved": 5.0}
WARM_S = (4.0, 10.0)
END_PATIENCE_S = 300
SUBNET = "10.87.{}.0/24"
MOVED_TO = "10.87.{}.{}"
STAMP = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?Z (.*)")


def networked_cluster(bench, number):
    """The shipped cluster in a network whose addresses may be chosen."""
    cluster = compose_test.shipped_cluster(bench, EPOCHS)
    path = os.path.join(bench.folder, "network.yaml")
    with open(path, "w") as file:
        file.write("networks: {default: {ipam: {config: [{subnet: "
                   f"{SUBNET.format(number)}}}]}}}}}}\n")
    cluster.words += ["-f", path]
    return cluster


def stamped(cluster, service):
    """(seconds since 1970, text) of what a service said."""
    found = []
    for line in engine.run("docker", "logs", "-t", cluster.container(service)).splitlines():
        if match := STAMP.match(line):
            whole = calendar.timegm(time.strptime(match[1], "%Y-%m-%dT%H:%M:%S"))
            found.append((whole + float(match[2] or 0), match[3]))
    return found


def restarts_by_itself(container):
    policy = json.loads(engine.run("docker", "inspect", "-f", "{{json .HostConfig.RestartPolicy}}",
                                   container))
    return policy["Name"] in ("on-failure", "always", "unless-stopped")


def strike(what, cluster, victim, number):
    """Makes it happen and ends it; when it had begun: the engine takes its time with a command, on
    a busy machine a second."""
    container = cluster.container(victim)
    network = f"{cluster.name}_default"
    there = MOVED_TO.format(number, 100 + SERVICES.index(victim))
    begin, end = {
        "killed": (("kill", "-s", "KILL", container), ("start", container)),
        "paused": (("pause", container), ("unpause", container)),
        "moved": (("network", "disconnect", network, container),
                  ("network", "connect", "--alias", victim, "--ip", there, network, container)),
    }.get(what, (None, None))
    if begin is None:
        os.kill(int(engine.run("docker", "inspect", "-f", "{{.State.Pid}}", container)), 9)
        return time.time()
    engine.run("docker", *begin)
    began = time.time()
    time.sleep(AWAY_S[what])
    engine.run("docker", *end)
    return began


def trial(bench, what, number):
    """None where the engine does not restart by itself."""
    try:
        return tried(bench, what, number)
    except Failure as why:
        return {"what": what, "number": number, "victim": None, "named": [], "digests": [],
                "exits": {}, "findings": [str(why)]}


def tried(bench, what, number):
    draw = random.Random(f"{what} {number}")
    victim = draw.choice(SERVICES)
    subnet = os.getpid() % 250 + 1
    found = {"what": what, "number": number, "victim": victim, "named": [], "findings": []}
    with networked_cluster(bench, subnet) as cluster:
        cluster.up()
        for service in SERVICES:
            wait_for(lambda: " samples/s " in cluster.log(service), f"{service} trains", 120)
        if what == "killed, restarted by the engine" and not restarts_by_itself(
                cluster.container(victim)):
            return None
        time.sleep(draw.uniform(*WARM_S))
        began = strike(what, cluster, victim, subnet)
        exits = {}
        for service in SERVICES:
            exits[service] = int(engine.run("docker", "wait", cluster.container(service),
                                            seconds=END_PATIENCE_S))
        judge_trial(found, cluster, victim, began, exits)
    return found


def judge_trial(found, cluster, victim, began, exits):
    digests = set()
    for service in SERVICES:
        lines = stamped(cluster, service)
        claims = [match[1] for _, text in lines if (match := CLAIM.search(text))]
        digests.update(claims)
        found["findings"] += [f"{service} said: {text}" for _, text in lines
                              if judge.BUG.search(text)]
        if exits[service] != 0 or not claims:
            found["findings"].append(f"{service} ended with status {exits[service]}: "
                                     f"{lines[-1][1] if lines else 'nothing'}")
        named = [at - began for at, text in lines if at > began - 1 and
                 (match := judge.LOST.search(text)) and match[1] == victim]
        if service != victim:
            found["named"].append(named[0] if named else None)
    found["digests"], found["exits"] = sorted(digests), exits
    if len(digests) != 1:
        found["findings"].append(f"digests: {sorted(digests)}")
    # A peer that is back within a second need not be named as lost.
    if found["what"] != "killed, restarted by the engine" and any(
            after is None or after > judge.NAMED_WITHIN_S for after in found["named"]):
        found["findings"].append(f"named after {found['named']}")


def measure(source, ako, wanted, tell):
    """`wanted`: (what, number) of each trial; `tell`: is given what was measured."""
    folder = tempfile.mkdtemp(prefix="ako-containers-")
    try:
        engine.prepare(source)
        compose = compose_test.compose_command()
        compose_test.build_image(ako, source, folder, False)
        bench = compose_test.Bench(compose, ako, source, folder)
        for what, number in wanted:
            bench.folder = tempfile.mkdtemp(dir=folder)
            measured = trial(bench, what, number)
            if measured is not None:
                tell(measured)
                print(json.dumps(measured), flush=True)
    except engine.Skip as why:
        raise Skip(str(why))
    finally:
        engine.works("docker", "rmi", compose_test.IMAGE)
        shutil.rmtree(folder)


def table(found):
    lines = ["| container | trials | named after, s | identical | statuses |",
             "|" + " --- |" * 5]
    for what in AWAY_S:
        own = [it for it in found if it["what"] == what]
        if not own:
            continue
        named = [f"{after:.1f}" for it in own for after in it["named"] if after is not None]
        identical = sum(1 for it in own if len(it["digests"]) == 1)
        statuses = sorted({status for it in own for status in it["exits"].values()})
        lines.append(f"| {what} | {len(own)} | {', '.join(named) or '-'} | "
                     f"{identical} of {len(own)} | {', '.join(map(str, statuses))} |")
    return "\n".join([*lines, *(f"- {it['what']}, trial {it['number']}: {finding}"
                                for it in found for finding in it["findings"])])
