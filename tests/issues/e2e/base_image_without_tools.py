"""`deploy/base-image` on a machine without mmdebstrap only named a package, and the first
`docker-compose up` after a clone could not find its base. Since then it installs the package as
root or through sudo, and says the whole command where it cannot. The tools are stand-ins here."""

import os
import shutil
import subprocess

from bench import check, check_equal

NEEDED = ("bash", "cat", "env", "head", "mktemp", "rm", "sed", "sort", "touch", "chmod", "cp")
DOCKER = """#!/bin/sh
case $1 in image) exit 1;; import) touch "$PLACE/imported";; esac
"""
APT_GET = """#!/bin/sh
case " $* " in *" install "*" mmdebstrap ")
    cp "$PLACE/debstrap" "$PLACE/bin/mmdebstrap"; chmod +x "$PLACE/bin/mmdebstrap";; esac
"""
NO_APT_GET = """#!/bin/sh
echo "E: Unable to locate package mmdebstrap" >&2
exit 100
"""
SUDO = """#!/bin/sh
[ "$1" = -n ] && shift
exec "$@"
"""


def base_image(bench, name, **programs):
    """Exit status and words of base-image, with these programs beside the needed ones."""
    place = os.path.join(bench.folder, name)
    tools = os.path.join(place, "bin")
    os.makedirs(tools)
    for tool in NEEDED:
        os.symlink(shutil.which(tool), os.path.join(tools, tool))
    for program, text in programs.items():
        path = os.path.join(tools, program.replace("_", "-"))
        with open(path, "w") as file:
            file.write(text)
        os.chmod(path, 0o755)
    with open(os.path.join(place, "debstrap"), "w") as file:
        file.write("#!/bin/sh\n")
    done = subprocess.run([os.path.join(tools, "bash"), bench.source + "/deploy/base-image"],
                          env={"PATH": tools, "PLACE": place}, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)
    return done.returncode, done.stdout, os.path.exists(os.path.join(place, "imported"))


def case_base_image_without_tools(bench):
    status, said, imported = base_image(bench, "installs", docker=DOCKER, apt_get=APT_GET,
                                        sudo=SUDO)
    check_equal((status, imported), (0, True), f"exit status, and an image; it said:\n{said}")
    check("installing the package mmdebstrap, which is missing" in said, said)
    status, said, _ = base_image(bench, "refuses", docker=DOCKER, apt_get=NO_APT_GET, sudo=SUDO)
    check_equal(status, 2, said)
    for text in ("E: Unable to locate package mmdebstrap", "mmdebstrap cannot be installed",
                 "apt-get install --no-install-recommends mmdebstrap"):
        check(text in said, f"{text!r} in:\n{said}")
    status, said, _ = base_image(bench, "no_apt", docker=DOCKER)
    check_equal(status, 2, said)
    check("mmdebstrap is missing, and there is no apt here" in said, said)
