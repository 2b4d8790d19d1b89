"""The control groups of deploy/testbed on a pretended hierarchy: which words it writes to which
files of cgroup v2 and v1, which of the two it takes, and what it says where there is neither. The
files are plain ones in a temporary folder, so this needs no root, and says nothing of what a kernel
does with such words; testbed_test.py asks that of the machine it runs on.

    cpu_groups_test.py --source REPOSITORY
"""

import argparse
import errno
import importlib.machinery
import importlib.util
import os
import pathlib
import sys
import tempfile
from types import SimpleNamespace
from unittest import mock

from bench import check, check_equal

NAME = "pretended"


def load(path):
    """A program without .py as a module; nothing compiled is left beside it."""
    sys.dont_write_bytecode = True
    loader = importlib.machinery.SourceFileLoader("testbed", str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("testbed", loader))
    loader.exec_module(module)
    return module


def unified(root, controllers="cpuset cpu io memory pids", passed_on="memory pids"):
    """The root of a hierarchy of v2, as far as the testbed looks at it."""
    (root / "cgroup.controllers").write_text(f"{controllers}\n")
    (root / "cgroup.subtree_control").write_text(f"{passed_on}\n")


real_mkdir, real_rmdir = pathlib.Path.mkdir, pathlib.Path.rmdir


def kernel_mkdir(group, *words, **more):
    """As in the kernel a group begins with its files; of v2 here only the one that is read."""
    made = not group.exists()
    real_mkdir(group, *words, **more)
    if made and (group.parent / "cgroup.subtree_control").exists():
        (group / "cgroup.subtree_control").touch()


def kernel_rmdir(group):
    """As in the kernel a group's own files do not keep it, but groups in it do."""
    if not any(inner.is_dir() for inner in group.iterdir()):
        for file in group.iterdir():
            file.unlink()
    real_rmdir(group)


def found(group):
    """The words in the files of a group."""
    return {file.name: file.read_text().strip() for file in group.iterdir() if file.is_file()}


def enter(testbed, peer):
    """`exec` up to the point where it becomes the command."""
    arguments = SimpleNamespace(name=NAME, peer=peer, command=["true"])
    with mock.patch.object(testbed, "namespaces", lambda name: [f"ako-{name}-{peer}"]), \
            mock.patch.object(os, "execvp") as became:
        testbed.execute(arguments)
    check(became.called, "exec became no command")


def down(testbed):
    with mock.patch.object(testbed, "namespaces", lambda name: []):
        testbed.down(SimpleNamespace(name=NAME))


def skipped(testbed, peer=1):
    """Why there are no limits."""
    try:
        testbed.limit_cpu(NAME, peer, 0.25)
    except testbed.Skipped as why:
        return str(why)
    return "not skipped"


def version_2(testbed, root):
    unified(root)
    testbed.limit_cpu(NAME, 1, 0.25)
    testbed.limit_cpu(NAME, 12, 1.5)
    enter(testbed, 12)
    top = root / f"ako-{NAME}"
    check_equal((root / "cgroup.subtree_control").read_text(), "+cpu", "asked of the root")
    check_equal(found(top), {"cgroup.subtree_control": "+cpu"}, "the group between")
    files = {"cgroup.subtree_control": ""}
    check_equal(found(top / "1"), {**files, "cpu.max": "2500 10000"}, "peer 1")
    check_equal(found(top / "12"), {**files, "cpu.max": "15000 10000",
                                    "cgroup.procs": str(os.getpid())}, "peer 12")
    check_equal([testbed.cpus_of(NAME, peer) for peer in (1, 12, 2)], [0.25, 1.5, None], "status")
    others = [root / f"ako-{NAME}x", root / f"ako-{NAME}-1", root / "system.slice"]
    for group in others:
        group.mkdir()
    down(testbed)
    check(not top.exists() and all(group.exists() for group in others), "the groups after down")
    down(testbed)


def version_2_passed_on_already(testbed, root):
    """What is enabled already is not asked for again."""
    unified(root, passed_on="cpu memory")
    testbed.limit_cpu(NAME, 1, 0.1)
    check_equal((root / "cgroup.subtree_control").read_text(), "cpu memory\n", "the root's")


def version_1(testbed, root):
    """Also where v2 is there without the controller, which v1 has then."""
    unified(root, controllers="hugetlb")
    real_mkdir(root / "cpu")
    testbed.limit_cpu(NAME, 3, 0.25)
    enter(testbed, 3)
    group = root / "cpu" / f"ako-{NAME}-3"
    check_equal(found(group), {"cpu.cfs_period_us": "10000", "cpu.cfs_quota_us": "2500",
                               "cgroup.procs": str(os.getpid())}, "peer 3")
    check_equal(testbed.cpus_of(NAME, 3), 0.25, "status")
    down(testbed)
    check_equal(list((root / "cpu").iterdir()), [], "the groups after down")


def neither(testbed, root):
    unified(root, controllers="cpuset memory pids")
    why = skipped(testbed)
    for words in ("needs the cpu controller of cgroup v2 or v1", f"{root}/cgroup.controllers",
                  f"{root}/cpu"):
        check(words in why, why)
    check_equal(testbed.cpus_of(NAME, 1), None, "status")
    down(testbed)  # has nothing to do, and does not mind


def refused(testbed, root):
    """What the kernel says to a word that it refuses, and for which file."""
    unified(root)
    busy = OSError(errno.EBUSY, os.strerror(errno.EBUSY))  # as of a write, without a name
    with mock.patch.object(pathlib.Path, "write_text", side_effect=busy):
        why = skipped(testbed)
    check("no CPU limits: " in why and f"'{root}/cgroup.subtree_control'" in why, why)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", required=True, type=pathlib.Path)
    testbed = load(parser.parse_args().source / "deploy/testbed")
    for case in (version_2, version_2_passed_on_already, version_1, neither, refused):
        with tempfile.TemporaryDirectory() as folder, \
                mock.patch.object(testbed, "CONTROL_GROUPS", pathlib.Path(folder)), \
                mock.patch.object(pathlib.Path, "mkdir", kernel_mkdir), \
                mock.patch.object(pathlib.Path, "rmdir", kernel_rmdir):
            case(testbed, pathlib.Path(folder))
    print("ok: cpu_groups")


if __name__ == "__main__":
    main()
