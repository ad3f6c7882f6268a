"""The adapter for oha: Rust's hyper in a closed loop, or in an open loop with a queue, over HTTP/1.1 and HTTP/2.

oha prints its result as JSON. According to its source code, it has these pitfalls:

- Its requests/s count errors, and the requests that it aborts at the end. We therefore compute throughput from the statuses.
- With ``-q`` alone, the clock of a request starts when a connection is free (coordinated omission). With ``--latency-correction``, which we
  always add, the clock starts when the request enters the queue. A timer with a resolution of 1 ms fills the queue, so requests come in
  bursts, and a request that enters the queue late starts its clock late.
- At the end, it drops the requests in flight and, in an open loop, those in the queue. Their times are missing.
- Over HTTP/1.1, the first time of each connection includes connecting.
- It resumes TLS sessions whenever the server allows it, and doesn't report how often.
- It reports errors only as the text that hyper prints for them.
"""

from __future__ import annotations

import re

from pydantic import Field

from httpbench.errors import LoadError
from httpbench.load.adapters import ALL_PERCENTILES, ReportPart, first_true, kind_of, milliseconds, parsed, trust_options, well_known
from httpbench.load.base import Job, LoadGenerator, Output
from httpbench.load.tools import Installation
from httpbench.model import Arrivals, Distribution, Measurement, Requests, Requirement

VERSION = "1.16.0"
ABORTED = "aborted due to deadline"
"""oha's name for requests that it aborts at the end, which isn't the server's fault."""

ERROR_KINDS = (
    (re.compile(r"^timeout$"), "timeout"),
    (re.compile(r"Connection refused"), "connect_refused"),
    (re.compile(r"Cannot assign requested address|Too many open files|unreachable"), "connect_other"),
    (re.compile(r"certificate|tls|fatal alert|handshake", re.I), "tls"),
    (re.compile(r"^connection error$|http2 error|reset|[Bb]roken pipe"), "reset"),
    (re.compile(r"closed|reading a body"), "closed_early"),
    (re.compile(r"^invalid HTTP|parsed"), "invalid_response"),
)
"""Patterns that match the error messages of hyper, rustls and Linux, and the kind of error that httpbench reports for each."""

NOTES = (
    "oha does not check bodies.",
    "oha opens its connections within the measured time. Over HTTP/1.1, the first latency of each connection includes connecting.",
    "oha counts the bytes of bodies only.",
    "oha adds the headers Accept and User-Agent.",
)
QUEUED = "oha fills its queue once per millisecond. At the end, it drops the requests that are queued or in flight, without latencies."


class _Summary(ReportPart):
    """Times in seconds. They are ``None`` if there was no response."""

    total: float
    fastest: float | None
    average: float | None
    slowest: float | None
    bytes: int = Field(validation_alias="totalData")


class _Result(ReportPart):
    summary: _Summary
    percentiles_s: dict[str, float | None] = Field(validation_alias="latencyPercentiles")
    statuses: dict[int, int] = Field(validation_alias="statusCodeDistribution")
    errors: dict[str, int] = Field(validation_alias="errorDistribution")


