"""The adapter for h2load, nghttp2's load generator: a closed loop, or a rate that its connections try to reach.

h2load prints a text report, which we parse. According to its source code, it has these pitfalls:

- Its requests/s count every complete response, also with the status 404 or 500. It reports only classes of statuses, such as 2xx.
- It prints the minimum, mean, maximum and standard deviation of times, and from version 1.69 the p50, p95 and p99. Beyond a million
  responses, these values describe a random sample.
- It doesn't reopen a connection that the server resets or closes without an announcement, and doesn't report the requests that are lost
  with it. We detect lost connections by their mean rate, which covers only the time until they were lost.
- It has no request timeout that we could use: after the first timeout, version 1.52 crashes at the end of the measurement.
- ``--rps`` starts the clock of a request when the request is sent, which can be late (coordinated omission). Above 100 requests/s per
  connection, it sends the requests of 10 ms at once.
- With connections that close after each request, it may reconnect after the end, and then runs forever.
- It never checks certificates.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from httpbench.errors import LoadError
from httpbench.load.adapters import first_true, milliseconds, well_known
from httpbench.load.base import Job, LoadGenerator, Output
from httpbench.model import Arrivals, Distribution, Measurement, Requests, Requirement

SAMPLES_MAX, SAMPLES_PER_THREAD_MIN = 1_000_000, 256
LOST_SHARE_MAX = 0.01
"""Maximum share of the load that may be missing because connections were lost."""
ROUNDING_RPS = 0.005
"""Rounding error of the rate per connection, in requests/s."""
PRECISE_US = 100.0
"""Minimum mean for Little's law, in µs. h2load rounds times below 1 ms down to whole µs, which would distort a lower mean too much."""

COLUMNS = {"min": "min", "max": "max", "median": "p50", "p95": "p95", "p99": "p99", "mean": "mean", "sd": "stddev"}
"""Names of our fields by the titles of h2load's columns."""
UNITS_US = {"us": 1.0, "ms": 1e3, "s": 1e6}

NOTES = (
    "h2load does not check bodies, and counts every status of the expected class, such as 2xx, as correct.",
    "h2load has no request timeout: requests without a response are not counted.",
    "h2load opens its connections within the measured time.",
)
LATE = "h2load starts the clock of a request when it sends it: the earlier wait of a late request is missing."
UNVERIFIED = "h2load does not check the server's certificate."


@dataclass(frozen=True, slots=True)
class _Report:
    protocol: str | None
    """Name of the protocol in use, or ``None`` if no connection was opened."""
    started: int
    done: int
    """Number of requests that ended with a response or a stream error."""
    errored: int
    """Number of streams that the server reset."""
    statuses: dict[int, int]
    """Number of responses by the first digit of the status."""
    bytes: int
    times_us: dict[str, float]
    """Statistics of times by the name of our field, in µs."""
    connection_rps: float
    """Mean over all connections of the responses per second until the connection ended."""


