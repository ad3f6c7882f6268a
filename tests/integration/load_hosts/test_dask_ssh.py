"""A Dask cluster that a run starts by ssh, and stops."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from httpbench import programs
from tests import namespaces, waiting
from tests.harness import Harness
from tests.namespaces import Network
from tests.own_results import completed, keeping_programs, own_results
from tests.programs import program

pytestmark = pytest.mark.slow

GOOD = "test/misbehaving/good"
TARGETS = ("--targets", str(Path(__file__).parents[2] / "targets"))


def hosts_file(folder: Path, network: Network, own_programs: str | None = None) -> Path:
    """A hosts.toml whose Python has what this one has, and load generators of this folder if one is named."""
    given = {"PYTHONPATH": os.environ.get("PYTHONPATH"), programs.OVERRIDE: own_programs or os.environ.get(programs.OVERRIDE)}
    variables = " ".join(f"{name}={value}" for name, value in given.items() if value)
    python = program(folder, "python", f'exec env {variables} {sys.executable} "$@"')
    names = [host.name for host in network.load_hosts]
    file = folder / "hosts.toml"
    file.write_text(f"hosts = {json.dumps(names)}\npython = {json.dumps(python)}\nssh_config = {json.dumps(str(network.ssh_config))}\n")
    return file


@pytest.mark.parametrize("count", [2, 3, 4])
def test_load_hosts_are_started_by_ssh_and_stopped(harness: Harness, tmp_path: Path, count: int) -> None:
    kept = tmp_path / "kept"
    keeping = keeping_programs(kept)
    with namespaces.network(tmp_path / "lab", count) as network:
        hosts = hosts_file(tmp_path, network, keeping[programs.OVERRIDE])
        load = ("-c", "11", "-d", "1s", "--warmup", "300ms", "--timeout", "1s", "--rounds", "1")
        argv = harness.argv("bench", *TARGETS, GOOD, "--load-hosts", str(hosts), *load, "--export-json", "-")
        done = network.target.run(*argv, env=harness.env, timeout_s=240)
        assert done.returncode == 0, done.stderr
        assert f"targets listen on {network.target.address}" in done.stderr
        measurement = json.loads(done.stdout)["results"][0]["rounds"][0]["measurement"]
        own = own_results(kept)
        assert len(own) == len(measurement["load_hosts"]) == count
        assert completed(own) == measurement["requests"]["completed"] > 0
        waiting.until(lambda: not any(host.programs("distributed") for host in network.load_hosts))


def test_load_hosts_are_checked_by_ssh(harness: Harness, tmp_path: Path) -> None:
    with namespaces.network(tmp_path / "lab", 2) as network:
        argv = harness.argv("hosts", "check", str(hosts_file(tmp_path, network)), "--json")
        done = network.target.run(*argv, env=harness.env, timeout_s=240)
        assert done.returncode == 0, done.stderr
        found = json.loads(done.stdout)
        assert len(found) == 2 and all(host["round_trip_ms"] > 0 and host["sink_rps"] > 0 for host in found)
        waiting.until(lambda: not any(host.programs("distributed") for host in network.load_hosts))
