"""A load of 100,000 connections to nginx, of which few have a request in flight at any time.

It needs 200,000 sockets and several local addresses. httpbench-loadgen raises its limit on open files by itself. Where it may not raise the
limit high enough, several load generators and workers of nginx share the connections.
"""

from __future__ import annotations

import json
import math
import resource
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from httpbench.host import open_files
from httpbench.load import programs
from tests.servers import free_port
from tests.waiting import until

pytestmark = [pytest.mark.slow, pytest.mark.alone, pytest.mark.timeout(240)]

CONNECTIONS, RATE_RPS, DURATION_S = 100_000, 2_000, 4
SPARE_FILES = 1_000
PROCESSES_MAX = 16
MEMORY_MIN = 6 << 30
"""Available memory that the sockets of both sides require, in bytes. The kernel needs about 20 KB for each one while it is in use."""
BYTES_PER_CONNECTION_MAX = 4096

# Connections are spread over the workers at random, so a worker gets a few more than its share.
CONFIGURATION = """
pid {folder}/nginx.pid;
error_log {folder}/error.log;
daemon off;
worker_processes {workers};
worker_rlimit_nofile {files};
events {{ worker_connections {files}; }}
http {{
    access_log off;
    keepalive_timeout 600s;
    keepalive_requests 1000000;
    server {{
        listen 127.0.0.1:{port} backlog=65535 reuseport;
        location / {{ return 200 "Hello, World!"; }}
    }}
}}
"""


@dataclass(frozen=True, slots=True)
class Nginx:
    port: int
    generators: int
    """Number of load generators that the limit on open files requires."""


@pytest.fixture
def nginx(tmp_path: Path) -> Iterator[Nginx]:
    """Start an nginx that accepts this many connections."""
    program = shutil.which("nginx", path="/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/sbin")
    if program is None:
        pytest.skip("nginx is not installed: apt-get install nginx-light")
    limit = min(highest_limit(), CONNECTIONS + SPARE_FILES)
    generators = math.ceil(CONNECTIONS / (limit - SPARE_FILES)) if limit > SPARE_FILES else PROCESSES_MAX + 1
    if generators > PROCESSES_MAX:
        pytest.skip(f"{CONNECTIONS:,} connections require more open files than the limit of {limit:,} (ulimit -Hn)")
    if (available := psutil.virtual_memory().available) < MEMORY_MIN:
        pytest.skip(f"{CONNECTIONS:,} connections require {MEMORY_MIN >> 30} GB of memory, but {available >> 30} GB are available")
    port, workers = free_port(), generators if generators == 1 else generators + 1
    (tmp_path / "nginx.conf").write_text(CONFIGURATION.format(folder=tmp_path, files=limit, port=port, workers=workers))
    with (tmp_path / "log").open("w") as log:
        process = subprocess.Popen([program, "-c", str(tmp_path / "nginx.conf")], stdout=log, stderr=log)
    try:
        until(lambda: (tmp_path / "nginx.pid").exists() or process.poll() is not None, limit_s=10)
        assert process.poll() is None, (tmp_path / "log").read_text()
        yield Nginx(port, generators)
    finally:
        process.terminate()
        process.wait(30)


def highest_limit() -> int:
    """Return the highest limit on open files that this process may set."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = max(hard, CONNECTIONS + SPARE_FILES)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, wanted))
    except (ValueError, OSError):
        return open_files.hard_limit()
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return wanted


def test_100000_connections_are_all_used_and_need_little_memory(nginx: Nginx) -> None:
    (few,) = results(nginx.port, connections=1_000, generators=1)
    many = results(nginx.port, connections=CONNECTIONS, generators=nginx.generators)
    assert sum(each["connections_opened"] for each in many) == CONNECTIONS
    for each in many:
        assert each["config"]["source_addresses"], "one address has too few ports"
        requests = each["requests"]
        assert requests["offered"] == RATE_RPS // nginx.generators * DURATION_S
        if nginx.generators == 1:
            assert requests["ok"] == requests["offered"]
        else:  # those of the last fifth of a second may wait while other load generators close their connections
            assert requests["ok"] >= requests["offered"] - 0.2 * RATE_RPS / nginx.generators
        assert not sum(each["errors"].values())
        added = (each["generator"]["rss_bytes_peak"] - few["generator"]["rss_bytes_peak"]) / (each["config"]["connections"] - 1_000)
        p50_us = each["response_time_us"]["p50"]
        print(f"{each['config']['connections']:,} connections: {added:,.0f} bytes for each, median {p50_us:.0f} µs")
        assert added <= BYTES_PER_CONNECTION_MAX
        assert p50_us < 5_000, "an idle server responds at once, however many connections it has"


def results(port: int, *, connections: int, generators: int) -> list[dict[str, Any]]:
    """Return the results of load generators that share the connections. In a half second, about a hundredth of them get a request."""
    running = []
    for number in range(generators):
        share = connections // generators + (number < connections % generators)
        load = ["-c", str(share), "--rate", str(RATE_RPS // generators), "-d", f"{DURATION_S}s", "--timeout", "30s"]
        if generators > 1:
            load += ["--source-addresses", f"127.0.{number + 1}.1-127.0.{number + 1}.8"]
        command = [
            programs.require("httpbench-loadgen"),
            *load,
            "--expect-body",
            "Hello, World!",
            "--json",
            "-",
            f"http://127.0.0.1:{port}/",
        ]
        running.append(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
    found = []
    for process in running:
        stdout, stderr = process.communicate(timeout=200)
        assert process.returncode == 0, stderr
        found.append(json.loads(stdout))
    return found
