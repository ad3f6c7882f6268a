"""Tests of findings about a load host and the network, on both sides of each threshold."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from httpbench.cluster import findings
from httpbench.cluster.findings import findings_of
from httpbench.cluster.ssh_host import SshLoadHost
from httpbench.host import Finding
from httpbench.isolate.ssh import SshConnection
from httpbench.model import RoundTrips
from tests.factories import make_load_host

ROUTE = "192.0.2.1 from 192.0.2.7 via 192.0.2.9 dev eth7 uid 0"


class There:
    """A connection to a host on which ``ethtool`` prints the given text. The text is empty if ``ethtool`` isn't installed."""

    def __init__(self, printed: str = ""):
        self._printed = printed

    def ask(self, _: object) -> dict[str, Any]:
        return {"printed": [{"code": 0 if self._printed else None, "stdout": self._printed, "stderr": ""}]}


def found(files: dict[str, str] | None = None, ethtool: str = "", **changes: Any) -> dict[str, Finding]:
    """Return the findings by name. This machine's network device is loopback, whose MTU is 65,536 bytes."""
    seen = {"files": files or {}, "printed": [{"code": 0, "stdout": ROUTE, "stderr": ""}]}
    load_host = make_load_host(**{"address": "127.0.0.1", **changes})
    return {
        finding.name: finding
        for finding in findings_of(SshLoadHost(cast("SshConnection", There(ethtool)), load_host, {}, seen, "192.0.2.7"))
    }


@pytest.mark.parametrize(
    ("min_us", "p50_us", "severity"),
    [(100.0, 150.0, "ok"), (100.0, 151.0, "warning"), (10_000.0, 12_400.0, "ok"), (10_000.0, 12_600.0, "warning")],
)
def test_round_trips_may_vary_a_little(min_us: float, p50_us: float, severity: str) -> None:
    trips = RoundTrips(count=50, min_us=min_us, p50_us=p50_us, max_us=99_000.0)
    assert found(round_trips=trips)["load1: round-trips"].severity == severity


@pytest.mark.parametrize(("mtu", "severity"), [("65536", "ok"), ("1500", "warning")])
def test_both_ends_of_a_link_should_have_the_same_mtu(mtu: str, severity: str) -> None:
    assert found({"/sys/class/net/eth7/mtu": mtu})["load1: mtu"].severity == severity


@pytest.mark.parametrize(("speed", "severity"), [("1000", "ok"), ("100", "note"), ("-1", None)])
def test_a_slow_link_is_noted_unless_it_is_virtual(speed: str, severity: str | None) -> None:
    finding = found({"/sys/class/net/eth7/speed": speed}).get("load1: link-speed")
    assert (finding.severity if finding else None) == severity


def test_the_slower_end_determines_the_speed_of_a_link(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(findings, "read_int", lambda path: 100 if path == Path("/sys/class/net/lo/speed") else 10_000)
    finding = found()["load1: link-speed"]
    assert finding.severity == "note"
    assert finding.what == "eth7 there has 10,000 Mbit/s, lo here has 100 Mbit/s"
    assert "at most 12 MB/s" in finding.why


@pytest.mark.parametrize(
    ("printed", "severity", "what"),
    [
        ("tcp-segmentation-offload: on\ngeneric-receive-offload: on\n", "ok", "the devices split and merge segments"),
        ("tcp-segmentation-offload: off\ngeneric-receive-offload: on\n", "note", "off: tcp-segmentation-offload there (eth7)"),
    ],
)
def test_missing_offloads_are_noted(printed: str, severity: str, what: str) -> None:
    finding = found(ethtool=printed)["load1: offloads"]
    assert (finding.severity, what in finding.what) == (severity, True)


def test_offloads_are_unknown_without_ethtool(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("httpbench.host.capture", lambda _: None)
    assert "load1: offloads" not in found()


@pytest.mark.parametrize(("waiting", "severity"), [(250, "ok"), (251, "warning")])
def test_ports_held_by_closed_connections_are_counted(waiting: int, severity: str) -> None:
    files = {
        "/proc/net/sockstat": f"sockets: used 9\nTCP: inuse 5 orphan 0 tw {waiting} alloc 9 mem 1\n",
        "/proc/sys/net/ipv4/ip_local_port_range": "10000\t10999\n",
    }
    assert found(files)["load1: time-wait"].severity == severity


def test_settings_are_checked_and_fixed_on_the_load_host() -> None:
    finding = found({"/proc/sys/net/core/somaxconn": "128\n"})["load1: backlog"]
    assert finding.severity == "warning"
    assert (finding.do or "").startswith("on load1: httpbench tune apply backlog")
