"""Check that each load host causes less than 1 MB of traffic per minute through the Dask scheduler.

The scheduler has its own host, so all bytes on that host's interface are the scheduler's traffic. A quarter of a minute is enough, because
the traffic of the start and the end is then a larger share of the total than in a whole minute.
``pytest -s tests/integration/load_hosts/test_dask_traffic.py`` prints the measurements. With 4,000 requests/s from two load hosts, the
traffic was 0.51 MB in a minute, and 0.16 MB in 15 s.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from httpbench.cluster.dask import ManyHosts, Workers
from httpbench.load import Job, programs
from httpbench.model import Expectation, Load, Workload
from tests import namespaces
from tests.conducting import conduct_on
from tests.dask_cluster import cluster
from tests.load_host_lab import on

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

HOSTS, RATE_RPS, DURATION_S, INTERVAL_S = 2, 4000, 15.0, 0.25
BYTES_MAX = 1_000_000
"""Maximum number of bytes per minute for each load host."""


def interface_bytes(host: namespaces.Host) -> int:
    """Return the number of bytes that a host's interface has received and sent."""
    shown = json.loads(host.run("ip", "-json", "-statistics", "link", "show", "uplink").stdout)
    counts = shown[0]["stats64"]
    return int(counts["rx"]["bytes"] + counts["tx"]["bytes"])


def test_the_scheduler_transfers_less_than_1_mb_per_load_host_and_minute(tmp_path: Path) -> None:
    with namespaces.network(tmp_path / "network", HOSTS + 1) as network:
        *load_hosts, apart = network.load_hosts
        with cluster(tmp_path / "dask", host=apart.address, wrap=on(apart)) as made:
            for host in load_hosts:
                made.add(host.name, host=host.address, wrap=on(host))
            server = network.target.start(
                programs.require("httpbench-reference"), "--host", network.target.address, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE
            )
            try:
                assert server.stdout is not None
                url = json.loads(server.stdout.readline())["url"]
                load = Load(connections=64, rate_rps=RATE_RPS, duration_s=DURATION_S, warmup_s=1, timeout_s=5)
                workload = Workload(name="traffic", description="", expect=Expectation(status=200))
                job = Job(url, workload, load, (), tmp_path, INTERVAL_S)
                before = interface_bytes(apart)
                whole = conduct_on(network.target, ManyHosts(Workers(made.known, HOSTS)), job)
                each = (interface_bytes(apart) - before) / HOSTS
            finally:
                server.terminate()
                server.wait()
    assert len(whole["intervals"]) == DURATION_S / INTERVAL_S
    print(f"{whole['requests']['completed']:,} requests in {DURATION_S:g} s: {each / 1e6:.2f} MB for each of {HOSTS} load hosts")
    assert each * 60 / DURATION_S < BYTES_MAX
