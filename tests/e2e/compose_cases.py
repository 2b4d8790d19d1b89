"""Cases of e2e_test.py about `ako compose`; they need no engine. Those that do: compose_test.py."""

import os
import shutil
import subprocess

from bench import check, check_equal


def case_compose_shipped(bench):
    """deploy/compose.yaml is what `ako compose` writes for deploy/cluster.yaml."""
    deploy = os.path.join(bench.source, "deploy")
    written = subprocess.run([bench.ako, "compose", "cluster.yaml", "--build", ".."], cwd=deploy,
                             capture_output=True, text=True)
    check_equal(written.returncode, 0, f"exit; it said: {written.stderr}")
    with open(os.path.join(deploy, "compose.yaml")) as file:
        check_equal(file.read(), written.stdout, "deploy/compose.yaml; to write it anew: "
                    "ako compose deploy/cluster.yaml --build . -o deploy/compose.yaml")


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
    check_equal(text.count("--exit-zero"), 3, f"in the comment and for each peer of:\n{text}\n")
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
    check("peers B and b would be one host name" in output, output)
    output = bench.start("compose", file, "--set", "peers.0.name='7'").expect(0, 20)
    check('  "peer-7":' in output and '--peer, "7"' in output, output)
