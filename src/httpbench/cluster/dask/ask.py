"""Asks all load hosts at once: what they are, and what their clocks say."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from typing import Any

from httpbench import __version__
from httpbench.cluster.dask import agent, sink
from httpbench.cluster.dask.clocks import Offset, Reading, offset
from httpbench.cluster.dask.hosts import DaskHosts, Host
from httpbench.cluster.dask.orders import HostFacts
from httpbench.errors import LostHostError, UsageError
from httpbench.load import get

READINGS = 8
CALLS_AT_ONCE = 32
CONNECT_S = 5.0
IMPORT_S = 20.0
"""For the first call into a worker, which imports what an agent requires."""


async def read_facts(cluster: DaskHosts) -> dict[Host, HostFacts]:
    """What each load host is."""

    async def one(host: Host) -> HostFacts:
        facts = await cluster.call(host, agent.facts, limit_s=IMPORT_S)
        assert isinstance(facts, HostFacts)
        return facts

    return await _each(cluster, one)


async def read_sink_rates(cluster: DaskHosts) -> dict[Host, float | None]:
    """Requests/s that each load host can make, as far as its loopback shows; ``None``: unknown."""

    async def one(host: Host) -> float | None:
        found = await cluster.call(host, sink.sink_rate_rps, limit_s=sink.LIMIT_S)
        return None if found is None else float(found)

    return await _each(cluster, one)


async def check_reach(cluster: DaskHosts, address: str, port: int | None) -> None:
    """Raises :class:`UsageError` unless each load host can connect to this machine at the address, on ``port`` if one is given."""
    try:
        server = await asyncio.start_server(lambda _, writer: writer.close(), address, port or 0)
    except OSError as error:
        raise UsageError(f"cannot listen on {address}: {error.strerror}", hint="--host names an address of this machine") from None

    async def one(host: Host) -> str | None:
        reason = await cluster.call(host, agent.connects, address, listened, CONNECT_S, limit_s=CONNECT_S)
        return None if reason is None else str(reason)

    async with server:
        listened = server.sockets[0].getsockname()[1]
        found = await _each(cluster, one)
    for host, reason in found.items():
        if reason is not None:
            raise UsageError(
                f"load host {host.name} does not reach this machine at {address}, port {listened}: {reason}",
                hint="name another address with --host, or allow the port, which --port sets, in the firewall",
            )


async def read_clocks(cluster: DaskHosts) -> dict[Host, Offset]:
    """How far each clock is ahead of this machine's."""

    async def one(host: Host) -> Offset:
        return offset([await reading(host) for _ in range(READINGS)])

    async def reading(host: Host) -> Reading:
        sent_ns = time.monotonic_ns()
        there_ns = await cluster.call(host, agent.clock_ns)
        return Reading(sent_ns, there_ns, time.monotonic_ns())

    return await _each(cluster, one)


def check_versions(facts: Mapping[Host, HostFacts]) -> None:
    """Raises :class:`LostHostError` unless each load host has our version, and the load generator of this machine."""
    ours = get("native").version()
    for host, fact in facts.items():
        if fact.loadgen is None:
            raise LostHostError(f"load host {host.name} lacks httpbench-loadgen", hint="build it there, or set HTTPBENCH_PROGRAMS")
        for program, there, here in (("httpbench", fact.httpbench, __version__), ("httpbench-loadgen", fact.loadgen, ours)):
            if there != here:
                raise LostHostError(f"load host {host.name} has {program} {there}, this machine {here}", hint="install the same version")


def check_clocks(before: Mapping[Host, Offset], after: Mapping[Host, Offset]) -> None:
    """Raises :class:`LostHostError` if a clock jumped: its window was not that of the others."""
    for host, offset_before in before.items():
        if (moved_ms := offset_before.jumped_ms(after[host])) is not None:
            raise LostHostError(f"the clock of load host {host.name} jumped by {moved_ms:.0f} ms during the trial")


async def _each(cluster: DaskHosts, function: Callable[[Host], Any]) -> dict[Host, Any]:
    """What an asynchronous function returns for each load host. Few at once: a long queue would count as round trip."""
    places = asyncio.Semaphore(CALLS_AT_ONCE)

    async def one(host: Host) -> Any:
        async with places:
            return await function(host)

    return dict(zip(cluster.all, await asyncio.gather(*map(one, cluster.all)), strict=True))
