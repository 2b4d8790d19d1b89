"""What the tests of a Peer with a fake library share."""

import numpy as np

import ako
import bench


class Descent:
    """Subtracts 1 of every parameter."""

    def __init__(self):
        self.peer = None

    def step(self):
        for view in self.peer.parameters.values():
            view -= 1


def arrays():
    return {"w": np.zeros((2, 3), dtype=np.float32), "b": np.zeros(2, dtype=np.float32)}


class PeerCase(bench.FakeCase):
    def join(self, optimizer=None, **options):
        peer = ako.join(self.file, "a", arrays(), optimizer, **options)
        self.addCleanup(peer.close)
        if isinstance(optimizer, Descent):
            optimizer.peer = peer
        return peer
