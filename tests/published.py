"""Published results in the formats of TechEmpower's program, the-benchmarker/web-frameworks and HttpArena."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FRAMEWORKS = [("go-std", "go-std", "Go", 9.0), ("gin", "gin", "Go", 6.0), ("gin-gorm", "gin", "Go", 3.0), ("axum", "axum", "Rust", 11.0)]
"""Name, project, language and relative speed of each framework."""


def level(requests: int, **more: Any) -> dict[str, Any]:
    return {"latencyAvg": "1.50ms", "latencyStdev": "560.10us", "latencyMax": "1.20s", "totalRequests": requests, "startTime": 1, **more}


def results(**changes: Any) -> dict[str, Any]:
    """Return results of ``json`` at two levels, ``query`` with two row counts and ``plaintext`` at one level."""
    speeds = {name: speed for name, _, _, speed in FRAMEWORKS}
    return {
        "uuid": "c1a3f8d0-1111-4222-8333-444455556666",
        "name": "Round 23",
        "environmentDescription": "Three servers",
        "git": {"commitId": "0123456789abcdef", "repositoryUrl": "x", "branchName": "master"},
        "operatingSystem": {"name": "Linux", "version": "5.15.0"},
        "startTime": 1_739_000_000_000,
        "completionTime": 1_739_400_000_000,
        "concurrencyLevels": [16, 512],
        "pipelineConcurrencyLevels": [256],
        "queryIntervals": [1, 20],
        "cachedQueryIntervals": [1],
        "duration": 15,
        "rawData": {
            "json": {name: [level(int(speed * 15_000)), level(int(speed * 30_000))] for name, speed in speeds.items()},
            "query": {name: [level(int(speed * 3_000)), level(int(speed * 1_500))] for name, speed in speeds.items()},
            "plaintext": {"gin": [level(1_500_000)]},
            "fortune": {},
            "slocCounts": {"gin": 120},
        },
        "testMetadata": [
            {"name": name, "project_name": project, "language": language, "display_name": name.title(), "tags": []}
            for name, project, language, _ in FRAMEWORKS
        ],
        **changes,
    }


def write_results(path: Path, **changes: Any) -> Path:
    path.write_text(json.dumps(results(**changes)))
    return path


WRK_METRICS = {
    "average_latency": 1000.0,
    "duration_ms": 15_070_000.0,
    "http_errors": 0,
    "maximum_latency": 28_000,
    "minimum_latency": 20,
    "percentile_50": 900.0,
    "percentile_75": 1200.0,
    "percentile_90": 1500.0,
    "percentile_99": 2100.0,
    "percentile_99.999": 27_000,
    "request_timeouts": 0,
    "socket_connection_errors": 0,
    "socket_read_errors": 0,
    "socket_write_errors": 0,
    "standard_deviation": 300,
    "total_bytes_received": 1000,
    "total_requests": 964_480,
    "total_requests_per_s": 64_000,
}
"""Values of one framework at 64 connections from a time when the project used wrk."""

LATER_METRICS = {
    **{label: -1.0 for label in WRK_METRICS if label != "maximum_latency" and not label.startswith("percentile")},
    "duration_ms": 15_036.0,
    "percentile50": 0.0009,
    "percentile75": 0.0012,
    "percentile90": 0.0015,
    "percentile99": 0.0021,
    "total_requests_per_s": 64_000.0,
}
"""The same from a time when the project opened a connection for each request."""


def web_frameworks(values: dict[str, float], levels: tuple[int, ...] = (64,), **changes: Any) -> dict[str, Any]:
    """Return a ``data.json`` in which the frameworks ``gin`` and ``axum`` have the same values at each level."""
    return {
        "metrics": [
            {"level": level, "label": label, "value": value, "framework_id": number}
            for number in (1, 7)
            for level in levels
            for label, value in values.items()
        ],
        "frameworks": [
            {"id": 1, "version": 1.0, "label": "gin", "language": "go", "website": "https://example.com"},
            {"id": 7, "version": "0.8", "label": "axum", "language": "rust", "website": "https://example.com"},
        ],
        "languages": [],
        "updated_at": "2026-02-11 23:25:12 UTC",
        "version": 1,
        "hardware": {"cpus": 16, "memory": 1, "cpu_name": "A processor", "os": {"sysname": "Linux", "release": "6.18.8"}},
        **changes,
    }


def arena_row(framework: str = "actix", **changes: Any) -> dict[str, Any]:
    """Return a row of HttpArena's results, measured with 512 connections."""
    return {
        "framework": framework,
        "language": "Rust",
        "rps": 500_000,
        "avg_latency": "1.02ms",
        "p99_latency": "1.76ms",
        "cpu": "6595.7%",
        "memory": "142MiB",
        "connections": 512,
        "threads": 64,
        "duration": "5s",
        "pipeline": 1,
        "bandwidth": "363.88MB/s",
        "reconnects": 0,
        "status_2xx": 2_500_000,
        "status_3xx": 0,
        "status_4xx": 0,
        "status_5xx": 0,
        **changes,
    }


def write_arena(clone: Path, **profiles: Any) -> Path:
    """Write the files of a clone of HttpArena. Each keyword is the name of a file, with ``_`` in place of a hyphen."""
    folder = clone / "site/data"
    folder.mkdir(parents=True, exist_ok=True)
    named = {"frameworks": {"actix": {"dir": "actix-web"}}, "current": {"cpu": "A processor", "os": "Ubuntu", "kernel": "6.17"}} | profiles
    for name, data in named.items():
        (folder / f"{name.replace('_', '-')}.json").write_text(data if isinstance(data, str) else json.dumps(data))
    return clone
