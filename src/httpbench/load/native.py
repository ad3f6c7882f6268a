"""The adapter for the native load generator, ``httpbench-loadgen``.

httpbench-loadgen supports closed and open loops, checks every response, and reports complete histograms. It warms up on the connections
that it then measures, reports each change of phase immediately, and prints one JSON document with the schema ``httpbench-loadgen/1``. The
adapter ignores keys that a ``Measurement`` doesn't have.
"""

from __future__ import annotations

import json
from typing import Literal, TypeVar

from pydantic import Field, TypeAdapter, ValidationError

from httpbench.errors import LoadError
from httpbench.load import programs
from httpbench.load.adapters import ReportPart, milliseconds, parsed, trust_options
from httpbench.load.base import Job, KeptResponse, LoadGenerator, Output, Progress, SliceReport
from httpbench.load.rate_steps import RecordedInterval, interval_ms, steps
from httpbench.model import (
    Arrivals,
    Distribution,
    Events,
    Expectation,
    Interval,
    Load,
    Measurement,
    PartMeasurement,
    Request,
    Requests,
    Requirement,
    Stalls,
    TlsHandshakes,
)
from httpbench.quantiles import decoded, percentiles_us, recorded

PROGRAM = "httpbench-loadgen"
SCHEMA = "httpbench-loadgen/1"
SAMPLE_S_MIN, SAMPLES = 0.1, 100
"""Minimum time between two complete responses that a thread keeps, in seconds, and number of kept responses in a long measurement."""
SHORT_S, SHORT_INTERVAL_S = 5.0, 0.1
EXIT_MEASURED, EXIT_FAILED, EXIT_TERMINATED, EXIT_INTERRUPTED = 0, 1, 143, 130
DEFAULTS = dict.fromkeys(("body", "expect_status", "expect_body", "expect_body_sha256"))
"""Keys that the file of requests may leave out, with their values."""
STALL_SHARE_MIN = 0.01
"""Minimum share of the measured time for which the generator must have been stopped before a note reports this."""


class _Ready(ReportPart):
    """The event that reports that all connections are set up."""

    event: Literal["ready"]


PROGRESS, READY, SLICE = TypeAdapter(Progress), TypeAdapter(_Ready), TypeAdapter(SliceReport)
Event = TypeVar("Event", Progress, _Ready, SliceReport)


# These classes accept unknown keys, because newer versions of the program may add some.
class _Distribution(Distribution, extra="ignore"):
    pass


class _Interval(Interval, extra="ignore"):
    histogram: str | None = None
    events: int = 0


class _Requests(Requests, extra="ignore"):
    pass


class _Part(PartMeasurement, extra="ignore"):
    time_us: _Distribution


class _Stalls(Stalls, extra="ignore"):
    pass


class _TlsHandshakes(TlsHandshakes, extra="ignore"):
    pass


class _Events(Events, extra="ignore"):
    per_s: float
    first_us: _Distribution
    between_us: _Distribution


class _Bytes(ReportPart):
    received: int


class _Thread(ReportPart):
    busy: float


class _Generator(ReportPart):
    threads: tuple[_Thread, ...] = ()
    stalled_us: float = 0
    engine_fallback: str | None = None
    """Reason why the generator fell back from io_uring to epoll, or ``None`` if it didn't."""


class _Report(ReportPart):
    version: str
    duration_s: float
    requests: _Requests
    errors: dict[str, int]
    bytes: _Bytes
    throughput_rps: float
    service_time_us: _Distribution | None = None
    response_time_us: _Distribution | None = None
    first_byte_us: _Distribution | None = None
    events: _Events | None = None
    schedule_lag_us: _Distribution | None = None
    connect_time_us: _Distribution | None = None
    connections_opened: int | None = None
    intervals: tuple[_Interval, ...] = ()
    parts: tuple[_Part, ...] = ()
    stalls: _Stalls | None = None
    tls_handshakes: _TlsHandshakes | None = None
    generator: _Generator
    interrupted: bool = False
    failure: str | None = None
    """Reason why the generator ended the measurement early, or ``None`` if it didn't."""
    censored: int = 0
    """Number of requests whose times in the distributions are only lower bounds."""
    unfinished_s: float = 0
    """Sum of the ages of the requests that were unfinished at the end, in seconds."""


class _KeptResponse(ReportPart):
    request: int
    head: str
    body: str
    truncated: bool


class _KeptResponses(ReportPart):
    samples: tuple[_KeptResponse, ...] = ()


class FirstResponse(ReportPart):
    """The first correct response of a server. All times are in nanoseconds of the monotonic clock."""

    waiting_ns: int
    """Time of the first attempt to connect."""
    sent_ns: int
    """Time just before the request was sent."""
    received_ns: int
    """Time when the response was complete."""


