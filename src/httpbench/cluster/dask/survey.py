"""What the load hosts of a cluster are, before a run begins."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from httpbench.cluster.dask.ask import check_versions, read_clocks, read_facts, read_sink_rates
from httpbench.cluster.dask.hosts import connected
from httpbench.cluster.dask.orders import HostFacts


@dataclass(frozen=True, slots=True)
class Surveyed:
    """One load host."""

    name: str
    address: str
    """Of its worker."""
    facts: HostFacts
    round_trip_ms: float
    """Shortest, through the scheduler."""
    sink_rps: float | None
    """Requests/s of one thread to a server on the same host; ``None``: not measured, or that server is not installed."""


def survey(scheduler: str, *, requires_equal: bool = False, measures_rate: bool = False) -> list[Surveyed]:
    """All load hosts of a cluster, by name.

    ``requires_equal``: raises :class:`~httpbench.errors.LoadError` unless each has the versions of this machine. ``measures_rate``: makes
    a short load within each load host.
    """
    return asyncio.run(_survey(scheduler, requires_equal, measures_rate))


async def _survey(scheduler: str, requires_equal: bool, measures_rate: bool) -> list[Surveyed]:
    async with connected(scheduler) as cluster:
        found = await read_facts(cluster)
        if requires_equal:
            check_versions(found)
        clocks = await read_clocks(cluster)
        rates = await read_sink_rates(cluster) if measures_rate else dict.fromkeys(cluster.all)
    return [Surveyed(host.name, host.address, found[host], clocks[host].round_trip_ms, rates[host]) for host in cluster.all]
