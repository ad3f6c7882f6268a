"""The adapter for autocannon: JavaScript on Node.js in a closed loop, with pipelining.

autocannon prints its result as JSON. According to its source code, it has these pitfalls:

- It records whole milliseconds, rounded down. All times below 1 ms count as 0 ms, so we leave out values below 1 ms.
- Its minimum ignores times of 0 ms. We keep the minimum only if there are no such times. With up to 100,000 responses, the lowest
  percentile shows this, because it is the time of the fastest response.
- When a connection is closed, its requests stay in a queue. autocannon doesn't count these requests as errors, and uses their send times
  for later responses. We count these requests as errors, and leave out all latencies.
- ``-R`` sends the requests of each second in one burst. It corrects latencies as if each connection had a request due every millisecond,
  no matter which rate was requested.
- ``-D`` reconnects after a number of responses, and doesn't count the last response of each connection.
- Its per-second values treat each sample as one second, even if the sample was late. We therefore compute throughput from the duration.
- Each worker gets an equal share of the connections, rounded down, and samples the counts per second on its own.
"""

from __future__ import annotations

import re
from pathlib import Path

from pydantic import ConfigDict, Field

from httpbench.errors import LoadError
from httpbench.load.adapters import ReportPart, first_true, parsed, sharing_evenly, well_known, whole_seconds
from httpbench.load.base import Job, LoadGenerator, Output
from httpbench.load.tools import Installation
from httpbench.model import Distribution, Measurement, OverSeconds, PerSecond, Requests, Requirement

LOCKED = Path(__file__).with_name("npm")
"""Folder of the npm package: ``package.json`` and its lock file, with a hash of each dependency."""