class H2load(LoadGenerator):
    name = "h2load"
    requirement = Requirement(program="h2load", apt=("nghttp2-client",), install="https://nghttp2.org/documentation/h2load.1.html")
    warms_up_itself = False
    counts_headers = True
    speaks_tls_and_http2 = True
    latency_meaning = (
        "Service time of every response, from just before the send to the end of the response: in whole µs below 1 ms, otherwise with two "
        "decimals. Beyond a million responses, of a random sample."
    )

    def refuses(self, job: Job) -> str | None:
        load, request = job.load, job.workload.request
        reasons = {
            "h2load cannot close a connection after a number of requests": load.requests_per_connection is not None,
            "h2load may never end if connections close after each request": not load.keepalive,
            "h2load cannot resume TLS sessions": load.tls_resumption,
            "h2load has no rising rates: use one rate, or none": load.rate_from_rps is not None,
            "h2load only spaces requests evenly": load.rate_rps is not None and load.arrivals is not Arrivals.CONSTANT,
            "h2load waits for a body, which an HTTP/1.1 response to HEAD does not have": request.method == "HEAD" and not load.http2,
            "h2load cannot pipeline requests with a body": load.pipeline > 1 and bool(request.body) and not load.http2,
        }
        for key, value in request.headers.items():
            reasons[f"h2load cannot send the header {key!r} without a value"] = not value.strip()
        return first_true(reasons)

    def argv(self, job: Job, *, warmup: bool) -> tuple[str, ...]:
        load, request = job.load, job.workload.request
        options = ["-c", str(load.connections), "-t", str(job.threads), "-m", str(load.pipeline)]
        options += ["-D", milliseconds(load.warmup_s if warmup else load.duration_s)]
        if not load.http2:
            options.append("--h1")
        if load.rate_rps is not None:
            options += ["--rps", f"{load.rate_rps / load.connections:.12g}"]
        options += ["-H", f":method: {request.method}"]
        for key, value in request.headers.items():
            options += ["-H", f"{':authority' if key.lower() == 'host' else key}: {value}"]
        if request.body:
            options += ["-d", str(job.write("body", request.body))]
        return (self.program(), *options, job.url)

    def measurement(self, job: Job, output: Output) -> Measurement:
        load, report = job.load, _parse(output)
        _check_connections(report, job, output)
        completed = report.done - report.errored
        # A status is counted when it arrives, so up to one response per request in flight may still lack a part of its body.
        ok = min(report.statuses.get(job.status // 100, 0), completed)
        errors = {"unexpected_status": completed - ok, "reset": report.errored}
        is_whole = completed <= _samples_per_thread(job)
        times = _times(report, completed if is_whole else min(completed, _samples_per_thread(job) * job.threads), is_whole=is_whole)
        return Measurement(
            generator=self.name,
            generator_version=self.version(),
            duration_s=load.duration_s,
            requests=Requests(sent=report.started, completed=completed, ok=ok),
            errors={kind: count for kind, count in errors.items() if count},
            bytes_received=report.bytes,
            throughput_rps=ok / load.duration_s,
            service_time_us=times,
            # Over HTTP/2, the clock starts later if the server allows fewer streams than requested.
            means_every_request=is_whole and not load.http2 and (times.mean or 0.0) >= PRECISE_US,
            notes=_notes(job, times),
        )


def _parse(output: Output) -> _Report:
    if output.exit_code != 0:
        raise LoadError(f"h2load {output.ending}", log_tail=output.tail)
    protocol = re.search(r"^Application protocol: (\S+)", output.stdout, re.M)
    requests = _counts(output, "requests")
    # Version 1.52 titles the row "time for request", and 1.69 "request".
    titles = _found(output, r"^ +(min +max .*) \+/- sd$", "table of times")
    values = _found(output, r"^(?:time for )?request *: +(.*)$", "row of times")
    rates = _found(output, r"^req/s *: +(.*)$", "row of rates")
    columns = [COLUMNS.get(title, title) for title in titles.split()]
    return _Report(
        protocol=protocol[1] if protocol else None,
        started=requests["started"],
        done=requests["done"],
        errored=requests["errored"],
        statuses={int(name[0]): count for name, count in _counts(output, "status codes").items()},
        bytes=int(_found(output, r"^traffic: \S+ \((\d+)\) total", "traffic")),
        times_us={name: _us(value) for name, value in zip(columns, values.split(), strict=False)},
        connection_rps=float(dict(zip(columns, rates.split(), strict=False))["mean"]),
    )


def _found(output: Output, pattern: str, name: str) -> str:
    match = re.search(pattern, output.stdout, re.M)
    if match is None:
        raise LoadError(f"h2load's report cannot be read: it has no {name}", log_tail=output.tail)
    return match[1]


def _counts(output: Output, title: str) -> dict[str, int]:
    """Return the counts of a line such as ``requests: 9 total, 9 started``, by name."""
    line = _found(output, rf"^{title}: (.*)$", title)
    return {name: int(count) for count, name in re.findall(r"(?<!\d)(\d+) (\w+)", line)}


def _us(text: str) -> float:
    match = re.fullmatch(r"([\d.]+)(us|ms|s)", text)
    if match is None:
        raise LoadError(f"h2load's report cannot be read: {text!r} is no time")
    return float(match[1]) * UNITS_US[match[2]]


def _check_connections(report: _Report, job: Job, output: Output) -> None:
    """Raise ``LoadError`` if connections could not be opened, use another protocol or were lost."""
    load = job.load
    if report.protocol is None or report.started == 0:
        raise LoadError(f"h2load could not open a connection to {job.url}", log_tail=output.tail)
    if load.http2 and not report.protocol.startswith("h2"):
        raise LoadError(f"the server selected {report.protocol} instead of HTTP/2", log_tail=output.tail)
    expected = load.connections * report.connection_rps * load.duration_s
    if report.done < expected * (1 - LOST_SHARE_MAX) - load.connections * ROUNDING_RPS * load.duration_s:
        raise LoadError("connections to the server were lost, and h2load neither reopens nor reports them", log_tail=output.tail)


def _samples_per_thread(job: Job) -> int:
    return max(SAMPLES_PER_THREAD_MIN, SAMPLES_MAX // job.threads)


def _times(report: _Report, count: int, *, is_whole: bool) -> Distribution:
    """Return the times. The extremes of a sample are left out, because they aren't those of all requests."""
    if not count:
        return Distribution(count=0)
    times = {name: value for name, value in report.times_us.items() if is_whole or name not in ("min", "max")}
    return Distribution(count=count, **well_known(times, count))


def _notes(job: Job, times: Distribution) -> tuple[str, ...]:
    load, notes = job.load, list(NOTES)
    if load.rate_rps is not None:
        notes.append(LATE)
    if load.tls:
        notes.append(UNVERIFIED)
    if times.max is not None and times.max > load.timeout_s * 1e6:
        notes.append(f"At least one response took longer than the request timeout of {load.timeout_s:g} s, and counts as correct.")
    return tuple(notes)
