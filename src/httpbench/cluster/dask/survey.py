"""Ask all load hosts of a cluster for versions, clocks and speed, and whether they reach this machine."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from httpbench import __version__
from httpbench.cluster.address import cannot_listen, is_here, unreachable
from httpbench.cluster.dask import agent
from httpbench.cluster.dask.credentials import Scheduler
from httpbench.cluster.dask.hosts import DaskHosts, Host, connected
from httpbench.cluster.dask.orders import HostFacts
from httpbench.errors import LostHostError
from httpbench.load import get

READINGS = 8
NS_PER_MS = 1e6
JUMP_MS_MAX = 5.0
"""Maximum shift of a clock during a trial, in ms. A shift counts as a jump if it exceeds this limit plus the error of the readings."""
CALLS_AT_ONCE = 32
CONNECT_S = 5.0
IMPORT_S = 20.0
"""Extra time for the first call into a worker, which imports the agent, in seconds."""


@dataclass(frozen=True, slots=True)
class Offset:
    """The time by which another host's clock is ahead of this machine's clock, and the round trip of the reading that measured it.

    Wall clocks differ between hosts and can be adjusted at any time, so we read each host's monotonic clock over the network. The host
    reads its clock between the request and the response, so the error is at most half the round trip. Of several readings, we use the one
    with the shortest round trip (F. Cristian, "Probabilistic clock synchronization", Distributed Computing 3, 1989).
    """

    ahead_ns: int
    round_trip_ns: int

    @classmethod
    def of(cls, sent_ns: int, there_ns: int, received_ns: int) -> Self:
        """Return the offset from one reading. ``sent_ns`` and ``received_ns`` are times on the clock of this machine."""
        round_trip_ns = received_ns - sent_ns
        return cls(there_ns - (sent_ns + round_trip_ns // 2), round_trip_ns)

    @property
    def round_trip_ms(self) -> float:
        return self.round_trip_ns / NS_PER_MS

    def there(self, here_ns: int) -> int:
        """Convert a time on this machine's clock to the other clock."""
        return here_ns + self.ahead_ns

    def here(self, there_ns: int) -> int:
        """Convert a time on the other clock to this machine's clock."""
        return there_ns - self.ahead_ns

    def jumped_ms(self, later: Offset) -> float | None:
        """Return how far the clock shifted between this reading and ``later``, in ms, or ``None`` if that does not count as a jump."""
        moved_ms = abs(later.ahead_ns - self.ahead_ns) / NS_PER_MS
        error_ms = (self.round_trip_ms + later.round_trip_ms) / 2
        return moved_ms if moved_ms > JUMP_MS_MAX + error_ms else None


@dataclass(frozen=True, slots=True)
class Surveyed:
    """The state of a load host before the run."""

    name: str
    address: str
    """Address of the host's Dask worker."""
    facts: HostFacts
    round_trip_ms: float
    """Shortest round trip through the scheduler, in ms."""
    sink_rps: float | None
    """Throughput of a single-threaded server on the same host, in requests/s. ``None``: not measured, or a program is missing."""

    @property
    def is_here(self) -> bool:
        """Whether the load host is this machine."""
        return is_here(self.address)


def survey(scheduler: Scheduler, *, requires_equal: bool = False, measures_rate: bool = False) -> list[Surveyed]:
    """Survey all load hosts of a cluster; return them sorted by name.

    Args:
        scheduler: The scheduler of the cluster.
        requires_equal: Raise :class:`~httpbench.errors.LoadError` unless each host has the same versions as this machine.
        measures_rate: Run a short load on each host to measure ``sink_rps``.
    """

    async def ask() -> list[Surveyed]:
        async with connected(scheduler) as cluster:
            facts = await read_facts(cluster)
            if requires_equal:
                check_versions(facts)
            clocks = await read_clocks(cluster)
            rates: dict[Host, float | None] = dict.fromkeys(cluster.all)
            if measures_rate:
                rates = await _each(cluster, lambda host: cluster.call(host, agent.sink_rate_rps, limit_s=agent.SINK_LIMIT_S))
        return [Surveyed(host.name, host.address, facts[host], clocks[host].round_trip_ms, rates[host]) for host in cluster.all]

    return asyncio.run(ask())


def require_reach(scheduler: Scheduler, address: str, port: int | None) -> None:
    """Raise :class:`~httpbench.errors.UsageError` unless each load host can connect to ``address`` on this machine.

    ``port`` is the port of the targets, if the user chose one.
    """

    async def ask() -> None:
        async with connected(scheduler) as cluster:
            try:
                server = await asyncio.start_server(lambda _, writer: writer.close(), address, port or 0)
            except OSError as error:
                raise cannot_listen(address, error) from None
            async with server:
                listened = server.sockets[0].getsockname()[1]
                found = await _each(
                    cluster, lambda host: cluster.call(host, agent.connects, address, listened, CONNECT_S, limit_s=CONNECT_S)
                )
        for host, reason in found.items():
            if reason is not None:
                raise unreachable(host.name, address, listened, str(reason))

    asyncio.run(ask())


async def read_facts(cluster: DaskHosts) -> dict[Host, HostFacts]:
    """Return the CPU count and the versions of each load host."""
    return await _each(cluster, lambda host: cluster.call(host, agent.facts, limit_s=IMPORT_S))


async def read_clocks(cluster: DaskHosts) -> dict[Host, Offset]:
    """Return how far the clock of each load host is ahead of this machine's clock."""

    async def best(host: Host) -> Offset:
        return min([await reading(host) for _ in range(READINGS)], key=lambda offset: offset.round_trip_ns)

    async def reading(host: Host) -> Offset:
        sent_ns = time.monotonic_ns()
        there_ns = await cluster.call(host, agent.clock_ns)
        return Offset.of(sent_ns, there_ns, time.monotonic_ns())

    return await _each(cluster, best)


def check_versions(facts: Mapping[Host, HostFacts]) -> None:
    """Raise :class:`LostHostError` unless each load host has the same versions as this machine."""
    ours = get("native").version()
    for host, fact in facts.items():
        if fact.loadgen is None:
            raise LostHostError(f"load host {host.name} lacks httpbench-loadgen", hint="build it there, or set HTTPBENCH_PROGRAMS")
        for program, there, here in (("httpbench", fact.httpbench, __version__), ("httpbench-loadgen", fact.loadgen, ours)):
            if there != here:
                raise LostHostError(
                    f"load host {host.name} has {program} {there}, but this machine has {here}", hint="install the same version on both"
                )


def check_clocks(before: Mapping[Host, Offset], after: Mapping[Host, Offset]) -> None:
    """Raise :class:`LostHostError` if a host's clock jumped. Such a host didn't measure the same window as the others."""
    for host, offset_before in before.items():
        if (moved_ms := offset_before.jumped_ms(after[host])) is not None:
            raise LostHostError(f"the clock of load host {host.name} jumped by {moved_ms:.0f} ms during the trial")


async def _each(cluster: DaskHosts, ask: Callable[[Host], Awaitable[Any]]) -> dict[Host, Any]:
    """Ask every load host, but only a few at once, because time in a long queue would count as part of a round trip."""
    places = asyncio.Semaphore(CALLS_AT_ONCE)

    async def one(host: Host) -> Any:
        async with places:
            return await ask(host)

    return dict(zip(cluster.all, await asyncio.gather(*map(one, cluster.all)), strict=True))