METHODS = frozenset({"GET", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"})
RESOLUTION_US = 1000.0
BODY_BYTES_MAX = 100_000
"""Maximum length of a body that is passed on a command line, in bytes."""

COUNT_OF_LOWEST = 100_000
"""Maximum number of samples for which the 0.001th percentile is the lowest sample."""
WARNINGS_MAX = 5

NOTES = (
    "autocannon reports latencies in whole milliseconds, rounded down; values below 1 ms are left out.",
    "autocannon opens its connections within the measured time, and its first latencies include connecting.",
    "autocannon's latencies don't include requests that timed out.",
)
BODIES_UNCHECKED = "autocannon did not check the bodies."
MISMATCHED = "autocannon lost connections; it then times responses from earlier requests, so its latencies are left out."


class _Latency(Distribution):
    """Latencies in ms."""

    model_config = ConfigDict(extra="ignore")

    count: int = Field(validation_alias="totalCount")
    mean: float = Field(validation_alias="average")
    p0_001: float


class _Seconds(OverSeconds):
    model_config = ConfigDict(extra="ignore")

    mean: float = Field(validation_alias="average")
    total: int


class _Requests(_Seconds):
    sent: int


class _Count(ReportPart):
    count: int


class _Result(ReportPart):
    duration: float
    samples: int
    """Number of seconds that were sampled, summed over the workers."""
    errors: int
    """Number of errors, including timeouts."""
    timeouts: int
    mismatches: int
    statuses: dict[int, _Count] = Field(validation_alias="statusCodeStats")
    latency: _Latency
    requests: _Requests
    throughput: _Seconds


class Autocannon(LoadGenerator):
    name = "autocannon"
    requirement = Requirement(program="autocannon", install="npm install --global autocannon@9.0.0")
    warms_up_itself = False
    counts_headers = True
    built_at = "node_modules/.bin/autocannon"
    latency_meaning = (
        "Service time of every response in whole ms, rounded down, from the write of the request to the end of the response; the mean is "
        "up to 1 ms too low."
    )

    def installation(self) -> Installation:
        return Installation(
            argv=("npm", "ci", "--prefix", str(self.folder), "--no-audit", "--no-fund"),
            requires=Requirement(program="npm", apt=("npm",), install="https://nodejs.org/en/download"),
            folder=self.folder,
            files=(LOCKED / "package.json", LOCKED / "package-lock.json"),
        )

    def refuses(self, job: Job) -> str | None:
        load, request = job.load, job.workload.request
        closes = load.requests_per_connection is not None or not load.keepalive
        reasons = {
            "autocannon has no open loop: -R sends the requests of each second in one burst and corrects latencies wrongly": load.rate_rps
            is not None,
            "autocannon cannot close a connection after a number of requests: -D leaves the last response uncounted": closes,
            f"autocannon supports only durations of whole seconds, not {load.duration_s:g} s": load.duration_s % 1 != 0,
            f"autocannon supports only timeouts of at least 1 s, not {load.timeout_s:g} s": load.timeout_s < 1,
            "autocannon waits for a body, which a response to HEAD does not have": request.method == "HEAD",
            f"autocannon cannot send the method {request.method}": request.method not in METHODS,
            "autocannon always sends a Connection header of its own": any(key.lower() == "connection" for key in request.headers),
        }
        return first_true(reasons)

    def argv(self, job: Job, *, warmup: bool) -> tuple[str, ...]:
        load, request = job.load, job.workload.request
        seconds = whole_seconds(job, warmup=warmup)
        options = ["-c", str(load.connections), "-p", str(load.pipeline), "-d", str(seconds), "-t", f"{load.timeout_s:g}"]
        if (workers := sharing_evenly(job)) > 1:
            options += ["-w", str(workers)]
        options += ["-m", request.method, *(f"--headers={key}:{value}" for key, value in request.headers.items())]
        if request.body:
            options.append(f"--input={job.write('body', request.body)}")
        if body := _checked_body(job):
            options.append(f"--expectBody={body}")
        return (self.program(), *options, "--json", job.url)

    def measurement(self, job: Job, output: Output) -> Measurement:
        result = _parse(output)
        completed = sum(status.count for status in result.statuses.values())
        failed = result.errors - result.timeouts
        if completed == 0 and failed:
            raise LoadError(f"no response from {job.url}: {failed:,} connections were refused or reset", log_tail=output.tail[-2000:])
        errors = _errors(result, job, completed)
        ok = max(0, _count(result, job.status) - errors["unexpected_body"])
        is_matched = not errors["connection_failed"] and not errors["closed_early"]
        return Measurement(
            generator=self.name,
            generator_version=self.version(),
            duration_s=result.duration,
            requests=Requests(sent=result.requests.sent, completed=completed, ok=ok),
            errors={kind: count for kind, count in errors.items() if count},
            bytes_received=result.throughput.total,
            throughput_rps=ok / result.duration,
            service_time_us=_times(result.latency) if is_matched else None,
            per_second=_per_second(result, sharing_evenly(job)),
            latency_step_us=RESOLUTION_US,
            notes=_notes(job, output, is_matched=is_matched),
        )


def _checked_body(job: Job) -> str | None:
    """Return the body that each response must have, or ``None`` if autocannon can't compare it.

    autocannon would parse a numeric body as a number. It also decodes each part of a body separately as it arrives, so it compares only
    ASCII bodies correctly.
    """
    body = job.workload.expect.body
    if not body or not body.isascii() or "\0" in body or len(body) > BODY_BYTES_MAX:
        return None
    return None if re.fullmatch(r"[-+]?[\d.]+(e[-+]?\d+)?|0x[\da-f]+", body, re.IGNORECASE) else body


def _parse(output: Output) -> _Result:
    if output.exit_code != 0:
        raise LoadError(f"autocannon {output.ending}", log_tail=output.tail[-2000:])
    if not output.stdout.strip():
        raise LoadError("autocannon ended without a result", log_tail=output.tail or None)
    result = parsed(_Result, output.stdout, "autocannon's result", output.tail[-2000:])
    if result.duration <= 0 or result.requests.sent == 0:
        raise LoadError("autocannon made no request", log_tail=output.tail[-2000:])
    return result


def _count(result: _Result, status: int) -> int:
    found = result.statuses.get(status)
    return found.count if found else 0


def _errors(result: _Result, job: Job, completed: int) -> dict[str, int]:
    """Return all errors by kind, including zero counts.

    autocannon counts a failed connection as one error, even if several requests are lost. We count the other lost requests as
    ``closed_early``.
    """
    failed, wrong = result.errors - result.timeouts, completed - _count(result, job.status)
    in_flight = job.load.connections * job.load.pipeline
    lost = max(0, result.requests.sent - completed - result.timeouts - in_flight)
    return {
        "connection_failed": failed,
        "closed_early": max(0, lost - failed),
        "timeout": result.timeouts,
        "unexpected_status": wrong,
        "unexpected_body": max(0, result.mismatches - wrong),  # a response with a wrong status usually has a wrong body, too
    }


def _times(told: _Latency) -> Distribution:
    """Return the latencies without values below autocannon's resolution and without percentiles that have too few samples beyond them."""
    values = {name: value * 1000 for name, value in told.model_dump(exclude={"count", "p0_001"}, exclude_none=True).items()}
    stddev = values.pop("stddev", None)
    if told.count > COUNT_OF_LOWEST or not told.p0_001:
        values.pop("min", None)
    known = well_known({name: value for name, value in values.items() if value >= RESOLUTION_US}, told.count)
    if "mean" in known:
        known["stddev"] = stddev
    return Distribution(count=told.count, resolution_us=RESOLUTION_US, **(known if told.count else {}))


def _per_second(result: _Result, workers: int) -> PerSecond | None:
    seconds = result.samples // workers
    if seconds == 0:
        return None
    return PerSecond(seconds=seconds, requests=_over_seconds(result.requests), bytes_received=_over_seconds(result.throughput))


def _over_seconds(told: _Seconds) -> OverSeconds:
    return OverSeconds(**{name: getattr(told, name) for name in OverSeconds.model_fields})


def _notes(job: Job, output: Output, *, is_matched: bool) -> tuple[str, ...]:
    notes = list(NOTES)
    if not is_matched:
        notes.append(MISMATCHED)
    if job.workload.expect.body is not None and _checked_body(job) is None:
        notes.append(BODIES_UNCHECKED)
    workers = sharing_evenly(job)
    if workers != job.threads:
        notes.append(f"autocannon ran {workers} of {job.threads} workers, the most that share {job.load.connections} connections evenly.")
    if workers > 1:
        notes.append(f"autocannon's per-second values add up seconds of {workers} workers, which don't start together.")
    warnings = [line.strip() for line in output.stderr.splitlines() if line.strip()]
    return (*notes, *(f"autocannon warned: {line}" for line in warnings[:WARNINGS_MAX]))
