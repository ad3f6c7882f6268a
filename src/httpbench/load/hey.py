"""The adapter for hey: Go's HTTP client in a closed loop, with one goroutine per connection.

hey can print its report with any Go template. Our template prints counts and samples as JSON, without rounding to 0.1 ms.

hey has these pitfalls:

- Its requests/s include errors, so we compute throughput from the number of responses with each status.
- It keeps the latencies and statuses of the first million responses, and merely counts the rest.
- It ignores errors that occur while it reads a body, so a truncated response counts as complete.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from httpbench.errors import LoadError
from httpbench.load.adapters import first_true, kind_of, parsed
from httpbench.load.base import Job, LoadGenerator, Output
from httpbench.load.distribution import distribution
from httpbench.load.tools import Run
from httpbench.model import Distribution, Measurement, Requests, Requirement

KEPT_RESULTS = 1_000_000
KEPT_CONNECTIONS = 500
"""Maximum number of idle connections that hey keeps open. Beyond that, hey reconnects, and its latencies include this time."""

TEMPLATE = (
    '{"total_ns":{{jsonify .Total}},"results":{{.NumRes}},"statuses":{{jsonify .StatusCodeDist}},"errors":{{jsonify .ErrorDist}},'
    '"latencies_s":{{jsonify .Lats}},"connects_s":[{{$comma := ""}}{{range .ConnLats}}'
    '{{if .}}{{$comma}}{{jsonify .}}{{$comma = ","}}{{end}}{{end}}]}'
)
"""Template for a report as JSON. ``ConnLats`` contains connect times, which are 0 for requests over existing connections."""

ERROR_KINDS = (
    (re.compile(r"connection refused"), "connect_refused"),
    (re.compile(r"dial .{0,500}(i/o timeout|timed out)"), "connect_timeout"),
    (re.compile(r"dial "), "connect_other"),
    (re.compile(r"Client\.Timeout|deadline exceeded|i/o timeout"), "timeout"),
    (re.compile(r"connection reset|broken pipe"), "reset"),
    (re.compile(r"EOF|server closed idle connection"), "closed_early"),
    (re.compile(r"malformed|bad Content-Length|too many transfer encodings|unsupported transfer encoding"), "invalid_response"),
    (re.compile(r"tls: |x509: "), "tls"),
)
"""Patterns that match Go's error messages, and the kind of error that httpbench reports for each. The first match counts."""

NOTES = (
    "hey does not check bodies; a truncated one counts as complete.",
    "hey opens its connections within the measured time, and its latencies include connecting.",
    "Go's HTTP client silently repeats a request if a kept connection turns out to be closed.",
    "hey adds the header User-Agent, and Content-Type if the workload has none.",
)


class _Result(BaseModel):
    model_config = ConfigDict(extra="forbid", defer_build=True)

    total_ns: int
    results: int
    """Number of requests that ended, including errors."""
    statuses: dict[int, int] | None
    """Number of responses with each status, among those that hey kept."""
    errors: dict[str, int]
    latencies_s: list[float]
    connects_s: list[float]