class _Schema(ReportPart):
    document: str = Field(alias="schema")


class Native(LoadGenerator):
    name = "native"
    requirement = Requirement(program=PROGRAM, install="cargo build --release --package httpbench-loadgen")
    warms_up_itself = True
    speaks_tls_and_http2 = True
    connects_to_unix_sockets = True
    uses_source_addresses = True
    times_first_byte = True
    mixes = True
    reads_event_streams = True
    latency_meaning = (
        "Service time of correct responses, from the actual send to the last byte. A timed-out request counts as the time waited, "
        "a lower bound. An open loop also has response time, from the intended send, free of coordinated omission."
    )

    def locate(self) -> str | None:
        return programs.locate(PROGRAM)

    def refuses(self, job: Job) -> str | None:
        if job.load.pipeline > 1 and not job.load.keepalive:
            return "requests cannot be pipelined on connections that close after each"
        if job.workload.sse and (reason := _refused_streams(job)):
            return reason
        if job.load.http2 and not job.load.keepalive:
            return "HTTP/2 connections cannot be closed after each request"
        if job.load.step_s is not None and interval_ms(job.load) is None:
            return f"steps of {job.load.step_s:g} s cannot be divided into intervals: use a multiple of 0.1 s"
        return None

    def argv(self, job: Job, *, warmup: bool) -> tuple[str, ...]:
        assert not warmup, "it warms up in the measuring process"
        load = job.load
        options = ["-c", str(load.connections), "-t", str(job.threads)]
        if job.in_slices:
            options.append("--slices-on-stdin")
        else:
            options += ["-d", milliseconds(load.duration_s), "--warmup", milliseconds(load.warmup_s), *_interval_option(job)]
        options += _rate(load)
        if not load.keepalive:
            options.append("--no-keepalive")
        elif load.pipeline > 1:
            options += ["--pipeline", str(load.pipeline)]
        if load.requests_per_connection is not None:
            options += ["--requests-per-connection", str(load.requests_per_connection)]
        if sample_s := _sample_s(job):
            options += ["--sample-bodies", milliseconds(sample_s)]
        options += _one_request(job, job.status) if job.workload.has_one_request else _many_requests(job)
        return (self.program(), *options, *_connection(job), "--json", "-", "--progress", "json", job.url)

    def first_response_argv(self, job: Job) -> tuple[str, ...]:
        """Return the command line that waits for the first correct response of a starting server, at most ``timeout_s`` per request."""
        request = _one_request(job, job.workload.expect.status) if job.workload.has_one_request else _many_requests(job)
        return (self.program(), "--first-response", *request, *_connection(job), job.url)

    def first_response(self, printed: str) -> FirstResponse:
        """Parse the output of the command of :meth:`first_response_argv`. Raises ``LoadError`` if that fails."""
        return parsed(FirstResponse, printed, f"{PROGRAM}'s first response")

    def progress(self, line: str) -> Progress | None:
        return _event(PROGRESS, line)

    def is_ready(self, line: str) -> bool:
        """Return whether a line of standard error reports that all connections are set up."""
        return _event(READY, line) is not None

    def slice_report(self, line: str) -> SliceReport | None:
        """Parse a line of standard error. Returns ``None`` if it doesn't report a slice."""
        return _event(SLICE, line)

    def kept_responses(self, job: Job, output: Output) -> tuple[KeptResponse, ...]:
        """Return the kept responses, ordered by thread and then by time."""
        each = job.workload.each
        kept = _KeptResponses.model_validate_json(output.stdout).samples
        return tuple(KeptResponse(each[one.request], one.head, one.body, one.truncated) for one in kept if one.request < len(each))

    def measurement(self, job: Job, output: Output) -> Measurement:
        if output.exit_code not in (EXIT_MEASURED, EXIT_FAILED, EXIT_TERMINATED, EXIT_INTERRUPTED) or not output.stdout.strip():
            raise LoadError(f"{PROGRAM} {output.ending}, without a result", log_tail=output.tail)
        report = _of_finished(_parse(output))
        if report.failure is not None:
            raise LoadError(f"{PROGRAM} stopped after {report.duration_s:.2f} s: {report.failure}", log_tail=output.tail)
        recorded_intervals = _recorded(job.load, report)
        events = report.events
        return Measurement(
            **report.model_dump(
                include=Measurement.model_fields.keys() - {"generator", "intervals", "unfinished_s", "first_byte_us", "events"}
            ),
            # The times of a rising rate are those of its last step, and the report has no times to the first byte of single steps.
            first_byte_us=report.first_byte_us if job.load.step_s is None else None,
            events=Events(**events.model_dump(exclude={"per_s"})) if events else None,
            generator=self.name,
            generator_version=report.version,
            bytes_received=report.bytes.received,
            # False for other generators: wrk connects while it measures, autocannon rounds down, and hey keeps only a million times.
            means_every_request=True,
            intervals=tuple(part.interval for part in recorded_intervals) or tuple(_interval(job, each) for each in report.intervals),
            steps=steps(job.load, recorded_intervals),
            unfinished=_unfinished(report),
            unfinished_s=report.unfinished_s if _unfinished(report) else 0.0,
            busy_cores=sum(thread.busy for thread in report.generator.threads) if report.generator.threads else None,
            notes=_notes(job, report),
        )


