"""The adapter for perf-gauge: a closed loop, or a rate that its clients try to reach.

perf-gauge prints a text report, which we parse. It contains counts, rates, and times in whole µs, or in hundredths of a millisecond if all
times are at least one millisecond. perf-gauge has these pitfalls:

- It starts the clock of a request only after the rate limiter has released it. Its times don't include the time that a late request waited
  before that (coordinated omission), so we report them as service times even with a rate.
- Each client gets an equal share of the rate, and sends its requests in bursts whose size is rounded down. At a rate of 500 requests/s, 8
  clients therefore send only about 370 requests/s. As with every generator, missing the rate makes the trial invalid.
- A request that times out ends the whole measurement and isn't counted.
- It doesn't check bodies.
- Its published lock file contains a crate that current compilers reject, so we build perf-gauge with newer dependencies.
"""

from __future__ import annotations

import re

from httpbench.errors import LoadError
from httpbench.load.adapters import first_true, kind_of, milliseconds, well_known
from httpbench.load.base import Job, LoadGenerator, Output
from httpbench.load.tools import Installation
from httpbench.model import Arrivals, Distribution, Measurement, Requests, Requirement

VERSION = "0.1.20"
WHOLE_SHARE = 0.95
"""Minimum share of the requested duration that a measurement must last. If it was shorter, a timeout ended it."""

UNITS_US = {"µs": 1.0, "ms": 1000.0}

ERROR_KINDS = (
    (re.compile(r"refused"), "connect_refused"),
    (re.compile(r"error trying to connect"), "connect_other"),
    (re.compile(r"reset|broken pipe", re.I), "reset"),
    (re.compile(r"closed before|incomplete", re.I), "closed_early"),
    (re.compile(r"parse|invalid", re.I), "invalid_response"),
)

NOTES = (
    "perf-gauge starts the clock of a request after its rate limiter: the earlier wait of a late request is missing.",
    "perf-gauge does not check bodies; a request that times out ends its measurement and is not counted.",
)


class PerfGauge(LoadGenerator):
    name = "perf-gauge"
    requirement = Requirement(program="perf-gauge", install=f"cargo install perf-gauge@{VERSION}")
    warms_up_itself = False
    built_at = "bin/perf-gauge"
    latency_meaning = (
        "Service time of all requests, from when perf-gauge's rate limiter lets a request go; the time waited before is missing "
        "(coordinated omission)."
    )

    def installation(self) -> Installation:
        # We install without --locked, because traitobject 0.1.0 in perf-gauge's lock file doesn't compile with current compilers.
        argv = ("cargo", "install", f"perf-gauge@{VERSION}", "--root", str(self.folder))
        return Installation(argv, Requirement(program="cargo", install="https://rustup.rs"), self.folder)

    def refuses(self, job: Job) -> str | None:
        load, request = job.load, job.workload.request
        reasons = {
            "perf-gauge cannot pipeline requests": load.pipeline > 1,
            "perf-gauge cannot close a connection after a number of requests": load.requests_per_connection is not None,
            "rising rates of perf-gauge are not supported: use one rate, or none": load.rate_from_rps is not None,
            "perf-gauge chooses its number of threads itself": load.threads is not None,
            "request bodies are not supported with perf-gauge": bool(request.body),
            "perf-gauge only spaces requests evenly": load.rate_rps is not None and load.arrivals is not Arrivals.CONSTANT,
        }
        for key, value in request.headers.items():
            reasons[f"perf-gauge treats the colons in the header {key!r} as separators of several values"] = ":" in value
        return first_true(reasons)

    def argv(self, job: Job, *, warmup: bool) -> tuple[str, ...]:
        load, request = job.load, job.workload.request
        duration_s = load.warmup_s if warmup else load.duration_s
        rate = ("--rate", f"{load.rate_rps:g}") if load.rate_rps is not None else ()
        return (
            self.program(),
            *("--concurrency", str(load.connections), "--duration", milliseconds(duration_s), *rate),
            *("--request_timeout", milliseconds(load.timeout_s), "http"),
            *(("--conn_reuse",) if load.keepalive else ()),
            *("--method", request.method),
            *(word for key, value in request.headers.items() for word in ("--header", f"{key}:{value}")),
            job.url,
        )

    def measurement(self, job: Job, output: Output) -> Measurement:
        if output.exit_code != 0:
            raise LoadError(f"perf-gauge {output.ending}", log_tail=output.tail)
        requests = int(_number(output, r"^Requests: (\d+)"))
        duration_s = _duration_s(output)
        statuses, errors = _summary(output, job.status)
        if not statuses and "connect_refused" in errors:
            raise LoadError(f"nothing listens at {job.url}", log_tail=output.tail)
        if duration_s < WHOLE_SHARE * job.load.duration_s:
            errors["timeout"] = errors.get("timeout", 0) + 1
        ok = statuses.get(job.status, 0)
        return Measurement(
            generator=self.name,
            generator_version=self.version(),
            duration_s=duration_s,
            requests=Requests(completed=sum(statuses.values()), ok=ok),
            errors=errors,
            bytes_received=None,  # perf-gauge rounds this number to two digits
            throughput_rps=ok / duration_s,
            service_time_us=_times(output, requests),
            notes=NOTES,
        )


