"""Tests that load hosts have names that the user knows, and that errors name the load host."""

from __future__ import annotations

import pytest

from httpbench.cluster.dask.conductor import lateness_ms, with_starts
from httpbench.cluster.dask.hosts import Host, named
from httpbench.cluster.dask.orders import HostFacts
from httpbench.cluster.dask.survey import Offset, check_clocks, check_versions
from httpbench.errors import LoadError
from httpbench.load import get
from tests.factories import make_host_share

LOAD1 = Host("load1", "tcp://10.0.0.1:40000")


def names(*workers: tuple[str, str, str]) -> list[str]:
    return [host.name for host in named({address: {"name": name, "host": host} for address, name, host in workers})]


def test_a_given_name_is_preferred_to_the_host_and_the_host_to_the_address() -> None:
    assert names(("tcp://10.0.0.1:4", "load2", "10.0.0.1"), ("tcp://10.0.0.2:4", "load1", "10.0.0.2")) == ["load1", "load2"]
    assert names(("tcp://10.0.0.1:4", "tcp://10.0.0.1:4", "10.0.0.1"), ("tcp://10.0.0.2:4", "0", "10.0.0.2")) == ["10.0.0.1", "10.0.0.2"]
    assert names(("tcp://10.0.0.1:4", "0", "10.0.0.1"), ("tcp://10.0.0.1:5", "1", "10.0.0.1")) == ["10.0.0.1:4", "10.0.0.1:5"]


def test_an_agent_of_another_version_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("httpbench.cluster.dask.survey.__version__", "1.0.0")
    monkeypatch.setattr(type(get("native")), "version", lambda _: "2.0.0")
    check_versions({LOAD1: HostFacts("h", 2, "1.0.0", "2.0.0")})
    for facts, sentence in [
        (HostFacts("h", 2, "0.9.0", "2.0.0"), "load host load1 has httpbench 0.9.0, but this machine has 1.0.0"),
        (HostFacts("h", 2, "1.0.0", "2.1.0"), "load host load1 has httpbench-loadgen 2.1.0, but this machine has 2.0.0"),
        (HostFacts("h", 2, "1.0.0", None), "load host load1 lacks httpbench-loadgen"),
    ]:
        with pytest.raises(LoadError) as caught:
            check_versions({LOAD1: facts})
        assert caught.value.message == sentence


def test_a_load_host_with_a_clock_that_jumped_is_named() -> None:
    before = {LOAD1: Offset(0, 1_000_000)}
    check_clocks(before, {LOAD1: Offset(2_000_000, 1_000_000)})
    with pytest.raises(LoadError, match="the clock of load host load1 jumped by 250 ms during the trial"):
        check_clocks(before, {LOAD1: Offset(250_000_000, 1_000_000)})


def test_starts_are_relative_to_the_first_one() -> None:
    load2 = Host("load2", "tcp://10.0.0.2:40000")
    shares = {load2: make_host_share("load2"), LOAD1: make_host_share("load1")}
    found = with_starts(shares, lateness_ms({LOAD1: 7_000_000, load2: 5_500_000}))
    assert [(share.name, share.start_ms) for share in found] == [("load1", 1.5), ("load2", 0.0)]
