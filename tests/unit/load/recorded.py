"""What real generators said of ``tests.servers``: wrk 4.1.0 and hey 0.1.4, recorded through the argv of their adapters."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from httpbench.load import Job, Output
from httpbench.model import Expectation, Load, Request, Workload

FIXTURES = Path(__file__).with_name("fixtures")


@dataclass(frozen=True, slots=True)
class Recorded:
    job: Job
    output: Output
    server_requests: int | None
    """What the server counted; ``None`` where there was none."""


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
