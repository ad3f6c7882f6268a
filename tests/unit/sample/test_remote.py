"""Tests that an agent's samples from another host give the same statistics as samples of a local load generator."""

from __future__ import annotations

import pytest

from httpbench.sample.remote import AGENT_MODULES, seen_there

REPORT = {
    "first": [1000, 1],
    "samples": [[1.0, 0.5, 4000, 1], [2.0, 1.5, 2000, 2]],
    "waited_cores": 0.25,
    "threads": 3,
    "fullest_cores": 0.75,
    "before": {
        "stat": "cpu 0 0 0 0 0 0 0 0\ncpu0 100 0 0 0 0 0 0 0\ncpu1 0 0 0 0 0 0 0 0\n",
        "net/snmp": "Tcp: OutSegs RetransSegs\nTcp: 10 1\n",
    },
    "after": {
        "stat": "cpu 0 0 0 0 0 0 0 0\ncpu0 200 0 50 0 0 10 10 20\ncpu1 0 0 0 0 0 0 0 0\n",
        "net/snmp": "Tcp: OutSegs RetransSegs\nTcp: 110 4\n",
    },
    "elapsed_s": 2.0,
    "links": {},
}


def test_cpu_time_wait_and_threads_come_from_the_samples() -> None:
    usage = seen_there(REPORT, (0, 1)).usage
    assert usage.cpu_s == pytest.approx(2.0)
    assert usage.cpu_cores_mean == pytest.approx(1.0)
    assert usage.rss_bytes_peak == 4000
    assert (usage.cpu_wait_cores_mean, usage.threads, usage.thread_cores_max) == (0.25, 3, 0.75)


def test_occupancy_covers_only_the_generators_cpus() -> None:
    (core,) = seen_there(REPORT, (0,)).occupancy
    assert (core.busy, core.interrupts, core.stolen) == (0.75, 0.1, 0.1)


def test_network_counters_come_from_the_other_host_or_are_unknown() -> None:
    network = seen_there(REPORT, (0,)).network
    assert (network.segments_sent, network.segments_retransmitted, network.backlog_drops) == (100, 3, None)


def test_the_agents_modules_use_only_the_standard_library() -> None:
    for path in AGENT_MODULES.values():
        assert "import httpbench" not in path.read_text() and "from httpbench" not in path.read_text()
