"""Tests of load host names from the user's ssh configuration: another port, another key, and a jump host."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests import namespaces
from tests.harness import Harness
from tests.integration.load_hosts.hosts import GOOD, QUICK, TARGETS, Hosts, document, trials
from tests.namespaces import Network

pytestmark = pytest.mark.slow

PORT = 2222
INNER = "10.214.0.3"
"""An additional address of load3, which the target host cannot reach."""


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hosts]:
    """Make three load hosts: load1 with defaults, load2 with its own port and key, and load3 behind load1."""
    folder = tmp_path_factory.mktemp("names")
    (folder / "home").mkdir()
    with namespaces.network(folder / "network", load_hosts=3) as network, ExitStack() as stack:
        _, second, third = network.load_hosts
        _run("ip", "-n", third.namespace, "address", "add", f"{INNER}/32", "dev", "uplink")
        _run("ip", "-n", third.router, "route", "add", INNER, "via", third.address)
        _run("ip", "-n", network.target.namespace, "route", "add", "unreachable", INNER)
        own = folder / "second"
        _run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(own))
        stack.enter_context(network.ssh_server(second, "by-port", Port=PORT, AuthorizedKeysFile=f"{own}.pub"))
        stack.enter_context(network.ssh_server(third, "behind", Port=PORT))
        _describe(network, own)
        yield Hosts(network, Harness(folder / "home", entrance=network.target.entrance))


def _describe(network: Network, own: Path) -> None:
    """Add the hosts at the start of the user's configuration, because ssh uses the first value it finds."""
    _, second, _ = network.load_hosts
    entries = (
        f"Host by-port\n  HostName {second.address}\n  Port {PORT}\n  IdentityFile {own}\n"
        f"Host behind\n  HostName {INNER}\n  Port {PORT}\n  ProxyJump load1\n"
    )
    network.ssh_config.write_text(entries + network.ssh_config.read_text())


def _run(*words: str) -> None:
    subprocess.run(words, check=True, capture_output=True)


def bench(hosts: Hosts, name: str, *words: str) -> subprocess.CompletedProcess[str]:
    return hosts.run("bench", *TARGETS, GOOD, *QUICK, "-r", name, "--install", *words, "--export-json", "-")


@pytest.mark.parametrize("name", ["load1", "by-port"])
def test_a_host_is_reached_by_its_name(hosts: Hosts, name: str) -> None:
    done = bench(hosts, name)
    assert done.returncode == 0, done.stderr
    (trial,) = trials(document(done))
    assert trial["load_host"]["name"] == name
    assert trial["measurement"]["requests"]["ok"] > 100


def test_a_host_behind_a_jump_host_is_reached_through_it(hosts: Hosts) -> None:
    done = bench(hosts, "behind", "--host", hosts.network.target.address)
    assert done.returncode == 0, done.stderr
    assert trials(document(done))[0]["measurement"]["requests"]["ok"] > 100
    assert (hosts.network.load_hosts[2].folder / "behind.log").read_text().count("Accepted publickey") == 1


def test_a_host_behind_a_jump_host_requires_the_address_of_this_machine(hosts: Hosts) -> None:
    """There is no route to load3, so httpbench can't find the address at which load3 reaches this machine."""
    done = bench(hosts, "behind")
    assert done.returncode == 2
    assert done.stderr.splitlines()[0] == f"error: no route from this machine to {INNER}"
    assert "choose an address of this machine that every load host can reach: --host ADDRESS" in done.stderr
