"""Tests that slices on many load hosts start at a common time, although the clocks of the hosts differ and drift."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, cast

import pytest

from httpbench.cluster.dask import agent, conductor
from httpbench.cluster.dask.conductor import Slices
from httpbench.cluster.dask.hosts import DaskHosts, Host
from httpbench.cluster.dask.survey import Offset
from httpbench.errors import LostHostError
from httpbench.load import SliceReport
from httpbench.model import Load

HOSTS = (Host("load1", "tcp://10.0.0.1:4"), Host("load2", "tcp://10.0.0.2:4"))
MS = 1_000_000
AHEAD_NS = {HOSTS[0]: 0, HOSTS[1]: 5_000 * MS}
"""How far the clock of each load host is ahead of this machine's clock."""


class Cluster:
    """Load hosts that carry out every slice at once. The second one starts ``late_ns`` too late, and its clock shifts by ``shift_ns``."""

    all = HOSTS

    def __init__(self, late_ns: int = 0, shift_ns: int = 0):
        self.late_ns = {HOSTS[0]: 0, HOSTS[1]: late_ns}
        self.shift_ns = {HOSTS[0]: 0, HOSTS[1]: shift_ns}
        self.orders: list[str] = []

    async def call(self, host: Host, function: Callable[..., Any], *words: Any, limit_s: float = 0.0) -> Any:
        if function is agent.clock_ns:
            return agent.clock_ns() + AHEAD_NS[host] + self.shift_ns[host]
        if function is agent.order:
            return self.orders.append(f"{host.name} {words[1]}")
        line, at_ns = words[1].split(" at ")
        self.orders.append(f"{host.name} {line}")
        start_ns = int(at_ns) + self.late_ns[host]
        return SliceReport(duration_s=0.25, completed=10, outside=1, throughput_rps=40.0, drain_us=100.0, start_ns=start_ns)


def conducted(cluster: Cluster, monkeypatch: pytest.MonkeyPatch, *lines: str) -> Slices:
    """Conduct slices with these lines on standard input."""

    async def conduct() -> Slices:
        reader = asyncio.StreamReader()
        reader.feed_data("".join(f"{line}\n" for line in lines).encode())
        reader.feed_eof()

        async def standard_input() -> asyncio.StreamReader:
            return reader

        monkeypatch.setattr(conductor, "_standard_input", standard_input)
        offsets = {host: Offset(ahead_ns, MS) for host, ahead_ns in AHEAD_NS.items()}
        slices = Slices(cast("DaskHosts", cluster), offsets, "token", Load())
        await slices.conduct()
        return slices

    return asyncio.run(conduct())


def test_all_hosts_start_at_the_same_time(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    cluster = Cluster()
    slices = conducted(cluster, monkeypatch, "slice 30 250", "drop", "end")
    assert sorted(cluster.orders) == [f"{name} {line}" for name in ("load1", "load2") for line in ("drop", "end", "slice 30 250")]
    assert set(slices.late_ms.values()) == {0.0}, "the common time was converted to the clock of each host"
    ready, report = capsys.readouterr().err.splitlines()
    assert "ready" in ready and '"completed": 20' in report and '"throughput_rps": 80.0' in report


def test_a_host_that_starts_late_is_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    slices = conducted(Cluster(late_ns=7 * MS), monkeypatch, "slice 30 250", "end")
    assert slices.late_ms == {HOSTS[0]: 0.0, HOSTS[1]: 7.0}


def test_clocks_that_drift_are_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conductor, "CLOCKS_S", 0.0)
    slices = conducted(Cluster(shift_ns=3 * MS), monkeypatch, "slice 30 250", "end")
    assert slices.offsets[HOSTS[1]].ahead_ns == pytest.approx(AHEAD_NS[HOSTS[1]] + 3 * MS, abs=MS)
    with pytest.raises(LostHostError, match="the clock of load host load2 jumped by"):
        conducted(Cluster(shift_ns=300 * MS), monkeypatch, "slice 30 250", "end")