class Hey(LoadGenerator):
    name = "hey"
    requirement = Requirement(program="hey", apt=("hey",), install="go install github.com/rakyll/hey@v0.1.4")
    warms_up_itself = False
    latency_meaning = (
        "Service time of the first million responses, from the request to Go's HTTP client for a connection to the end of the body."
    )

    def version_of(self, program: str, run: Run) -> str:
        """Return the version of hey's Debian package, because hey doesn't print its version. Returns ``unknown`` if there is no package."""
        if Path(program).parent != Path("/usr/bin"):
            return "unknown"
        version = run(("dpkg-query", "--show", "--showformat", "${Version}", Path(program).name)).strip()
        return version if version[:1].isdigit() else "unknown"

    def refuses(self, job: Job) -> str | None:
        load, headers = job.load, job.workload.request.headers
        reasons = {
            "hey has no open loop: it starts the clock of a request only after its own delay": load.rate_rps is not None,
            "hey cannot close a connection after a number of requests": load.requests_per_connection is not None,
            "hey cannot pipeline requests": load.pipeline > 1,
            f"hey supports only timeouts of whole seconds, not {load.timeout_s:g} s": load.timeout_s % 1 != 0,
            f"hey keeps at most {KEPT_CONNECTIONS} connections alive, not {load.connections}": load.keepalive
            and load.connections > KEPT_CONNECTIONS,
            "hey always sends a User-Agent of its own": any(key.lower() == "user-agent" for key in headers),
        }
        for key, value in headers.items():
            reasons[f"hey cannot send the header {key!r} with the value {value!r}"] = not re.fullmatch(r"[\w-]+", key) or not value.strip()
        return first_true(reasons)

    def argv(self, job: Job, *, warmup: bool) -> tuple[str, ...]:
        load, request = job.load, job.workload.request
        options = ["-z", f"{load.warmup_s if warmup else load.duration_s:g}s", "-c", str(load.connections), "-t", f"{int(load.timeout_s)}"]
        options += ["-cpus", str(job.threads), "-m", request.method]
        options += ["-disable-compression", "-disable-redirects"]  # compression would add a header, and redirects would add requests
        if not load.keepalive:
            options.append("-disable-keepalive")
        for key, value in request.headers.items():
            # Go's HTTP client ignores a Host header, but hey has an option for the host.
            options += ["-host", value] if key.lower() == "host" else ["-H", f"{key}: {value}"]
        if request.body:
            options += ["-D", str(job.write("body", request.body))]
        options += ["-o", "{{.NumRes}}" if warmup else TEMPLATE]
        return (self.program(), *options, job.url)

    def measurement(self, job: Job, output: Output) -> Measurement:
        result = _parse(output)
        errors = _errors(result)
        completed = result.results - errors.total()
        if completed == 0 and errors["connect_refused"] == result.results:
            raise LoadError(f"nothing listens at {job.url}", log_tail=next(iter(result.errors), None))
        ok, unexpected, unknown = _judged(result, completed, job.status)
        errors.update(unexpected_status=unexpected, unknown_status=unknown)
        duration_s = result.total_ns / 1e9
        return Measurement(
            generator=self.name,
            generator_version=self.version(),
            duration_s=duration_s,
            requests=Requests(completed=completed, ok=ok),
            errors=dict(+errors),
            throughput_rps=ok / duration_s,
            service_time_us=_distribution(result.latencies_s),
            connect_time_us=_distribution(result.connects_s),
            notes=_notes(completed, ok),
        )


def _parse(output: Output) -> _Result:
    if output.exit_code != 0:
        raise LoadError(f"hey {output.ending}", log_tail=output.tail)
    result = parsed(_Result, output.stdout, "hey's result", output.tail[-2000:])
    if result.total_ns <= 0 or result.results == 0:
        raise LoadError("hey made no request", log_tail=output.tail[-2000:])
    return result


def _errors(result: _Result) -> Counter[str]:
    kinds: Counter[str] = Counter()
    for words, count in result.errors.items():
        kinds[kind_of(words, ERROR_KINDS)] += count
    return kinds


def _judged(result: _Result, completed: int, expected: int) -> tuple[int, int, int]:
    """Count the responses with the expected status, another status, and an unknown status.

    Statuses after the first million are unknown. If the first million are all correct, the rest count as correct, and a note reports this.
    If some are wrong, the rest stay unknown.
    """
    statuses = result.statuses or {}
    correct = statuses.get(expected, 0)
    wrong = sum(statuses.values()) - correct
    beyond = completed - correct - wrong
    return (correct, wrong, beyond) if wrong else (correct + beyond, 0, 0)


def _distribution(seconds: list[float]) -> Distribution:
    import numpy as np

    return distribution(np.rint(np.array(seconds) * 1e9).astype(np.int64))


def _notes(completed: int, ok: int) -> tuple[str, ...]:
    if completed <= KEPT_RESULTS:
        return NOTES
    beyond = (
        f"Latencies are those of the first {KEPT_RESULTS:,} responses; hey does not keep those of the other {completed - KEPT_RESULTS:,}"
    )
    verdict = ". Their statuses count as correct because all earlier ones were." if ok == completed else ", nor their statuses."
    return (*NOTES, beyond + verdict)
