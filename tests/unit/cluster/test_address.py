"""Tests of the address at which load hosts reach this machine: the route's source address, or one that the user gives."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from httpbench.cluster import address
from httpbench.cluster.address import Route, address_for, is_here, is_loopback, round_trips
from httpbench.errors import UsageError
from httpbench.isolate.ssh import SshConnection
from tests.fake_ssh import fake_ssh

SOURCES = {"10.0.0.1": "10.0.0.9", "10.0.0.2": "10.0.0.9", "10.1.0.1": "10.1.0.9", "10.0.0.9": "10.0.0.9"}


@pytest.fixture
def routes(monkeypatch: pytest.MonkeyPatch) -> None:
    real = address.route_to
    monkeypatch.setattr(address, "route_to", lambda name: Route(SOURCES[name], name) if name in SOURCES else real(name))


@pytest.fixture
def connection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SshConnection]:
    monkeypatch.setenv("HTTPBENCH_SSH", fake_ssh(tmp_path))
    with SshConnection("user@load1") as connection:
        yield connection


def test_this_machine_cannot_be_a_load_host() -> None:
    with pytest.raises(UsageError, match="user@load1 is this machine"):
        address_for({"user@load1": "127.0.0.1"}, None)


def test_a_host_name_that_does_not_resolve_is_refused() -> None:
    with pytest.raises(UsageError, match=r"cannot resolve no-such-host\.invalid on this machine"):
        address_for({"load1": "no-such-host.invalid"}, None)


@pytest.mark.parametrize("given", ["192.0.2.7", "2001:db8::7"])
def test_a_given_address_is_used(given: str) -> None:
    assert address_for({"load1": "10.0.0.1"}, given) == given


@pytest.mark.parametrize("given", ["localhost", "127.0.0.1", "::1", "0.0.0.0", "::", "192.0.2.7:80"])
def test_an_address_that_other_hosts_cannot_reach_is_refused(given: str) -> None:
    with pytest.raises(UsageError, match=f"--host {given} is not"):
        address_for({"load1": "tcp://10.0.0.1:4000"}, given)


@pytest.mark.usefixtures("routes")
def test_a_worker_with_an_address_of_this_machine_is_local() -> None:
    assert is_here("tcp://127.0.0.1:4000") and is_here("tls://10.0.0.9:4000")
    assert not is_here("tcp://10.0.0.1:4000")
    assert not is_here("tcp://no-such-host.invalid:4000")


@pytest.mark.usefixtures("routes")
def test_targets_listen_on_the_common_source_of_all_routes() -> None:
    assert address_for({"load1": "tcp://10.0.0.1:4000", "load2": "tcp://10.0.0.2:4000"}, None) == "10.0.0.9"


@pytest.mark.usefixtures("routes")
def test_routes_with_different_sources_are_refused() -> None:
    workers = {"load1": "tcp://10.0.0.1:4000", "load2": "tcp://10.1.0.1:4000"}
    with pytest.raises(UsageError, match=r"leave from different addresses: 10\.0\.0\.9 to load1, 10\.1\.0\.9 to load2"):
        address_for(workers, None)
    assert address_for(workers, "10.0.0.9") == "10.0.0.9"


@pytest.mark.parametrize("url", ["http://127.0.0.1:80/", "http://[::1]/", "http://localhost:8080/", "http://app.localhost/"])
def test_loopback_urls_are_recognized(url: str) -> None:
    assert is_loopback(url)
    assert not is_loopback("http://10.0.0.9/")


def test_round_trips_are_measured(connection: SshConnection) -> None:
    trips, own_address = round_trips(connection, "127.0.0.1", None)
    assert own_address == "127.0.0.1"
    assert trips.count == 50
    assert 0 < trips.min_us <= trips.p50_us <= trips.max_us


def test_an_address_of_another_machine_is_refused(connection: SshConnection) -> None:
    with pytest.raises(UsageError, match=r"cannot listen on 192\.0\.2\.7") as raised:
        round_trips(connection, "192.0.2.7", None)
    assert raised.value.hint == "--host must be an address of this machine"


def test_a_port_in_use_is_refused(connection: SshConnection) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, pytest.raises(UsageError, match="cannot listen on 127"):
        round_trips(connection, "127.0.0.1", server.getsockname()[1])
