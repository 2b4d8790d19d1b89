"""Cases of e2e_test.py about `ako compose`; they need no engine. Those that do: compose_test.py."""

import json
import os
import re
import shutil
import subprocess

from bench import Skipped, check, check_equal

OBSERVED = "observe={address: '127.0.0.1:9500'}"


def services_of(text):
    """The text of each service, by its name."""
    services = text.split("\nservices:\n")[1].split("\nvolumes:\n")[0]
    parts = re.split(r'^  "?([\w-]+)"?:\n', services, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2]))


def case_compose_shipped(bench):
    """deploy/compose.yaml is what `ako compose` writes for deploy/cluster.yaml."""
    deploy = os.path.join(bench.source, "deploy")
    written = subprocess.run([bench.ako, "compose", "cluster.yaml", "--build", ".."], cwd=deploy,
                             capture_output=True, text=True)
    check_equal(written.returncode, 0, f"exit; it said: {written.stderr}")
    with open(os.path.join(deploy, "compose.yaml")) as file:
        check_equal(file.read(), written.stdout, "deploy/compose.yaml; to write it anew: "
                    "ako compose deploy/cluster.yaml --build . -o deploy/compose.yaml")
    with open(os.path.join(deploy, "observe", "prometheus.yml")) as file:
        scraped = file.read()
    for number, name in enumerate("abcd"):
        check(f"{name}:{9470 + number}" in scraped, f"{name} is scraped by:\n{scraped}")


def case_compose_any(bench):
    """A file of loopback addresses: names of services instead, and paths that stay right."""
    file = bench.file(2, training="epochs: 0.5")
    bench.start("compose", file, "--set", "run=$HOME", "-o", "compose.yaml").expect(2, 20)
    output = bench.start("compose", file, "--set", "training.epochs=$x", "-o",
                         "compose.yaml").expect(2, 20)
    check("training.epochs" in output, f"what is wrong is named:\n{output}")
    os.makedirs(os.path.join(bench.folder, "some $where"))
    written = os.path.join("some $where", "compose.yaml")
    output = bench.start("compose", file, "--image", "registry:5000/ako:1", "--set",
                         "training.epochs=0.25", "-o", written).expect(0, 20)
    check(f"docker-compose -f {written} up" in output, output)
    with open(os.path.join(bench.folder, written)) as text:
        text = text.read()
    for expected in ('image: "registry:5000/ako:1"', 'source: "../cluster.yaml"',
                     f'source: "{bench.source}/experiments/mnist/data"',
                     '{name: "a", address: "a:7701", listen: "0.0.0.0:7701"}',
                     '{name: "b", address: "b:7701", listen: "0.0.0.0:7701"}',
                     '--set, "training.epochs=0.25"', "--set, *peer-list",
                     "--set, output=/results/b"):
        check(expected in text, f"{expected!r} in:\n{text}")
    check("build:" not in text, f"nothing to build in:\n{text}")
    check('\n  restart: "on-failure:5"\n' in text, f"who died is started again:\n{text}")
    services = services_of(text)
    check_equal(list(services), ["a", "b", "a-baseline", "b-baseline", "a-limits", "b-limits"],
                "services")
    check_equal([name for name, service in services.items() if "--exit-zero" not in service],
                ["a-baseline", "b-baseline", "a-limits", "b-limits"], "who is not started again")
    for absent in ("ports:", "healthcheck:", "prometheus"):
        check(absent not in text, f"nobody is observed, but there is {absent!r} in:\n{text}")
    # Where nobody could come back, nobody is started again.
    for words in (["exchange.mode=ring"], ["peers=[{name: a, address: 127.0.0.1:7701}]"]):
        output = bench.start("compose", file, "--set", *words).expect(0, 20)
        check("restart:" not in output and "--exit-zero" not in output, output)
    # Paths of another tree are absolute, and no dollar is taken for a variable.
    here = os.path.join(bench.folder, "some $where", "cluster.yaml")
    shutil.copy(file, here)
    output = bench.start("compose", here).expect(0, 20)
    check('source: "./some $$where/cluster.yaml"' in output, output)
    # Two names that a name server would not tell apart.
    output = bench.start("compose", file, "--set", "peers.0.name=B", "--set",
                         "peers.1.name=b").expect(2, 20)
    check("peer B and peer b would be one host name" in output, output)
    output = bench.start("compose", file, "--set", "peers.1.name=a-limits").expect(2, 20)
    check("peer a-limits and peer a would be one host name, a-limits" in output, output)
    output = bench.start("compose", file, "--set", "peers.0.name='7'").expect(0, 20)
    check('  "peer-7":' in output and '--peer, "7"' in output, output)