def _connection(job: Job) -> list[str]:
    """Return the options that determine how connections are made."""
    options = ["--timeout", milliseconds(job.load.timeout_s)]
    if job.load.http2:
        options.append("--http2")
    if job.load.tls:
        options += _tls(job)
    if job.unix_socket is not None:
        options += ["--unix-socket", job.unix_socket]
    if job.cpus:
        options += ["--cpus", ",".join(map(str, job.cpus))]
    return options


def _tls(job: Job) -> list[str]:
    resumption = ["--tls-resumption", "on"] if job.load.tls_resumption else []
    return resumption + trust_options(job, "--ca-file")


def _one_request(job: Job, status: int | None) -> list[str]:
    """Return the options for the only request. ``status`` is the expected status, or ``None`` for any success."""
    request, expect = job.workload.request, job.workload.expect
    options = ["-X", request.method]
    for key, value in request.headers.items():
        options += ["-H", f"{key}: {value}"]
    if request.body:
        options += ["--body", f"@{job.write('body', request.body)}"]
    if job.workload.sse:
        return [*options, "--sse"]
    if status is not None:
        options += ["--expect-status", str(status)]
    if expect.body is not None:
        options += ["--expect-body", f"@{job.write('expected-body', expect.body)}"]
    elif expect.body_sha256 is not None:
        options += ["--expect-body-sha256", expect.body_sha256]
    return options


def _refused_streams(job: Job) -> str | None:
    """Return why event streams can't be measured under a load, or ``None`` if they can."""
    load = job.load
    if load.pipeline > 1 and not load.http2:
        return "an event stream occupies its connection: remove --pipeline, or add --http2"
    if load.step_s is not None:
        return "event streams are measured at a constant rate"
    return None


def _many_requests(job: Job) -> list[str]:
    """Write all requests to a file, with their weights and correct responses. Return the options that name this file."""
    workload = job.workload
    if workload.listed is None:
        stated = [_without(_stated(part.name, part.weight, part.request, part.expect), DEFAULTS) for part in workload.parts]
    else:
        each = (_stated(workload.name, one.weight, one.request, one.expect or workload.expect) for one in workload.listed.requests)
        # A request inherits what it leaves out from the first one with its name, except for its weight.
        first = next(each)
        inherited = {key: value for key, value in first.items() if key not in ("name", "weight")}
        stated = [_without(first, DEFAULTS), *(_without(one, inherited | {"weight": 1}) for one in each)]
    return ["--mix", str(job.write("requests.json", json.dumps(stated)))]


def _without(stated: dict[str, object], known: dict[str, object]) -> dict[str, object]:
    """Return a request without the keys whose value the load generator knows."""
    return {key: value for key, value in stated.items() if key not in known or value != known[key]}


def _stated(name: str, weight: int, request: Request, expect: Expectation) -> dict[str, object]:
    return {
        "name": name,
        "weight": weight,
        "method": request.method,
        "path": request.path,
        "headers": [f"{key}: {value}" for key, value in request.headers.items()],
        "body": request.body or None,
        "expect_status": expect.status,
        "expect_body": expect.body,
        "expect_body_sha256": expect.body_sha256 if expect.body is None else None,
    }


def _sample_s(job: Job) -> float | None:
    """Return the time between two complete responses to keep, in seconds, or ``None`` to keep none.

    The harness checks the kept responses because the load generator can't check the rules of workloads or the heads that a proxy passes on.
    """
    is_checked_later = job.workload.has_unchecked_bodies or job.workload.backend is not None
    return max(SAMPLE_S_MIN, job.load.duration_s / SAMPLES) if is_checked_later else None