class Oha(LoadGenerator):
    name = "oha"
    requirement = Requirement(program="oha", install=f"cargo install oha@{VERSION} --locked")
    warms_up_itself = False
    speaks_tls_and_http2 = True
    built_at = "bin/oha"
    latency_meaning = (
        "Service time of every response, from taking or opening a connection to the end of the body. In an open loop, response time, from "
        "when oha queues the request."
    )

    def installation(self) -> Installation:
        argv = ("cargo", "install", f"oha@{VERSION}", "--root", str(self.folder), "--locked")
        return Installation(argv, Requirement(program="cargo", version="1.88", install="https://rustup.rs"), self.folder)

    def refuses(self, job: Job) -> str | None:
        load, headers = job.load, job.workload.request.headers
        reasons = {
            "oha cannot pipeline HTTP/1.1 requests": load.pipeline > 1 and not load.http2,
            "oha cannot close a connection after a number of requests": load.requests_per_connection is not None,
            "oha cannot close HTTP/2 connections after each request": load.http2 and not load.keepalive,
            "oha cannot replace the host of an HTTP/2 request: it sends Host in addition": load.http2
            and any(key.lower() == "host" for key in headers),
            "oha resumes TLS sessions whenever it can, so it cannot make a full handshake for each request": load.tls
            and not (load.keepalive or load.tls_resumption),
            "oha has no rising rates: use one rate, or none": load.rate_from_rps is not None,
            "oha only spaces requests evenly": load.rate_rps is not None and load.arrivals is not Arrivals.CONSTANT,
        }
        return first_true(reasons)

    def argv(self, job: Job, *, warmup: bool) -> tuple[str, ...]:
        load, request = job.load, job.workload.request
        options = ["-c", str(load.connections), "-z", milliseconds(load.warmup_s if warmup else load.duration_s)]
        options += ["-t", milliseconds(load.timeout_s), "--connect-timeout", milliseconds(load.timeout_s)]
        options += ["--worker-threads", str(job.threads), "-m", request.method, "--disable-compression"]
        if load.rate_rps is not None:
            options += ["-q", f"{load.rate_rps:.12g}", "--latency-correction"]
        if load.http2:
            options += ["--http2", "-p", str(load.pipeline)]
        if load.tls:
            options += trust_options(job, "--cacert")
        if not load.keepalive:
            options.append("--disable-keepalive")
        options += [word for key, value in request.headers.items() for word in ("-H", f"{key}: {value}")]
        if request.body:
            options += ["-D", str(job.write("body", request.body))]
        return (self.program(), *options, "--no-tui", "--output-format", "json", job.url)

    def measurement(self, job: Job, output: Output) -> Measurement:
        result = _parse(output)
        errors = _errors(result)
        completed, ok = sum(result.statuses.values()), result.statuses.get(job.status, 0)
        if completed == 0 and set(errors) == {"connect_refused"}:
            raise LoadError(f"nothing listens at {job.url}", log_tail="\n".join(result.errors))
        if completed > ok:
            errors["unexpected_status"] = completed - ok
        times, is_open = _times(result, completed), job.load.rate_rps is not None
        return Measurement(
            generator=self.name,
            generator_version=self.version(),
            duration_s=result.summary.total,
            requests=Requests(completed=completed, ok=ok),
            errors=errors,
            bytes_received=result.summary.bytes,
            throughput_rps=ok / result.summary.total,
            service_time_us=None if is_open else times,
            response_time_us=times if is_open else None,
            notes=(*NOTES, QUEUED) if is_open else NOTES,
        )


def _parse(output: Output) -> _Result:
    if output.exit_code != 0:
        raise LoadError(f"oha {output.ending}", log_tail=output.tail)
    result = parsed(_Result, output.stdout, "oha's result", output.tail[-2000:])
    if result.summary.total <= 0 or not (result.statuses or result.errors):
        raise LoadError("oha made no request", log_tail=output.tail[-2000:])
    return result


def _errors(result: _Result) -> dict[str, int]:
    kinds: dict[str, int] = {}
    for text, count in result.errors.items():
        if text != ABORTED:
            kind = kind_of(text, ERROR_KINDS)
            kinds[kind] = kinds.get(kind, 0) + count
    return kinds


def _times(result: _Result, count: int) -> Distribution:
    """Return the times of all responses. Percentiles with too few samples beyond them are left out, although oha prints them."""
    summary = result.summary
    told = {name.replace(".", "_"): value for name, value in result.percentiles_s.items()}
    told |= {"min": summary.fastest, "mean": summary.average, "max": summary.slowest}
    wanted = ALL_PERCENTILES.keys() | {"min", "mean", "max"}
    known = {name: value * 1e6 for name, value in told.items() if name in wanted and value is not None}
    return Distribution(count=count, **(well_known(known, count) if count else {}))
