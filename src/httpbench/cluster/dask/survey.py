"""What the load hosts of a cluster are, before a run begins."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from httpbench.cluster.dask.ask import check_reach, check_versions, read_clocks, read_facts, read_sink_rates
from httpbench.cluster.dask.hosts import connected
from httpbench.cluster.dask.orders import HostFacts
from httpbench.cluster.dask.reach import is_here


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

    @property
    def is_here(self) -> bool:
        """Whether it is this machine."""
        return is_here(self.address)


def survey(scheduler: str, *, requires_equal: bool = False, measures_rate: bool = False) -> list[Surveyed]:
    """All load hosts of a cluster, by name.

    ``requires_equal``: raises :class:`~httpbench.errors.LoadError` unless each has the versions of this machine. ``measures_rate``: makes
    a short load within each load host.
    """
    return asyncio.run(_survey(scheduler, requires_equal, measures_rate))


def require_reach(scheduler: str, address: str, port: int | None) -> None:
    """Raises :class:`~httpbench.errors.UsageError` unless each load host can connect to this machine at the address.

    ``port``: of the targets, if one was chosen.
    """
    asyncio.run(_require_reach(scheduler, address, port))


async def _require_reach(scheduler: str, address: str, port: int | None) -> None:
    async with connected(scheduler) as cluster:
        await check_reach(cluster, address, port)


async def _survey(scheduler: str, requires_equal: bool, measures_rate: bool) -> list[Surveyed]:
    async with connected(scheduler) as cluster:
        found = await read_facts(cluster)
        if requires_equal:
            check_versions(found)
        clocks = await read_clocks(cluster)
        rates = await read_sink_rates(cluster) if measures_rate else dict.fromkeys(cluster.all)
    return [Surveyed(host.name, host.address, found[host], clocks[host].round_trip_ms, rates[host]) for host in cluster.all]
