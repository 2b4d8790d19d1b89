"""The Debian package: made from the build that is there, and installed in a fresh container that
has Debian's base, what the package depends on, and no network. Python's standard library only.

    package_test.py --ako BUILD/ako --source REPOSITORY

Exits 77 and says why where there is no engine or no base image.
"""

import argparse
import os
import re
import shutil
import sys
import tempfile

from bench import Failure, check, check_equal
from engine import SKIPPED, Skip, prepare, replace_image, run

IMAGE = "ako-test-depends"
# The layer with what a package depends on stays for the next time, as long as that is the same.
DOCKERFILE = """FROM debian:bookworm-slim
RUN apt-get update -qq \\
    && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends {packages} \\
    && rm -rf /var/lib/apt/lists/* /var/cache/apt/*
"""
# As a user would: installs, looks, trains as the user of the service, and removes it again.
IN_THE_CONTAINER = """set -e
apt-get install -y -qq /package/ako.deb
ako --version
dpkg --verify ako
ls -l /usr/bin/ako-over-ssh /usr/lib/systemd/system/ako@.service /usr/share/doc/ako/copyright \\
    /usr/share/ako/python/ako/explore/__main__.py
cd /tmp
runuser -u ako -- ako launch /mnist/cluster.yaml --set model=mlp --set training.epochs=0.1 \\
    --set output=/tmp/runs
touch /etc/ako/cluster.yaml
# A systemd that fails at everything, and says what it was asked while the program was there.
mkdir -p /run/systemd/system
printf '#!/bin/sh\\necho "$*" $(ls /usr/bin/ako) >> /tmp/asked\\nexit 1\\n' > /usr/bin/systemctl
chmod +x /usr/bin/systemctl
dpkg -i /package/ako.deb
if grep stop /tmp/asked; then echo stopped by an upgrade; exit 1; fi
apt-get purge -y -qq ako
grep -Fx 'stop ako@*.service /usr/bin/ako' /tmp/asked
rm /usr/bin/systemctl
ls /etc/ako/cluster.yaml
rm /etc/ako/cluster.yaml
apt-get install -y -qq /package/ako.deb
apt-get purge -y -qq ako
if [ -e /usr/bin/ako ] || [ -e /etc/ako ]; then echo left behind; exit 1; fi
"""


def make_package(ako, folder):
    """ako.deb in this folder, from the build that the program lies in."""
    run("cpack", "--config", os.path.join(os.path.dirname(ako), "CPackConfig.cmake"), "-B", folder)
    package = os.path.join(folder, "ako.deb")
    check(os.path.exists(package), f"{package} is made")
    shutil.rmtree(os.path.join(folder, "_CPack_Packages"))
    return package


def field(package, name):
    return run("dpkg-deb", "-f", package, name).strip()


def make_image(package, folder, name=IMAGE, beside="", more=""):
    """The base with what the package depends on, and `beside` that; not the package itself."""
    depends = [choice.split("|")[0].split("(")[0].strip()
               for choice in field(package, "Depends").split(",")]
    context = os.path.join(folder, name)
    os.mkdir(context)
    with open(os.path.join(context, "Dockerfile"), "w") as file:
        file.write(DOCKERFILE.format(packages=" ".join(sorted(depends))))
        if beside:
            file.write(DOCKERFILE.format(packages=beside).split("\n", 1)[1])
        file.write(more)
    replace_image(name, context)


def check_version(package, said):
    """The package has the version and the commit that the program says."""
    found = re.fullmatch(r"ako (\S+) \((\S+)\)", said)
    check(found, f"what --version says: {said}")
    version, commit = found.groups()
    of_package = field(package, "Version")
    pattern = (rf"{re.escape(version)}\+git\d{{8}}\.\d{{6}}\.{commit.replace('-', '.')}"
               if commit != "unknown" else re.escape(version))
    check(re.fullmatch(pattern, of_package), f"version {of_package} of the package, {said}")


def check_unit(ako, source, folder):
    """systemd finds nothing wrong with the unit, where there is a systemd to ask."""
    if not shutil.which("systemd-analyze"):
        return "the unit is not checked: no systemd here"
    with open(os.path.join(source, "deploy", "ako@.service")) as file:
        unit = file.read()
    check("ExecStart=/usr/bin/ako train" in unit, "what the unit starts")
    with open(os.path.join(folder, "ako@.service"), "w") as file:
        file.write(unit.replace("/usr/bin/ako", ako))
    said = run("systemd-analyze", "verify", "--man=no", os.path.join(folder, "ako@a.service"))
    check_equal([line for line in said.split("\n") if "ako@" in line], [], "of the unit")
    return "the unit is right"


def test(ako, source, folder):
    print(check_unit(ako, source, folder), flush=True)
    prepare(source)
    package = make_package(ako, folder)
    said = run(ako, "--version").strip()
    check_version(package, said)
    make_image(package, folder)
    os.chmod(folder, 0o755)
    output = run("docker", "run", "--rm", "--network", "none", "-v", f"{folder}:/package:ro", "-v",
                 f"{source}/experiments/mnist:/mnist:ro", IMAGE, "sh", "-c", IN_THE_CONTAINER)
    check(said in output.split("\n"), f"{said!r} in:\n{output}")
    check("replicas identical: yes" in output, output)
    print(f"{os.path.getsize(package) / 1e6:.1f} MB, {field(package, 'Version')}, depends on "
          f"{field(package, 'Depends')}")


def main(test_this, what):
    parser = argparse.ArgumentParser(description=what.split("\n")[0])
    parser.add_argument("--ako", required=True)
    parser.add_argument("--source", required=True)
    words = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="ako-package-")
    try:
        test_this(os.path.abspath(words.ako), os.path.abspath(words.source), folder)
        return 0
    except Skip as why:
        print(f"skipped: {why}")
        return SKIPPED
    except Failure as failure:
        print(f"FAILED: {failure}")
        return 1
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    sys.exit(main(test, __doc__))
