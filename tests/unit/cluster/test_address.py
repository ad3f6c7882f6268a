"""At which address a load host reaches this machine: chosen by the route, or named and checked."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from httpbench.cluster.address import chosen, round_trips
from httpbench.errors import UsageError
from httpbench.isolate.ssh import SshConnection
from tests.fake_ssh import fake_ssh


@pytest.fixture
def connection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SshConnection]:
    monkeypatch.setenv("HTTPBENCH_SSH", fake_ssh(tmp_path))
    with SshConnection("user@load1") as connection:
        yield connection


def test_this_machine_is_no_load_host(connection: SshConnection) -> None:
    with pytest.raises(UsageError, match="user@load1 is this machine"):
        chosen(connection, None)


def test_a_host_without_an_address_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPBENCH_SSH", fake_ssh(tmp_path, "no-such-host.invalid"))
    with SshConnection("load1") as connection, pytest.raises(UsageError, match=r"the address of no-such-host\.invalid is unknown here"):
        chosen(connection, None)


@pytest.mark.parametrize("named", ["192.0.2.7", "2001:db8::7"])
def test_an_address_that_is_named_is_taken(connection: SshConnection, named: str) -> None:
    assert chosen(connection, named) == named


@pytest.mark.parametrize("named", ["localhost", "127.0.0.1", "::1", "0.0.0.0", "::", "192.0.2.7:80"])
def test_what_cannot_be_reached_from_another_host_is_refused(connection: SshConnection, named: str) -> None:
    with pytest.raises(UsageError, match=f"--host {named} is not"):
        chosen(connection, named)


def test_round_trips_are_measured(connection: SshConnection) -> None:
    trips, own_address = round_trips(connection, "127.0.0.1", None)
    assert own_address == "127.0.0.1"
    assert trips.count == 50
    assert 0 < trips.min_us <= trips.p50_us <= trips.max_us


def test_an_address_of_another_machine_is_refused(connection: SshConnection) -> None:
    with pytest.raises(UsageError, match=r"cannot listen on 192\.0\.2\.7") as raised:
        round_trips(connection, "192.0.2.7", None)
    assert raised.value.hint == "--host names an address of this machine"


def test_a_port_that_is_taken_is_refused(connection: SshConnection) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, pytest.raises(UsageError, match="cannot listen on 127"):
        round_trips(connection, "127.0.0.1", server.getsockname()[1])
