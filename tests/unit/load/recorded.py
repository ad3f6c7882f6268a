"""Recorded output of load generators against ``tests.servers``, started with the command lines that their adapters build."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from httpbench.load import Job, Output
from httpbench.model import Expectation, Load, Request, Workload

FIXTURES = Path(__file__).with_name("fixtures")

REPORT: dict[str, Any] = {
    "schema": "httpbench-loadgen/1",
    "version": "0.1.0",
    "config": {"connections": 64},
    "duration_s": 2.0,
    "requests": {"sent": 104, "completed": 100, "ok": 99, "unsent": 0, "in_flight": 4},
    "errors": {"connect_refused": 0, "unexpected_body": 1},
    "bytes": {"received": 5200, "sent": 4000},
    "throughput_rps": 49.5,
    "throughput_bytes_per_s": 2600.0,
    "service_time_us": {"count": 100, "min": 1.5, "mean": 2.0, "p50": 2.0, "p99": None, "histogram": "HIST", "p2": 1.6},
    "response_time_us": None,
    "intervals": [
        {"start_s": 0.0, "duration_s": 2.0, "completed": 100, "errors": 1, "offered_rps": None, "bytes_received": 5200, "histogram": "HIST"}
    ],
    "generator": {"engine": "epoll", "threads": [{"cpu": 0, "busy": 0.5}, {"cpu": 1, "busy": 0.25}]},
    "interrupted": False,
}
"""Output of httpbench-loadgen, shortened."""


@dataclass(frozen=True, slots=True)
class Recorded:
    job: Job
    output: Output
    server_requests: int | None
    """Number of requests that the server counted, or ``None`` if there was no server."""


def job(
    load: Load, *, request: Request | None = None, status: int = 200, cpus: tuple[int, ...] = (1,), scratch: Path = Path("/nowhere")
) -> Job:
    workload = Workload(
        name="plaintext", description="a test's", request=request or Request(), expect=Expectation(status=status, body="Hello, World!")
    )
    return Job("http://127.0.0.1:8080/", workload, load, cpus, scratch)


def recorded(name: str) -> Recorded:
    document = json.loads((FIXTURES / f"{name}.json").read_text())
    output = Output(document["stdout"], document["stderr"], document["exit_code"])
    return Recorded(job(Load(**document["load"])), output, document["server_requests"])
