"""A Dask cluster that a run starts by ssh, and stops."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import namespaces, stalling_server, waiting
from tests.harness import Harness
from tests.programs import program

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("count", [2, 3, 4])
def test_load_hosts_are_started_by_ssh_and_stopped(harness: Harness, tmp_path: Path, count: int) -> None:
    with namespaces.network(tmp_path / "lab", count) as network:
        variables = " ".join(f"{name}={os.environ[name]}" for name in ("PYTHONPATH", "HTTPBENCH_PROGRAMS") if name in os.environ)
        python = program(tmp_path, "python", f'exec env {variables} {sys.executable} "$@"')
        hosts = tmp_path / "hosts.toml"
        names = [host.name for host in network.load_hosts]
        hosts.write_text(
            f"hosts = {json.dumps(names)}\npython = {json.dumps(python)}\nssh_config = {json.dumps(str(network.ssh_config))}\n"
        )
        server = network.target.start(
            sys.executable, stalling_server.__file__, network.target.address, "8080", "1", stdout=subprocess.DEVNULL
        )
        words = ("run", "--url", f"http://{network.target.address}:8080/", "--load-hosts", str(hosts), "-c", "8", "-d", "1s")
        argv = harness.argv(*words, "--warmup", "200ms", "--rounds", "1", "--export-json", "-")
        done = network.target.run(*argv, env=harness.env)
        server.terminate()
        server.wait()
        assert done.stdout, done.stderr
        measurement = json.loads(done.stdout)["results"][0]["rounds"][0]["measurement"]
        assert len(measurement["load_hosts"]) == count
        assert sum(host["completed"] for host in measurement["load_hosts"]) == measurement["requests"]["completed"] > 0
        waiting.until(lambda: not any(host.programs("distributed") for host in network.load_hosts))
