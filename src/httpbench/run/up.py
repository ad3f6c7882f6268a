"""Start one target and keep it running, so that another program can send load to it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace

from httpbench.host.scratch import scratch_folder
from httpbench.model import Kind, Scaling, Target, Workload
from httpbench.run.database.running import started
from httpbench.run.interrupt import interruptible
from httpbench.run.proxy.backend import started_backend
from httpbench.run.trial.context import StartContext
from httpbench.run.trial.inputs import Upstream
from httpbench.run.trial.running import RunningTarget
from httpbench.run.trial.start import start
from httpbench.sample import TreeSampler


@dataclass(frozen=True, slots=True)
class Up:
    """A running target and its sampler."""

    running: RunningTarget
    sampler: TreeSampler


@contextmanager
def up(target: Target, scaling: Scaling, workload: Workload, place: StartContext, upstream: Upstream | None = None) -> Iterator[Up]:
    """Run the target until the block ends, with the backend of a proxy or the database of a server.

    ``place.scratch`` must be an empty folder. SIGTERM and SIGHUP end the block in the same way as Ctrl-C. Raises
    :class:`~httpbench.errors.HttpbenchError` if the target doesn't start or stop.
    """
    with interruptible(), ExitStack() as stack:
        if upstream is not None:
            behind = stack.enter_context(scratch_folder())
            if target.kind is Kind.PROXY:
                server = stack.enter_context(started_backend(upstream, workload, behind))
                place = replace(place, backend=(server.host, server.port))
            else:
                database = stack.enter_context(started(upstream, behind, port_is_fixed=target.entry is not None))
                place = replace(place, database=database.reachable)
        running = stack.enter_context(start(target, scaling, workload, place))
        sampler = running.sampler()
        assert isinstance(sampler, TreeSampler), "the harness has started it on this machine"
        sampler.start()
        try:
            yield Up(running, sampler)
        finally:
            sampler.stop()
            running.stop()
