#!/usr/bin/env python3
"""Measure the cost of merging the results of many load hosts: time, memory, and traffic through the Dask scheduler.

scale.py [AGENTS]...     [default: 1000 and 10000]

The results are simulated. Each result covers 60 s in intervals of 250 ms, at 2,500 requests/s, and its response times have a long tail.
Each result is pickled, as on a load host. The results are then unpickled and merged one after the other, as on the machine that starts the
load. Start times are simulated, too: the clock of each load host is off by up to half a round trip.
"""

from __future__ import annotations

import json
import pickle
import resource
import sys
import time
from typing import Any

import numpy as np
from hdrh.histogram import HdrHistogram

from httpbench.cluster.dask.merge import MergedResults
from httpbench.cluster.dask.results import read
from httpbench.cluster.dask.survey import READINGS

INTERVALS, INTERVAL_S, RATE_RPS = 240, 0.25, 2500
DISTINCT = 8
DAY_NS = 24 * 3600 * 10**9
ROUND_TRIPS_MS = (0.5, 5.0, 50.0)
CALLS = 1 + 2 * READINGS + 3
"""Number of calls to each worker: facts, the clock readings before and after the load, ready, start, and the end of the task."""


def histogram(times_ns: np.ndarray[Any, Any]) -> str:
    made = HdrHistogram(1, DAY_NS, 3)
    for value, count in zip(*np.unique(times_ns.astype(np.int64), return_counts=True), strict=True):
        made.record_value(int(value), int(count))
    return str(made.encode().decode())


def result(random: np.random.Generator) -> bytes:
    """Return the simulated result of one load host, pickled as for the network."""
    count = round(RATE_RPS * INTERVAL_S)
    times = [random.lognormal(13.0, 0.6, count) for _ in range(INTERVALS)]
    whole = {"count": count * INTERVALS, "p99": 1.0, "histogram": histogram(np.concatenate(times))}
    few = {"count": 10, "p99": 1.0, "histogram": histogram(times[0][:10])}
    total = count * INTERVALS
    document = {
        "schema": "httpbench-loadgen/1",
        "version": "0.1.0",
        "config": {"connections": 64, "threads": 1, "part": "1/1"},
        "start_ns": 0,
        "duration_s": INTERVALS * INTERVAL_S,
        "requests": {
            "sent": total,
            "completed": total,
            "ok": total,
            "unsent": 0,
            "in_flight": 0,
            "backlog": 0,
            "unprocessed": 0,
            "offered": total,
        },
        "errors": {"timeout": 0},
        "bytes": {"received": 100 * total, "sent": 50 * total},
        "throughput_rps": float(RATE_RPS),
        "throughput_bytes_per_s": 100.0 * RATE_RPS,
        **dict.fromkeys(("service_time_us", "response_time_us", "first_byte_us", "schedule_lag_us", "generator_lag_us"), whole),
        **dict.fromkeys(("connection_wait_us", "connect_time_us"), few),
        "censored": 0,
        "unfinished_s": 0.0,
        "idle_closed": 0,
        "parser": {"fast": total, "full": 0},
        "intervals": [
            {
                "start_s": INTERVAL_S * number,
                "duration_s": INTERVAL_S,
                "completed": count,
                "errors": 0,
                "offered_rps": float(RATE_RPS),
                "p50_us": None,
                "p99_us": None,
                "bytes_received": 100 * count,
                "histogram": histogram(own),
            }
            for number, own in enumerate(times)
        ],
        "generator": {
            "engine": "epoll",
            "engine_fallback": None,
            "threads": [{"cpu": None, "busy": 0.1}],
            "cpu_s": 6.0,
            "busy": 0.1,
            "waiting": 0.0,
            "stalled_us": 0.0,
            "rss_bytes_peak": 1 << 24,
        },
    }
    return pickle.dumps(read(json.dumps(document).encode()))


def merge(results: list[bytes], agents: int) -> None:
    begin, cpu_begin = time.perf_counter(), time.process_time()
    merged = MergedResults()
    for number in range(agents):
        merged.add(pickle.loads(results[number % len(results)]))
    added_s = time.process_time() - cpu_begin
    whole = merged.document()
    total_s, cpu_s = time.perf_counter() - begin, time.process_time() - cpu_begin
    expected = agents * round(RATE_RPS * INTERVAL_S) * INTERVALS
    assert whole["requests"]["completed"] == whole["response_time_us"]["count"] == expected
    memory_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    each_ms = 1000 * added_s / agents
    print(
        f"{agents:6,} load hosts: merged in {total_s:.2f} s, {cpu_s:.2f} s of CPU time ({each_ms:.2f} ms each), at most {memory_mb:.0f} MB"
    )


def starts(random: np.random.Generator, agents: int) -> None:
    for round_trip_ms in ROUND_TRIPS_MS:
        errors_ms = random.uniform(-round_trip_ms / 2, round_trip_ms / 2, (200, agents))
        spread_ms = np.median(errors_ms.max(axis=1) - errors_ms.min(axis=1))
        print(f"{agents:6,} load hosts, round trips of {round_trip_ms:g} ms: starts within {spread_ms:.2f} ms")


def main() -> None:
    random = np.random.default_rng(1)
    results = [result(random) for _ in range(DISTINCT)]
    size = len(results[0])
    print(f"a result of {INTERVALS * INTERVAL_S:.0f} s has {size / 1e6:.2f} MB; {CALLS} calls for each load host and trial")
    for agents in [int(word) for word in sys.argv[1:]] or [1000, 10_000]:
        merge(results, agents)
        starts(random, agents)


if __name__ == "__main__":
    main()
