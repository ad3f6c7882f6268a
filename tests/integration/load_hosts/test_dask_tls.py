"""Tests that a Dask cluster started by httpbench accepts connections only from httpbench, and ends when httpbench ends."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest

from httpbench.cluster.dask.by_ssh import NODE, SshHosts, started
from httpbench.cluster.dask.credentials import Credentials, Scheduler, make_credentials
from httpbench.cluster.dask.hosts import connected
from httpbench.cluster.dask.survey import survey
from httpbench.errors import LoadError
from tests import waiting
from tests.dask_cluster import cluster, write_credentials
from tests.fake_ssh import fake_ssh
from tests.harness import Harness

pytestmark = pytest.mark.slow

STARTER = """
import json, sys, time
from httpbench.cluster.dask.by_ssh import SshHosts, started
with started(SshHosts(hosts=("load1", "load2"))) as scheduler:
    print(json.dumps(scheduler.address), flush=True)
    time.sleep(600)
"""
"""Program that starts a cluster and waits."""


@contextmanager
def on_this_machine(folder: Path) -> Iterator[None]:
    """Run the members of clusters on this machine, with this folder for temporary files."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HTTPBENCH_SSH", fake_ssh(folder))
        patch.setenv("TMPDIR", str(folder))
        yield


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scheduler]:
    """Start the cluster that the tests of this module use, and set ``TMPDIR`` to its folder."""
    with on_this_machine(tmp_path_factory.mktemp("ssh")), started(SshHosts(hosts=("load1", "me@load2"))) as made:
        yield made


def members(folder: Path) -> list[psutil.Process]:
    """Return the processes of all clusters that were started with this folder for temporary files."""
    nodes = [each for each in psutil.process_iter(["cmdline"]) if NODE in (each.info["cmdline"] or ())]
    return [each for each in nodes if _temporary_folder(each) == str(folder)]


def _temporary_folder(process: psutil.Process) -> str | None:
    try:
        return process.environ().get("TMPDIR")
    except psutil.Error:
        return None


async def _count(scheduler: Scheduler) -> int:
    async with connected(scheduler) as hosts:
        return len(hosts.all)


def refusal(address: str, credentials: Credentials | None) -> str:
    with pytest.raises(LoadError) as caught:
        asyncio.run(_count(Scheduler(address, credentials)))
    return caught.value.message


def test_load_hosts_have_their_names_and_others_are_refused(scheduler: Scheduler) -> None:
    assert scheduler.address.startswith("tls://")
    assert [each.name for each in survey(scheduler, requires_equal=True)] == ["load1", "load2"]
    assert "accept each other's certificates" in refusal(scheduler.address, make_credentials())
    assert "no Dask scheduler responds" in refusal(scheduler.address.replace("tls://", "tcp://"), None)
    assert asyncio.run(_count(scheduler)) == 2, "it still works"


def test_members_that_wait_take_hardly_any_cpu_time(scheduler: Scheduler) -> None:
    """They share their host with the load generator. By default, a worker that waits takes 6% of a core."""
    own = members(Path(os.environ["TMPDIR"]))
    before = [sum(each.cpu_times()[:2]) for each in own]
    time.sleep(2)
    used_s = [sum(each.cpu_times()[:2]) - was for each, was in zip(own, before, strict=True)]
    assert len(used_s) == 3
    assert max(used_s) < 2 * 0.02, scheduler.address


def test_every_port_requires_a_certificate(scheduler: Scheduler) -> None:
    own = members(Path(os.environ["TMPDIR"]))
    ports = {listened.laddr for each in own for listened in each.net_connections("tcp") if listened.status == psutil.CONN_LISTEN}
    assert urlsplit(scheduler.address).port in {port for _, port in ports}
    protected = [(ip, port) for ip, port in ports if not _serves_plain_text("127.0.0.1" if ip in {"0.0.0.0", "::"} else ip, port)]
    plain = ports - set(protected)
    assert all(ip == "127.0.0.1" for ip, _ in plain), "without TLS, only other users of the load host could connect"
    assert len(protected) >= 3


def _serves_plain_text(ip: str, port: int) -> bool:
    with socket.create_connection((ip, port), timeout=10) as connection:
        connection.sendall(b"GET /info/main/workers.html HTTP/1.1\r\nHost: a\r\n\r\n")
        connection.settimeout(10)
        try:
            said = connection.recv(4096)
        except ConnectionResetError:
            return False
        assert b" 200 " not in said
        return said.startswith(b"HTTP/")


def test_no_command_line_or_environment_contains_the_key(scheduler: Scheduler) -> None:
    assert scheduler.credentials is not None and scheduler.credentials.key is not None
    secret = scheduler.credentials.key.splitlines()[1]
    assert members(Path(os.environ["TMPDIR"]))
    for process in psutil.process_iter():
        for name in ("cmdline", "environ"):
            try:
                text = Path(f"/proc/{process.pid}/{name}").read_bytes()
            except OSError:
                continue
            assert secret.encode() not in text
    assert secret not in repr(scheduler)


def test_a_killed_starter_leaves_nothing_behind(tmp_path: Path) -> None:
    with on_this_machine(tmp_path), subprocess.Popen([sys.executable, "-c", STARTER], stdout=subprocess.PIPE, text=True) as starter:
        assert starter.stdout is not None
        assert json.loads(starter.stdout.readline()).startswith("tls://")
        assert len(members(tmp_path)) >= 3
        starter.send_signal(signal.SIGKILL)
    waiting.until(lambda: members(tmp_path) == [], 30)
    assert not [each for each in tmp_path.iterdir() if each.name.startswith("httpbench-") and "ssh" not in each.name]


def test_a_load_host_without_dask_is_named(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho 'No module named httpbench' >&2\nexit 1\n")
    python.chmod(0o755)
    with (
        on_this_machine(tmp_path),
        pytest.raises(LoadError, match="Dask does not start on load host load1: No module named httpbench"),
        started(SshHosts(hosts=("load1", "load2"), python=str(python))),
    ):
        pass


def test_clusters_of_the_user_may_require_certificates(harness: Harness, tmp_path: Path) -> None:
    with cluster(tmp_path / "dask", "load1", tls=True) as made:
        done = harness.run("hosts", "check", *made.options)
        assert done.returncode == 0 and "load1" in done.stdout, done.stderr
        done = harness.run("hosts", "check", "--scheduler", made.scheduler)
        assert done.returncode == 2 and f"error: {made.scheduler} requires certificates" in done.stderr
        (tmp_path / "others").mkdir()
        ca, cert, key = map(str, write_credentials(tmp_path / "others"))
        done = harness.run("hosts", "check", "--scheduler", made.scheduler, "--dask-ca", ca, "--dask-cert", cert, "--dask-key", key)
        assert done.returncode == 1 and "do not accept each other's certificates" in done.stderr
