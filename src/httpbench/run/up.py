"""Start one target and keep it running, for a load from somewhere else."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from httpbench.model import Kind, Scaling, Target, Workload
from httpbench.run.database.running import started
from httpbench.run.proxy.trial import started_backend
from httpbench.run.rounds.interrupt import interruptible
from httpbench.run.trial.inputs import Upstream
from httpbench.run.trial.start import RunningTarget, StartContext, start
from httpbench.sample import Current, TreeSampler


@dataclass(frozen=True, slots=True)
class Up:
    """A target that runs and is sampled."""

    running: RunningTarget
    sampler: TreeSampler

    def current(self) -> Current:
        return self.sampler.current()


@contextmanager
def up(target: Target, scaling: Scaling, workload: Workload, place: StartContext, backend: Upstream | None = None) -> Iterator[Up]:
    """Run the target until the block ends: a proxy with its backend, a server with its database. ``place.scratch`` must be an empty folder.

    SIGTERM and SIGHUP end the block like Ctrl-C. Raises :class:`~httpbench.errors.HttpbenchError` if the target doesn't start or stop.
    """
    with interruptible():
        if target.kind is not Kind.PROXY:
            with _beside_database(target, place, backend) as beside, _watched(target, scaling, workload, beside) as watched:
                yield watched
            return
        assert backend is not None, "a proxy runs in front of a backend"
        with tempfile.TemporaryDirectory(prefix="httpbench-") as behind, started_backend(backend, workload, Path(behind)) as server:
            relaying = replace(place, backend=(server.host, server.port))
            with _watched(target, scaling, workload, relaying) as watched:
                yield watched


@contextmanager
def _beside_database(target: Target, place: StartContext, database: Upstream | None) -> Iterator[StartContext]:
    """Return the server's place with its database, if it has one, which runs until the block ends."""
    if database is None:
        yield place
        return
    is_foreign = target.entry is not None
    with (
        tempfile.TemporaryDirectory(prefix="httpbench-") as behind,
        started(database, Path(behind), port_is_fixed=is_foreign) as running,
    ):
        yield replace(place, database=running.reachable)


@contextmanager
def _watched(target: Target, scaling: Scaling, workload: Workload, place: StartContext) -> Iterator[Up]:
    with start(target, scaling, workload, place) as running:
        sampler = running.sampler()
        assert isinstance(sampler, TreeSampler), "the harness has started it on this machine"
        sampler.start()
        try:
            yield Up(running, sampler)
        finally:
            sampler.stop()
            running.stop()
