"""The adapter for wrk: a closed loop on epoll with one request, or one pipelined batch, in flight on each connection.

wrk reports most results through a Lua script (``wrk.lua``), which runs before and after the load and costs nothing during the load. wrk has
these pitfalls:

- It back-fills its histogram after the run: a response that took more than twice a connection's mean time between requests adds samples
  that were never measured. These samples distort every result and make pipelined results useless, so we remove them.
- It counts a timeout only when the late response arrives. A server that never responds shows up as missing throughput, not as errors.
- It distinguishes only between statuses below 400 and all other statuses, and doesn't check bodies.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, ConfigDict

from httpbench.errors import LoadError
from httpbench.load.adapters import first_true, parsed, sharing_evenly, whole_seconds
from httpbench.load.base import Job, LoadGenerator, Output
from httpbench.load.distribution import distribution
from httpbench.model import Distribution, Measurement, Requests, Requirement

if TYPE_CHECKING:
    from httpbench.quantiles import Integers

SCRIPT = Path(__file__).with_name("wrk.lua")
RESULT_PREFIX = "httpbench-wrk/1 "

NOTES = (
    "wrk does not check bodies, and counts every status below 400 as correct.",
    "wrk counts a timeout when the late response arrives; requests without a response are not counted.",
    "wrk opens its connections within the measured time.",
)


class _Result(BaseModel):
    """The line that ``wrk.lua`` prints."""

    model_config = ConfigDict(extra="forbid", defer_build=True)

    duration_us: int
    requests: int
    bytes: int
    errors: dict[Literal["connect", "read", "write", "timeout", "status"], int]
    latencies_us: list[tuple[int, int]] | None
    """Pairs of latency and count, including back-filled samples, or ``None`` if this build of wrk doesn't expose them."""


class Wrk(LoadGenerator):
    name = "wrk"
    requirement = Requirement(
        program="wrk", version="4.0", version_command=("wrk", "-v"), apt=("wrk",), install="https://github.com/wg/wrk"
    )
    version_option = "-v"
    warms_up_itself = False
    counts_headers = True
    latency_meaning = (
        "Service time of every response in whole µs, from the first write of a request to the end of its response; with pipelining, of a "
        "whole batch. The samples that wrk adds afterward are removed."
    )

    def refuses(self, job: Job) -> str | None:
        load, threads = job.load, job.load.threads or 1
        reasons = {
            "wrk has no open loop: it sends the next request when the response has arrived": load.rate_rps is not None,
            "wrk cannot close a connection after a number of requests": load.requests_per_connection is not None,
            f"wrk supports only durations of whole seconds, not {load.duration_s:g} s": load.duration_s % 1 != 0,
            f"wrk supports only timeouts of whole seconds, not {load.timeout_s:g} s": load.timeout_s % 1 != 0,
            f"wrk requires a connection for each thread: {load.connections} are too few for {threads} threads": threads > load.connections,
            "requests cannot be pipelined on connections that close after each": load.pipeline > 1 and not load.keepalive,
            "wrk waits for a body, which a response to HEAD does not have": job.workload.request.method == "HEAD",
            f"wrk counts every status above 399 as an error, so it cannot expect {job.status}": job.status >= 400,
        }
        return first_true(reasons)

    def argv(self, job: Job, *, warmup: bool) -> tuple[str, ...]:
        load, request = job.load, job.workload.request
        headers = {_as_wrk_spells(key): value for key, value in request.headers.items()}
        if not load.keepalive:
            headers["Connection"] = "close"
        return (
            self.program(),
            *("--connections", str(load.connections), "--threads", str(sharing_evenly(job))),
            *("--duration", f"{whole_seconds(job, warmup=warmup)}s", "--timeout", f"{int(load.timeout_s)}s"),
            *(part for key, value in headers.items() for part in ("--header", f"{key}: {value}")),
            *("--script", str(job.write(SCRIPT.name, SCRIPT.read_text(encoding="utf-8")))),
            *("--", job.url, str(load.pipeline), request.method),
            str(job.write("body", request.body)) if request.body else "",
        )

    def measurement(self, job: Job, output: Output) -> Measurement:
        result = _parse(output)
        # wrk records one latency, or one timeout, for all requests of a pipelined batch.
        late = result.errors["timeout"] * job.load.pipeline
        unexpected = result.errors["status"]
        ok = max(0, result.requests - unexpected - late)
        duration_s = result.duration_us / 1e6
        latencies = _latencies(result, job)
        return Measurement(
            generator=self.name,
            generator_version=self.version(),
            duration_s=duration_s,
            requests=Requests(completed=result.requests, ok=ok),
            errors={
                **{kind: count for kind, count in result.errors.items() if kind != "status"},
                "timeout": late,
                "unexpected_status": unexpected,
            },
            bytes_received=result.bytes,
            throughput_rps=ok / duration_s,
            service_time_us=latencies,
            notes=_notes(job, latencies),
        )


