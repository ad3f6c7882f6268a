"""Results of load hosts for tests, in the format that httpbench-loadgen prints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hdrh.histogram import HdrHistogram

DAY_NS = 24 * 3600 * 10**9
"""Maximum time that a histogram of httpbench-loadgen can hold."""


def histogram(times_ns: Sequence[int] = ()) -> HdrHistogram:
    """Return a histogram with the same settings as one from httpbench-loadgen."""
    made = HdrHistogram(1, DAY_NS, 3)
    for time_ns in times_ns:
        made.record_value(time_ns)
    return made


def encoded(times_ns: Sequence[int] = ()) -> str:
    return str(histogram(times_ns).encode().decode())


def agent_result(intervals: Sequence[Sequence[int]] = ((1000, 2000),), **changes: Any) -> dict[str, Any]:
    """Return the result of an open loop whose 250 ms intervals have these response times, in ns."""
    times = [time_ns for interval in intervals for time_ns in interval]
    count, duration_s = len(times), 0.25 * len(intervals)
    distribution = {"count": count, "p99": None, "histogram": encoded(times)}
    result = {
        "schema": "httpbench-loadgen/1",
        "version": "0.1.0",
        "config": {"connections": 4, "threads": 1, "part": "1/2"},
        "start_ns": 1_000_000_000,
        "duration_s": duration_s,
        "interrupted": False,
        "failure": None,
        "requests": {
            "sent": count,
            "completed": count,
            "ok": count,
            "unsent": 0,
            "in_flight": 0,
            "backlog": 0,
            "unprocessed": 0,
            "offered": count,
        },
        "errors": {"timeout": 0, "reset": 1},
        "bytes": {"received": 100 * count, "sent": 50 * count},
        "throughput_rps": count / duration_s,
        "throughput_bytes_per_s": 100 * count / duration_s,
        "service_time_us": distribution,
        "response_time_us": distribution,
        "first_byte_us": distribution,
        "schedule_lag_us": distribution,
        "connection_wait_us": distribution,
        "generator_lag_us": distribution,
        "connect_time_us": {"count": 1, "p99": None, "histogram": encoded([50_000])},
        "censored": 1,
        "unfinished_s": 0.5,
        "idle_closed": 0,
        "connections_opened": 4,
        "parser": {"fast": count, "full": 0},
        "intervals": [
            {
                "start_s": 0.25 * number,
                "duration_s": 0.25,
                "completed": len(own),
                "errors": 0,
                "offered_rps": 4.0 * len(own),
                "p50_us": None,
                "p99_us": None,
                "bytes_received": 100 * len(own),
                "histogram": encoded(own),
            }
            for number, own in enumerate(intervals)
        ],
        "generator": {
            "engine": "epoll",
            "engine_fallback": None,
            "threads": [{"cpu": None, "busy": 0.25}],
            "cpu_s": 0.5,
            "busy": 0.25,
            "waiting": 0.01,
            "stalled_us": 0.0,
            "rss_bytes_peak": 1 << 20,
        },
    }
    return {**result, **changes}
