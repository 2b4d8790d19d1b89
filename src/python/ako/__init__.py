"""Ako for a training loop in Python: one peer of a cluster that trains one model together.

    import ako

    with ako.join("cluster.yaml", "b", model, optimizer) as peer:
        loader = DataLoader(train, batch_size=64, sampler=peer.sampler(train))
        for x, y in peer.rounds(loader):      # ends when the budget or the target is reached
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
            peer.loss(loss)
        report = peer.finish()                # the model now holds the agreed parameters

The same program runs on every machine, each with the name of its peer. `model: external` in the
cluster file stands for the program. PyTorch is not needed for models of NumPy arrays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .errors import Error, Interrupted, NoAgreementWarning, NotFinite, StartupError
from .joining import join
from .peer import Peer
from .report import Report, Standing

if TYPE_CHECKING:
    __version__: str  # of libako.so, which is loaded for it

__all__ = ["Error", "Interrupted", "NoAgreementWarning", "NotFinite", "Peer", "Report", "Standing",
           "StartupError", "__version__", "join"]


def __getattr__(name: str) -> str:
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from ._library import version

    return version().split(" ")[0]
