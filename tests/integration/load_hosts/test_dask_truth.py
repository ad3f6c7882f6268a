"""Compare the response times measured by one load host, and by four load hosts together, with computed response times.

``pytest -s tests/integration/load_hosts/test_dask_truth.py`` prints the measurements. With two virtual cores and periods of 4 s, p99 was
965.2 ms with four load hosts and 965.7 ms with one; the computed p99 is 960.0 ms.
"""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from httpbench.cluster.dask import ManyHosts, Workers
from httpbench.load import Job
from httpbench.model import Expectation, Load, Workload
from tests.conducting import conduct_on
from tests.load_host_lab import lab
from tests.namespaces import Link
from tests.stalling_server import WARMUP_PERIODS, true_response_times_us

pytestmark = [pytest.mark.slow, pytest.mark.alone, pytest.mark.timeout(600)]

REQUESTS_PER_PERIOD, CONNECTIONS, PERIODS = 2000, 600, 5
PERIODS_S = (4.0, 8.0)
"""Periods of the server's stalls. The test passes if the error is small enough with one of them. After a stall, the server needs 5 to 10 ms
for the waiting requests, and other programs may delay it. These delays don't grow with the period, so they are a smaller share of the
response times if the period is longer. A measurement error, in contrast, remains the same share of the response times."""
PERCENTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p99_9": 0.999}
ERROR_MAX = 0.02


def percentiles_us(times_us: list[float]) -> dict[str, float]:
    """Return the percentiles of sorted times, by nearest rank."""
    return {name: times_us[math.ceil(len(times_us) * share) - 1] for name, share in PERCENTILES.items()}


def measured(folder: Path, load_hosts: int, delay_ms: float, period_s: float) -> dict[str, float]:
    """Return the percentiles measured with this number of load hosts, in µs."""
    rate_rps = REQUESTS_PER_PERIOD / period_s
    with lab(folder, load_hosts, Link(delay_ms=delay_ms), period_s) as made:
        window = {"duration_s": PERIODS * period_s, "warmup_s": WARMUP_PERIODS * period_s, "timeout_s": 10 * period_s}
        load = Load(connections=CONNECTIONS, rate_rps=rate_rps, **window)
        workload = Workload(name="truth", description="", expect=Expectation(body="Hello, World!"))
        many = ManyHosts(Workers(made.cluster.known, load_hosts))
        whole = conduct_on(made.network.target, many, Job(made.url, workload, load, (), folder))
    assert whole["requests"]["offered"] == REQUESTS_PER_PERIOD * PERIODS and sum(whole["errors"].values()) == 0
    print(f"{load_hosts} load hosts: starts within {max(host['start_ms'] for host in whole['load_hosts']):.2f} ms")
    return {name: whole["response_time_us"][name] for name in PERCENTILES}


@pytest.mark.parametrize("delay_ms", [0.0, 5.0])
def test_four_load_hosts_agree_with_the_computation_and_with_one_load_host(tmp_path: Path, delay_ms: float) -> None:
    for period_s in PERIODS_S:
        rate_rps = REQUESTS_PER_PERIOD / period_s
        truth = percentiles_us(true_response_times_us(rate_rps, CONNECTIONS, PERIODS, delay_ms / 1000, period_s))
        four = measured(tmp_path / f"four-{period_s}", 4, delay_ms, period_s)
        one = measured(tmp_path / f"one-{period_s}", 1, delay_ms, period_s)
        for name, us in truth.items():
            print(f"{name:6} computed {us:9,.0f} µs, four load hosts {four[name]:9,.0f}, one {one[name]:9,.0f}")
        errors = [abs(found[name] / us - 1) for found in (four, one) for name, us in truth.items()]
        if max(errors) <= ERROR_MAX:
            return
    raise AssertionError(f"off by up to {max(errors):.1%} at every length of the period")