def case_compose_profiles(bench):
    """What each profile sets for the same peers, and that it has addresses of its own."""
    file = bench.file(2)
    services = services_of(bench.start("compose", file).expect(0, 20))
    for name, service in services.items():
        profile = name.partition("-")[2]
        check(f"    <<: *{profile or 'peer'}\n" in service, f"what {name} has: {service}")
        check(f"--set, *peer-list{'-' if profile else ''}{profile}" in service, service)
        check(f"--set, output=/results/{name}]" in service, service)
        is_server = "--set, exchange.mode=parameter-server" in service
        check_equal(is_server, profile == "baseline", f"{name} has a server")
        is_limited = '"exchange.egress_mbit_max=${AKO_MBIT:-50}"' in service
        check_equal(is_limited, profile == "limits", f"{name} is limited")
        all_serve = "--set, exchange.servers=2" in service
        check_equal(all_serve, profile != "", f"in {name} all would share the parameters")
    text = bench.start("compose", file).expect(0, 20)
    check('"exchange.mode=${AKO_MODE:-ako}"' in text, text)
    for expected in ('x-baseline: &baseline\n  <<: *peer\n  profiles: [baseline]\n'
                     '  restart: "no"',
                     "x-limits: &limits\n  <<: *peer\n  profiles: [limits]\n",
                     "  cpu_period: 10000\n  cpu_quota: 2500\n",
                     '{name: "b", address: "b-limits:7701", listen: "0.0.0.0:7701"}'):
        check(expected in text, f"{expected!r} in:\n{text}")
    # How many servers there are is as the file says, if it does.
    text = bench.start("compose", file, "--set", "exchange.servers=1").expect(0, 20)
    check("exchange.servers=2" not in text, text)
    # Where there can be no such baseline, it is said why.
    text = bench.start("compose", file, "--set", "exchange.mode=parameter-server").expect(0, 20)
    check("There is no profile baseline: the peers train on" in text, text)
    text = bench.start("compose", file, "--set", "exchange.start_wait_s=0").expect(0, 20)
    check(re.search("There is no profile baseline: .*start_wait_s: expected", text), text)
    check_equal(list(services_of(text)), ["a", "b", "a-limits", "b-limits"], "services")


def case_compose_observed(bench):
    """Ports, health checks and what Prometheus scrapes, of a file whose peers are observed."""
    file = bench.file(2)
    said = bench.start("compose", file, "--set", OBSERVED, "-o", "compose.yaml").expect(0, 20)
    scrape_file = os.path.join(bench.folder, "observe", "prometheus.yml")
    check(f"written, for its profile observe: {scrape_file}" in said, said)
    with open(os.path.join(bench.folder, "compose.yaml")) as written:
        text = written.read()
    services = services_of(text)
    for number, name in enumerate("ab"):
        for profile, first in (("", 9500), ("-baseline", 9600), ("-limits", 9700)):
            service, port = services[name + profile], first + number
            check(f'    ports: ["127.0.0.1:{port}:{port}"]\n' in service, service)
            check(f'[CMD, ako, status, --health, "127.0.0.1:{port}"]' in service, service)
            check(f'--set, "observe.address=0.0.0.0:{first}"' in service, service)
    for expected in ("profiles: [observe]", '"${AKO_PROMETHEUS_IMAGE:-prom/prometheus}"',
                     '"127.0.0.1:${AKO_PROMETHEUS_PORT:-9090}:9090"',
                     'source: "./observe", target: /etc/prometheus, read_only: true'):
        check(expected in services["prometheus"], services["prometheus"])
    # What is there is left to people, and what it lacks is said.
    said = bench.start("compose", file, "--set", "observe.address=0.0.0.0:9501", "-o",
                       "compose.yaml").expect(0, 20)
    check("it lacks a:9501, b:9502. To have it written anew, remove it" in said, said)
    said = bench.start("compose", file, "--set", OBSERVED, "-o", "compose.yaml").expect(0, 20)
    check(f"left as it is, for its profile observe: {scrape_file}" in said, said)
    for words, complaint in (
            (["observe.address=0.0.0.0:65400"], "profile limits would need ports up to 65601"),
            ([OBSERVED, "--set", "peers.0.name=Prometheus"],
             "Prometheus and peer Prometheus would be one host name, prometheus")):
        output = bench.start("compose", file, "--set", *words).expect(2, 20)
        check(complaint in output, output)


def case_compose_scraped(bench):
    """Prometheus' own checker takes what is written for it."""
    promtool = shutil.which("promtool")
    if promtool is None:
        raise Skipped("there is no promtool (deploy/install-deps --tests installs it)")
    bench.start("compose", bench.file(3), "--set", OBSERVED, "-o", "compose.yaml").expect(0, 20)
    checked = subprocess.run([promtool, "check", "config", "observe/prometheus.yml"],
                             cwd=bench.folder, capture_output=True, text=True, timeout=60)
    check_equal(checked.returncode, 0, f"promtool: {checked.stdout}{checked.stderr}")
    check("SUCCESS" in checked.stdout, checked.stdout)


def case_compose_parsed(bench):
    """docker-compose takes it, each service with its profile, and fills in what people choose."""
    if shutil.which("docker-compose") is None:
        raise Skipped("there is no docker-compose")
    bench.start("compose", bench.file(2), "--set", OBSERVED, "-o", "compose.yaml").expect(0, 20)

    def config(*words, **environment):
        parsed = subprocess.run(["docker-compose", "-f", "compose.yaml", "config", *words],
                                cwd=bench.folder, capture_output=True, text=True, timeout=60,
                                env=dict(os.environ, **environment))
        check_equal((parsed.returncode, parsed.stderr), (0, ""), "docker-compose")
        return parsed.stdout

    check_equal(sorted(config("--services").split()),
                ["a", "a-baseline", "a-limits", "b", "b-baseline", "b-limits", "prometheus"],
                "services")
    text = config(AKO_MBIT="20", AKO_MODE="ring", AKO_PROMETHEUS_PORT="9999")
    for profile, count in (("baseline", 2), ("limits", 2), ("observe", 1)):
        check_equal(text.count(f"    profiles:\n    - {profile}\n"), count,
                    f"services of {profile} in:\n{text}\n")
    for expected in ("exchange.egress_mbit_max=20", "exchange.mode=ring", "cpu_quota: 2500",
                     "127.0.0.1:9700:9700/tcp", "127.0.0.1:9999:9090/tcp",
                     "- exchange.mode=parameter-server\n"):
        check(expected in text, f"{expected!r} in:\n{text}")
