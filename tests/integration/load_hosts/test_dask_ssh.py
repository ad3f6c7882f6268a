"""Tests of a Dask cluster that a run starts and stops by ssh."""

from __future__ import annotations

import json
import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from httpbench.cluster.dask.by_ssh import NODE
from httpbench.load import programs
from tests import namespaces, waiting
from tests.harness import Harness
from tests.integration.load_hosts.hosts_file import hosts_file
from tests.namespaces import Host
from tests.own_results import completed, keeping_programs, take_results

pytestmark = pytest.mark.slow

GOOD = "test/misbehaving/good"
TARGETS = ("--targets", str(Path(__file__).parents[2] / "targets"))


@pytest.mark.parametrize("count", [2, 4])
def test_load_hosts_are_started_and_stopped_by_ssh(harness: Harness, tmp_path: Path, count: int) -> None:
    kept = tmp_path / "kept"
    keeping = keeping_programs(kept)
    with namespaces.network(tmp_path / "lab", count) as network:
        hosts = hosts_file(tmp_path, network, keeping[programs.OVERRIDE])
        load = ("-c", "11", "-d", "1s", "--warmup", "300ms", "--timeout", "1s", "--rounds", "1")
        there = replace(harness, entrance=network.target.entrance)
        done = there.run("bench", *TARGETS, GOOD, "-r", str(hosts), *load, "--export-json", "-", timeout_s=240)
        assert done.returncode == 0, done.stderr
        assert f"targets listen on {network.target.address}" in done.stderr
        measurement = json.loads(done.stdout)["results"][0]["rounds"][0]["measurement"]
        own = take_results(kept)
        assert len(own) == len(measurement["load_hosts"]) == count
        assert completed(own) == measurement["requests"]["completed"] > 0
        waiting.until(lambda: not any(host.programs(NODE) for host in network.load_hosts))


def test_load_hosts_are_checked_by_ssh(harness: Harness, tmp_path: Path) -> None:
    with namespaces.network(tmp_path / "lab", 2) as network:
        there = replace(harness, entrance=network.target.entrance)
        done = there.run("hosts", "check", "-r", str(hosts_file(tmp_path, network)), "--json", timeout_s=240)
        assert done.returncode == 0, done.stderr
        found = json.loads(done.stdout)
        assert len(found) == 2 and all(host["round_trip_ms"] > 0 and host["sink_rps"] > 0 for host in found)
        waiting.until(lambda: not any(host.programs(NODE) for host in network.load_hosts))


def test_an_ssh_connection_that_dies_leaves_nothing_behind(harness: Harness, tmp_path: Path) -> None:
    """The trial may be valid, because the load doesn't use this connection. If it is invalid, its reason names the load host."""
    with namespaces.network(tmp_path / "lab", 2) as network:
        first, second = network.load_hosts
        words = ("bench", *TARGETS, GOOD, "--load-hosts", str(hosts_file(tmp_path, network)), "-c", "8", "-d", "4s", "--warmup", "300ms")
        there = replace(harness, entrance=network.target.entrance)
        running = there.start(*words, "--timeout", "1s", "--rounds", "1", "--export-json", "-")
        waiting.until(lambda: all(host.programs("httpbench-loadgen --start-on-stdin") for host in (first, second)), 120)
        for pid in ssh_sessions(second):
            os.kill(pid, signal.SIGKILL)
        output, said = running.communicate(timeout=240)
        (trial,) = json.loads(output)["results"][0]["rounds"]
        assert trial["verdict"]["kind"] != "failed", said
        assert trial["verdict"]["kind"] != "invalid" or "load host" in trial["verdict"]["reasons"][0]
        parts = (NODE, "httpbench-loadgen")
        waiting.until(lambda: not any(host.programs(part) for host in (first, second) for part in parts), 30)


def ssh_sessions(host: Host) -> list[int]:
    """Return the SSH server's processes that serve an open session."""
    lines = {pid: Path(f"/proc/{pid}/cmdline").read_bytes() for pid in host.pids()}
    return [pid for pid, line in lines.items() if line.startswith(b"sshd: ") and b"[listener]" not in line]
