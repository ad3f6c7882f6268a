from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from httpbench.isolate.ssh import SshConnection
from tests import namespaces
from tests.dask_cluster import Cluster, cluster
from tests.fake_ssh import fake_ssh
from tests.harness import Harness
from tests.integration.load_hosts.hosts import Hosts
from tests.load_host_lab import Lab, lab
from tests.own_results import keeping_programs


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
        yield Hosts(network, Harness(home, entrance=network.target.entrance))


@pytest.fixture(scope="session")
def dask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Start a scheduler for all tests of this process. Each start of a scheduler or a worker costs a second of CPU time."""
    with cluster(tmp_path_factory.mktemp("dask")) as made:
        yield made


@pytest.fixture
def pair(dask: Cluster) -> Cluster:
    """Return a cluster with two load hosts on loopback."""
    dask.have("load1", "load2")
    return dask


@pytest.fixture
def one(dask: Cluster) -> Cluster:
    """Return a cluster with one load host on loopback. Tests add another load host, which has a fault."""
    dask.have("load1")
    return dask


@pytest.fixture(scope="session")
def four_hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Lab, Path]]:
    folder = tmp_path_factory.mktemp("lab")
    kept = folder / "kept"
    with lab(folder, 4, env=keeping_programs(kept), workers=2) as made:
        yield made, kept


@pytest.fixture
def two(four_hosts: tuple[Lab, Path]) -> Lab:
    """Return a lab in which two of four load hosts have a worker."""
    made, _ = four_hosts
    made.have(2)
    return made


@pytest.fixture
def kept(four_hosts: tuple[Lab, Path]) -> Path:
    """Return the folder in which the load generators of the lab ``two`` keep their results. It has none yet."""
    _, folder = four_hosts
    for result in folder.glob("*.json"):
        result.unlink()
    return folder
