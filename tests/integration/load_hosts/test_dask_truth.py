"""Compare the response times measured by one load host, and by four load hosts together, with computed response times.

``pytest -s tests/integration/load_hosts/test_dask_truth.py`` prints the measurements. With two virtual cores and periods of 4 s, p99 was
965.2 ms with four load hosts and 965.7 ms with one; the computed p99 is 960.0 ms.

After a stall, the server needs some milliseconds for the waiting requests, and other programs may delay it. The server therefore reports
how long its responses really took. The true response times lie between the computed and the reported ones.
"""

from __future__ import annotations

import json
import math
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from httpbench.cluster.dask import ManyHosts, Workers
from httpbench.load import Job
from httpbench.model import Expectation, Load, Workload
from tests.conducting import conduct_on
from tests.load_host_lab import lab
from tests.namespaces import Link
from tests.stalling_server import WARMUP_PERIODS, true_response_times_us

pytestmark = [pytest.mark.slow, pytest.mark.alone]

REQUESTS_PER_PERIOD, CONNECTIONS, PERIODS, PERIOD_S = 2000, 600, 5, 4.0
RATE_RPS = REQUESTS_PER_PERIOD / PERIOD_S
REQUESTS = REQUESTS_PER_PERIOD * PERIODS
PERCENTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p99_9": 0.999}
ERROR_MAX = 0.02


def percentiles_us(times_us: list[float]) -> dict[str, float]:
    """Return the percentiles of sorted times, by nearest rank."""
    return {name: times_us[math.ceil(len(times_us) * share) - 1] for name, share in PERCENTILES.items()}


def measured(folder: Path, load_hosts: int, delay_ms: float, ready: Barrier) -> tuple[dict[str, float], dict[str, float]]:
    """Return the percentiles measured with this number of load hosts, and those that the server reports, in µs."""
    with lab(folder, load_hosts, Link(delay_ms=delay_ms), PERIOD_S) as made:
        window = {"duration_s": PERIODS * PERIOD_S, "warmup_s": WARMUP_PERIODS * PERIOD_S, "timeout_s": 10 * PERIOD_S}
        load = Load(connections=CONNECTIONS, rate_rps=RATE_RPS, **window)
        workload = Workload(name="truth", description="", expect=Expectation(body="Hello, World!"))
        many = ManyHosts(Workers(made.cluster.known, load_hosts))
        ready.wait(120)
        whole = conduct_on(made.network.target, many, Job(made.url, workload, load, (), folder))
    assert whole["requests"]["offered"] == REQUESTS and sum(whole["errors"].values()) == 0
    print(f"{load_hosts} load hosts: starts within {max(host['start_ms'] for host in whole['load_hosts']):.2f} ms")
    taken_us: list[int] = json.loads((folder / "server.log").read_text().splitlines()[-1])
    reported = percentiles_us(sorted(us + 2000 * delay_ms for us in taken_us[-REQUESTS:]))
    return {name: whole["response_time_us"][name] for name in PERCENTILES}, reported


@pytest.mark.parametrize("delay_ms", [0.0, 5.0])
def test_four_load_hosts_agree_with_the_computation_and_with_one_load_host(tmp_path: Path, delay_ms: float) -> None:
    """Both loads run at the same time, so other programs delay them alike."""
    truth = percentiles_us(true_response_times_us(RATE_RPS, CONNECTIONS, PERIODS, delay_ms / 1000, PERIOD_S))
    ready = Barrier(2)
    with ThreadPoolExecutor(2) as pool:
        running = {count: pool.submit(measured, tmp_path / f"{count}-hosts", count, delay_ms, ready) for count in (4, 1)}
    for count, future in running.items():
        found, reported = future.result()
        for name, us in truth.items():
            print(f"{name:6} computed {us:9,.0f} µs, reported {reported[name]:9,.0f}, {count} load hosts {found[name]:9,.0f}")
            assert us * (1 - ERROR_MAX) <= found[name] <= max(us, reported[name]) * (1 + ERROR_MAX), (name, count)