def _as_wrk_spells(header: str) -> str:
    """Return the header's name as wrk expects it. wrk recognizes only the spelling ``Host``, and otherwise adds a second Host header."""
    return "Host" if header.lower() == "host" else header


def _parse(output: Output) -> _Result:
    if output.exit_code != 0:
        raise LoadError(f"wrk {output.ending}", log_tail=output.tail)
    lines = [line for line in output.stdout.splitlines() if line.startswith(RESULT_PREFIX)]
    if len(lines) != 1:
        raise LoadError("wrk ended without a result: its script did not finish", log_tail=output.tail)
    result = parsed(_Result, lines[0].removeprefix(RESULT_PREFIX), "wrk's result", output.tail)
    if result.duration_us <= 0:
        raise LoadError("wrk reported a duration of zero", log_tail=output.tail)
    return result


def _latencies(result: _Result, job: Job) -> Distribution | None:
    """Return the latencies without back-filled samples, or ``None`` if they are unknown.

    They are unknown if wrk doesn't print them, or if the counts don't add up. In the latter case, some back-filled samples may be left.
    """
    import numpy as np

    if result.latencies_us is None:
        return None
    pairs = np.array(result.latencies_us, dtype=np.int64).reshape(-1, 2)
    counts = np.zeros(int(pairs[:, 0].max(initial=0)) + 1, dtype=np.int64)
    counts[pairs[:, 0]] = pairs[:, 1]
    per_connection = result.requests // job.load.connections
    if per_connection > 0:
        counts = _without_back_fill(counts, result.duration_us // per_connection)
    batches = result.requests // job.load.pipeline
    if counts.min() < 0 or counts.sum() + result.errors["timeout"] > batches:
        return None
    values = np.flatnonzero(counts)
    return distribution(values * 1000, counts[values])


def _without_back_fill(filled: Integers, expected: int) -> Integers:
    """Undo wrk's ``stats_correct``. The argument and the result are arrays of counts, indexed by latency in µs.

    For a latency n ≥ 2e, where e is the expected time between requests, wrk adds n's count at n−e, n−2e, … down to just above e. Above e,
    each filled count is therefore the sum of the original counts at n, n+e, n+2e, …. This equals the original count at n plus the *filled*
    count at n+e.
    """
    counts = filled.copy()
    if expected > 0:
        counts[expected + 1 : max(len(counts) - expected, 0)] -= filled[2 * expected + 1 :]
    return counts


def _notes(job: Job, latencies: Distribution | None) -> tuple[str, ...]:
    notes = list(NOTES)
    threads = sharing_evenly(job)
    if threads != job.threads:
        notes.append(f"wrk ran {threads} of {job.threads} threads, the most that share {job.load.connections} connections evenly.")
    if job.load.pipeline > 1:
        notes.append(
            f"Each latency is that of a batch of {job.load.pipeline} pipelined requests, from the first write to the last response."
        )
    if latencies is None:
        notes.append("This build of wrk doesn't expose which latencies it added afterward, so none are shown.")
    return tuple(notes)
