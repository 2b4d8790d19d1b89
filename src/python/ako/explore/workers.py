"""Dask's scheduler and workers: of this machine, or of whoever started some.

A worker of one's own is `dask worker ADDRESS --nthreads N --resources slots=N`, started by Slurm,
ssh, Compose or Kubernetes, where the store's folder and this package are seen.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import Any

from .plan import PlanError

START_S = 60


def import_dask() -> Any:
    try:
        import dask
        import distributed
    except ImportError:
        raise PlanError("ako explore needs Dask: apt install python3-distributed, or pip install "
                        "distributed") from None
    # A lost worker is nobody's fault: its stage is given to another one as often as it takes.
    dask.config.set({"distributed.scheduler.allowed-failures": 1000,
                     "distributed.scheduler.work-stealing": False,
                     "distributed.worker.profile.enabled": False,
                     "distributed.worker.profile.interval": "10s"})
    return distributed


@contextlib.contextmanager
def client_of(scheduler: str | None, slots: int, at_once: int, dashboard: str) -> Iterator[Any]:
    """`at_once`: slots that the largest trial takes, and each worker here has."""
    distributed = import_dask()
    with contextlib.ExitStack() as stack:
        if scheduler:
            try:
                client = stack.enter_context(distributed.Client(scheduler, timeout=START_S))
                client.wait_for_workers(1, timeout=START_S)
            except (OSError, TimeoutError, ValueError) as error:
                raise PlanError(f"--scheduler {scheduler}: {error}; it needs workers as well: dask "
                                f"worker {scheduler} --resources slots=N") from None
            largest = max(int(worker.get("resources", {}).get("slots", 0))
                          for worker in client.scheduler_info()["workers"].values())
            if largest < at_once:
                raise PlanError(f"--scheduler {scheduler}: a trial takes {at_once} slots, and its "
                                f"largest worker has {largest} (dask worker --resources slots=N)")
        else:
            cluster = stack.enter_context(distributed.LocalCluster(
                n_workers=max(1, slots // at_once), threads_per_worker=at_once, memory_limit=0,
                resources={"slots": at_once}, dashboard_address=dashboard or None,
                silence_logs="CRITICAL", local_directory=os.environ.get("TMPDIR", "/tmp")))
            client = stack.enter_context(distributed.Client(cluster))
        yield client
