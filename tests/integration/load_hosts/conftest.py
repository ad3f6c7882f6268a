from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from httpbench.isolate.ssh import SshConnection
from tests import namespaces
from tests.fake_ssh import fake_ssh
from tests.harness import Harness
from tests.integration.load_hosts.hosts import Hosts


@pytest.fixture
def connection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SshConnection]:
    """Open a connection to this machine as a load host, without a network."""
    monkeypatch.setenv("HTTPBENCH_SSH", fake_ssh(tmp_path))
    with SshConnection("load1") as connection:
        connection.open()
        yield connection


@pytest.fixture
def hosts(tmp_path: Path) -> Iterator[Hosts]:
    """Make a host for targets and one load host."""
    with namespaces.network(tmp_path / "network") as network:
        home = tmp_path / "home"
        home.mkdir()
        yield Hosts(network, Harness(home))
