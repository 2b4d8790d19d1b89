"""What the tests of the package share: cluster files, free ports, a library, and waiting."""

import contextlib
import os
import pathlib
import shutil
import socket
import sys
import tempfile
import unittest
from unittest import mock

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parents[1] / "src" / "python"
PROGRAMS = HERE / "programs"
if str(SOURCE) not in sys.path:
    sys.path.insert(0, str(SOURCE))

from ako import _library  # noqa: E402  (the path must be set before)
from fake_library import FakeLibrary  # noqa: E402

try:
    import torch
except ImportError:
    torch = None

needs_torch = unittest.skipIf(torch is None, "no PyTorch")
HAS_LIBRARY = bool(os.environ.get("AKO_LIBRARY"))


def free_ports(count):
    """Ports of 127.0.0.1 that nobody listens on now. Below those that the system gives to who
    dials, so that no dialling process takes one meanwhile."""
    with open("/proc/sys/net/ipv4/ip_local_port_range", encoding="ascii") as file:
        end = int(file.read().split()[0])
    ports, candidate = [], end - 1 - os.getpid() % 8000
    while len(ports) < count:
        candidate = candidate - 1 if candidate > 2000 else end - 1
        with contextlib.closing(socket.socket()) as probe:
            try:
                probe.bind(("127.0.0.1", candidate))
            except OSError:
                continue
        ports.append(candidate)
    return ports


def write_cluster(folder, names, epochs=1.0, training="", exchange="", start_wait_s=60):
    """A cluster file of peers on this machine, with a model that is external; its path."""
    peers = "".join(f"  - {{name: {name}, address: 127.0.0.1:{port}}}\n"
                    for name, port in zip(names, free_ports(len(names))))
    path = os.path.join(folder, "cluster.yaml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"run: test\nmodel: external\ntraining: {{epochs: {epochs}{training}}}\n"
                   f"exchange: {{start_wait_s: {start_wait_s}, leave_timeout_s: 12.5{exchange}}}\n"
                   f"output: {os.path.join(folder, 'runs')}\npeers:\n{peers}")
    return path


class Case(unittest.TestCase):
    """A test with a folder of its own."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="ako-python-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)


class FakeCase(Case):
    """A test with a cluster file of one peer, a, and the library as an object of Python."""

    epochs = 1.0

    def setUp(self):
        super().setUp()
        self.file = write_cluster(self.folder, ["a"], epochs=self.epochs)
        self.library = FakeLibrary()
        patch = mock.patch.object(_library, "load", lambda: self.library)
        patch.start()
        self.addCleanup(patch.stop)


class LibraryCase(Case):
    """The same with the real library where AKO_LIBRARY is set, else with the fake one."""

    epochs = 1.0

    def setUp(self):
        super().setUp()
        self.file = write_cluster(self.folder, ["a"], epochs=self.epochs)
        self.library = None if HAS_LIBRARY else FakeLibrary()
        if self.library is not None:
            patch = mock.patch.object(_library, "load", lambda: self.library)
            patch.start()
            self.addCleanup(patch.stop)