def _number(output: Output, pattern: str) -> float:
    match = re.search(pattern, output.stdout, re.M)
    if match is None:
        raise LoadError(f"perf-gauge's report cannot be read: it has no {pattern.strip('^').partition(':')[0]}", log_tail=output.tail)
    return float(match[1])


def _duration_s(output: Output) -> float:
    """Parse a duration as Rust prints it: ``2.008813172s``, ``950.1ms`` or ``1m 2s``."""
    match = re.search(r"^Duration (.*\S)", output.stdout, re.M)
    parts = re.findall(r"(?<![\d.])([\d.]+)\s*(ms|s|m)\b", match[1]) if match else []
    if not parts:
        raise LoadError("perf-gauge's report cannot be read: it has no Duration", log_tail=output.tail)
    return sum(float(value) * {"ms": 0.001, "s": 1.0, "m": 60.0}[unit] for value, unit in parts)


def _summary(output: Output, expected: int) -> tuple[dict[int, int], dict[str, int]]:
    """Return the number of responses by status, and the number of errors by kind. Errors include unexpected statuses."""
    block = re.search(r"^Summary:\n(.*?)(\n\n|\Z)", output.stdout, re.M | re.S)
    statuses: dict[int, int] = {}
    errors: dict[str, int] = {}
    for line in block[1].splitlines() if block else ():
        text, _, count = line.rpartition(": ")
        if status := re.match(r"[1-5]\d\d\b", text):
            statuses[int(status[0])] = statuses.get(int(status[0]), 0) + int(count)
            kind = None if int(status[0]) == expected else "unexpected_status"
        else:
            kind = kind_of(text, ERROR_KINDS)
        if kind:
            errors[kind] = errors.get(kind, 0) + int(count)
    return statuses, errors


def _times(output: Output, count: int) -> Distribution | None:
    """Return the times of all requests. Percentiles with too few samples beyond them are left out, although perf-gauge prints them."""
    block = re.search(r"^Latency:\n(.*?)(\n\n|\Z)", output.stdout, re.M | re.S)
    if block is None or count == 0:
        return None
    lines = re.findall(r"^([\w.]+)\s*:\s*([\d.]+)(µs|ms)", block[1], re.M)
    # Convert perf-gauge's labels to our field names, such as "p99.9" → "p99_9" and "StdDev" → "stddev".
    told = {word.lower().replace(".", "_"): float(value) * UNITS_US[unit] for word, value, unit in lines}
    if not told:
        raise LoadError("perf-gauge's report cannot be read: its Latency has no known line", log_tail=output.tail)
    known = {name: value for name, value in told.items() if name in Distribution.model_fields}
    return Distribution(count=count, **well_known(known, count))