def _rate(load: Load) -> list[str]:
    if load.rate_rps is None:
        return []
    arrivals = ["--arrivals", load.arrivals] if load.arrivals is not Arrivals.CONSTANT else []
    if load.rate_from_rps is None or load.step_s is None:
        return ["--rate", f"{load.rate_rps:.12g}", *arrivals]
    rising = f"{load.rate_from_rps:.12g}..{load.rate_rps:.12g}"
    return ["--rate", rising, "--step", f"{load.rate_step_rps:.12g}/{milliseconds(load.step_s)}", *arrivals]


def _interval_option(job: Job) -> list[str]:
    """Return the option for the interval length.

    Short measurements get short intervals, because a few long intervals couldn't show whether throughput was steady.
    """
    if job.load.step_s is not None:
        return ["--interval", f"{interval_ms(job.load)}ms"]
    interval_s = job.interval_s or (SHORT_INTERVAL_S if job.load.duration_s < SHORT_S else None)
    return [] if interval_s is None else ["--interval", milliseconds(interval_s)]


def _recorded(load: Load, report: _Report) -> list[RecordedInterval]:
    """Return the intervals with their histograms, from which the steps are computed, or an empty list if the load has no steps."""
    if load.step_s is None:
        return []
    found = []
    for told in report.intervals:
        if told.histogram is None:
            raise LoadError(
                f"{PROGRAM} reported an interval without a histogram", hint="build the load generator and the harness from the same version"
            )
        samples = recorded(decoded(told.histogram))
        p90_us = percentiles_us(samples.highest, samples.counts).get("p90")
        found.append(RecordedInterval(_without_histogram(told).model_copy(update={"p90_us": p90_us}), samples))
    return found


def _interval(job: Job, told: _Interval) -> Interval:
    """Return an interval with the number of slow responses, if the job asks for it."""
    interval = _without_histogram(told)
    if job.slow_s is None or told.histogram is None:
        return interval
    samples = recorded(decoded(told.histogram))
    return interval.model_copy(update={"slow": int(samples.counts[samples.lowest > job.slow_s * 1e9].sum())})


def _without_histogram(told: _Interval) -> Interval:
    return Interval(**told.model_dump(exclude={"histogram", "events"}))


def _notes(job: Job, report: _Report) -> tuple[str, ...]:
    notes = []
    if report.interrupted:
        notes.append(f"Stopped after {report.duration_s:.2f} s of {job.load.duration_s:g} s.")
    if report.censored:
        notes.append(f"{report.censored} requests timed out or were unfinished at the end: their latency is a lower bound.")
    if report.generator.stalled_us >= STALL_SHARE_MIN * report.duration_s * 1e6:
        notes.append(f"The load generator was stopped for {report.generator.stalled_us / 1e6:.2f} s: latencies include that time.")
    if report.generator.engine_fallback is not None:
        notes.append(f"The load generator used epoll, which takes more CPU time than io_uring: {report.generator.engine_fallback}.")
    return tuple(notes)


def _of_finished(report: _Report) -> _Report:
    """Return the report with a mean service time that excludes unfinished requests, so that Little's law reveals stalled connections."""
    times = report.service_time_us
    if times is None or times.mean is None or not report.unfinished_s or report.response_time_us is not None:
        return report
    finished = times.count - _unfinished(report)
    mean_us = max(times.mean * times.count - report.unfinished_s * 1e6, 0) / finished if finished > 0 else None
    return report.model_copy(update={"service_time_us": times.model_copy(update={"mean": mean_us})})


def _unfinished(report: _Report) -> int:
    """Return how many of the service times are only ages of unfinished requests.

    In an open loop, the number is unknown and the result is 0, because ``censored`` also counts requests that were never sent.
    """
    return report.censored - report.errors.get("timeout", 0) if report.unfinished_s and report.response_time_us is None else 0


def _parse(output: Output) -> _Report:
    name, log_tail = f"{PROGRAM}'s result", output.tail[-2000:]
    schema = parsed(_Schema, output.stdout, name, log_tail).document
    if schema != SCHEMA:
        raise LoadError(f"{PROGRAM} prints {schema}, not {SCHEMA}", hint="build the load generator and the harness from the same version")
    report = parsed(_Report, output.stdout, name, log_tail)
    return _of_streams(report, report.events) if report.events else report


def _of_streams(report: _Report, events: _Events) -> _Report:
    """Return the report with the throughput of events in place of that of responses, because streams may never end."""
    intervals = tuple(told.model_copy(update={"completed": told.events}) for told in report.intervals)
    return report.model_copy(update={"throughput_rps": events.per_s, "intervals": intervals})


def _event(kind: TypeAdapter[Event], line: str) -> Event | None:
    """Parse an event of this kind from a line of standard error. Returns ``None`` for any other line."""
    try:
        return kind.validate_json(line)
    except ValidationError:
        return None
