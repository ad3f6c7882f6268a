"""Tests of the test network: hosts reach each other through the router, load hosts accept ssh, and nothing is left behind."""

from __future__ import annotations

import re
import subprocess
import time
from pathlib import Path

import pytest

from tests import namespaces
from tests.namespaces import Link

pytestmark = pytest.mark.slow


def test_hosts_reach_each_other_and_ssh_reaches_the_load_hosts(tmp_path: Path) -> None:
    with namespaces.network(tmp_path, load_hosts=2) as network:
        first, second = network.load_hosts
        for host in (first, second):
            done = network.target.run(*network.ssh.split(), host.name, "echo $PATH; ip -brief address show uplink")
            assert done.returncode == 0, done.stderr
            assert str(host.folder / "bin") in done.stdout and host.address in done.stdout and host.address6 in done.stdout
        for address in (second.address, second.address6):
            listener = second.start("python3", "-m", "http.server", "8080", "--bind", address, stderr=subprocess.DEVNULL)
            assert _connects(first, address, 8080)
            listener.kill()
            listener.wait()


def test_a_link_has_the_requested_delay(tmp_path: Path) -> None:
    with namespaces.network(tmp_path, link=Link(delay_ms=20)) as network:
        begin = time.monotonic()
        done = network.target.run(*network.ssh.split(), "load1", "true")
        assert done.returncode == 0, done.stderr
        assert time.monotonic() - begin > 0.2  # connecting takes many round trips of 40 ms


def test_a_link_can_be_cut_and_restored(tmp_path: Path) -> None:
    with namespaces.network(tmp_path) as network:
        (host,) = network.load_hosts
        options = ("-o", "ConnectTimeout=1")
        host.cut()
        assert network.target.run(*network.ssh.split(), *options, "load1", "true").returncode == 255
        host.join()
        assert network.target.run(*network.ssh.split(), *options, "load1", "true").returncode == 0


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    with namespaces.network(tmp_path) as network:
        (host,) = network.load_hosts
        host.start("sleep", "1000")
        name = host.namespace
        pids = host.pids()
        assert pids
    left = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=True).stdout
    assert not re.search(rf"^{name.split('-')[0]}-", left, re.MULTILINE)
    assert not [pid for pid in pids if Path(f"/proc/{pid}").exists() and "sleep" in Path(f"/proc/{pid}/comm").read_text()]


def _connects(host: namespaces.Host, address: str, port: int, limit_s: float = 10.0) -> bool:
    """Return whether a program on ``host`` can connect before the time limit."""
    code = f"import socket; socket.create_connection(({address!r}, {port}), 1).close()"
    deadline = time.monotonic() + limit_s
    while time.monotonic() < deadline:
        if host.run("python3", "-c", code).returncode == 0:
            return True
        time.sleep(0.1)
    return False
