"""The rules that make a trial invalid, each with its reason."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from httpbench.model import Load, Measurement, Reason, ReasonKind, Step, Workload
from httpbench.stats.evidence import ERROR_SHARE_LIMIT, Evidence, generator_fill, generator_is_busy

ACHIEVED_SHARE_MIN = 0.99
"""Achieved / offered rate. Below, the target got fewer requests than the table says; 1% covers requests in flight at the end."""

EDGE_REQUESTS = 2
"""The first and the last request of an offered rate, or of a step of it, may fall outside its period, which matters where there are few."""

LITTLE_MIN, LITTLE_MAX = 0.97, 1.01
"""Little's law (J. D. C. Little, «A proof for the queuing formula L = λW», Operations Research 9, 1961): in a closed loop without
pauses, throughput × mean service time = requests in flight. Less: connections stood still, or the mean leaves requests out. More than
all there are is impossible, so a clock, a count or a duration is wrong; 1% covers rounding."""

END_STALL_SHARE_MAX = 0.1
"""Share of the period up to which a stall may be cut off by its end. Connections that get no response at all stand still for longer."""

LITTLE_ROUND_TRIPS_MIN = 100
"""Requests per request in flight, under which the first and the last ones, cut by the ends of the period, outweigh the tolerance."""

WRONG_RESPONSES = frozenset({"unexpected_status", "unexpected_body", "invalid_response", "unknown_status"})
"""Kinds of error that are responses. One is too many: a target that was wrong once is not correct, and no share makes it so."""

BODY_BYTES_SHARE_MIN = 0.99
"""Bytes received / bytes of the bodies that correct responses must have; 1% because generators print bytes with three digits."""

HEADERS_VARY_BYTES = 8
"""By which headers of equal responses may be shorter: counts of remaining requests, lengths of dates."""


def is_incorrect(evidence: Evidence) -> bool:
    """Whether responses were wrong or truncated, which no disturbance explains."""
    return any(_wrong_responses(evidence)) or any(_wrong_samples(evidence)) or any(_short_bodies(evidence))


def untrue(evidence: Evidence) -> Iterator[Reason]:
    """Why the figures are not true; nothing if they are."""
    measurement = evidence.measurement
    if measurement.requests.ok == 0:
        yield Reason.of(ReasonKind.NO_CORRECT_RESPONSE, errors=_errors_made(measurement))
        return
    yield from _wrong_responses(evidence)
    yield from _wrong_samples(evidence)
    yield from _errors(evidence)
    yield from _short_bodies(evidence)
    yield from _rate_not_reached(evidence)
    yield from _little(evidence)


def _wrong_responses(evidence: Evidence) -> Iterator[Reason]:
    measurement = evidence.measurement
    requests = measurement.requests
    named = sum(count for kind, count in measurement.errors.items() if kind in WRONG_RESPONSES)
    unnamed = max(requests.completed - requests.ok - measurement.errors_total, 0)
    if named + unnamed > (evidence.criteria.failed_share_max or 0.0) * requests.completed:
        yield Reason.of(ReasonKind.WRONG_RESPONSES, wrong=named + unnamed, completed=requests.completed, errors=_errors_made(measurement))


def _wrong_samples(evidence: Evidence) -> Iterator[Reason]:
    sampled = evidence.measurement.sampled_bodies
    if sampled is None or not sampled.problems:
        return
    yield Reason.of(ReasonKind.WRONG_SAMPLES, wrong=sampled.wrong, checked=sampled.checked, problems=list(sampled.problems))


def failed_requests(measurement: Measurement) -> int:
    """Requests without a correct response. Wrong responses that a generator also counts as errors are counted once."""
    return max(measurement.errors_total, measurement.requests.completed - measurement.requests.ok)


def _errors(evidence: Evidence) -> Iterator[Reason]:
    measurement = evidence.measurement
    failed = failed_requests(measurement)
    share = failed / (measurement.requests.ok + failed)
    allowed = evidence.criteria.failed_share_max
    limit = ERROR_SHARE_LIMIT if allowed is None else allowed
    if share > limit:
        yield Reason.of(ReasonKind.REQUESTS_FAILED, share=share, limit_share=limit, errors=_errors_made(measurement))


def _errors_made(measurement: Measurement) -> dict[str, int]:
    return {kind: count for kind, count in sorted(measurement.errors.items()) if count}


def _short_bodies(evidence: Evidence) -> Iterator[Reason]:
    """Most generators check the status alone; this finds truncated bodies behind a correct status."""
    received, least = evidence.measurement.bytes_received, evidence.criteria.response_bytes_min
    if not received or least is None:
        return
    needed, place = least * evidence.measurement.requests.ok, evidence.criteria.response_part
    if received < BODY_BYTES_SHARE_MIN * needed:
        yield Reason.of(ReasonKind.TRUNCATED, received_bytes=received, expected_bytes=needed, place=place)


def response_size(workload: Workload, response_bytes: int | None = None) -> tuple[int | None, Literal["bodies", "responses"]]:
    """Return the least size of a correct response, in bytes, and what it counts; ``None`` if sizes cannot be compared.

    ``response_bytes``: size of a whole correct response, if all are alike and the generator counts headers; ``None``: compare bodies.
    """
    if workload.parts or workload.request.method == "HEAD":
        return None, "bodies"
    if response_bytes is not None:
        return response_bytes - HEADERS_VARY_BYTES, "responses"
    return len(workload.expect.body.encode()) if workload.expect.body else workload.expect.body_bytes or 0, "bodies"


def _rate_not_reached(evidence: Evidence) -> Iterator[Reason]:
    offered = evidence.load.rate_rps
    if offered is None:
        return
    if evidence.measurement.steps:
        yield from _highest_not_held(evidence.measurement.steps, evidence.load)
        return
    achieved, duration_s = evidence.measurement.throughput_rps, evidence.measurement.duration_s
    if not is_achieved(offered, duration_s, achieved * duration_s):
        yield Reason.of(ReasonKind.RATE_NOT_REACHED, offered_rps=offered, achieved_rps=achieved)
        if generator_is_busy(evidence):
            yield Reason.of(ReasonKind.GENERATOR_SHORT, programs=[generator_fill(evidence)])


def _highest_not_held(steps: tuple[Step, ...], load: Load) -> Iterator[Reason]:
    """A rising rate says how far it was followed; the figures at the highest rate are valid only if every rate was achieved."""
    held = rate_held(steps)
    if len(steps) == load.steps and held == load.rate_rps:
        return
    yield Reason.of(ReasonKind.RATE_NOT_HELD, held_rps=held, offered_rps=load.rate_rps or 0, share_min=ACHIEVED_SHARE_MIN)


def is_achieved(rate_rps: float, duration_s: float, responses: float) -> bool:
    """Whether so many responses are the offered rate, as far as the edges of its period allow."""
    return responses >= ACHIEVED_SHARE_MIN * rate_rps * duration_s - EDGE_REQUESTS


def rate_held(steps: tuple[Step, ...]) -> float | None:
    """The highest rate, in requests per second, up to which every rate was achieved; ``None`` where not even the first was."""
    held = None
    for step in steps:
        if not is_achieved(step.rate_rps, step.duration_s, step.completed):
            break
        held = step.rate_rps
    return held


def _little(evidence: Evidence) -> Iterator[Reason]:
    ratio = little_ratio(evidence)
    if ratio is None:
        return
    times, duration_s = evidence.measurement.service_time_us, evidence.measurement.duration_s
    # A request in flight at the start counts with all its time: on each connection at most the longest. One in flight at the
    # end counts with none; the longest time may be that of a request that never ended, so a usual one says what this may take.
    usual_us = next((us for us in (times.p99, times.p90, times.max) if us is not None), 0.0) if times else 0.0
    longest_us = (times.max or 0.0) if times else 0.0
    if ratio + _cut_off_by_the_end(evidence) < LITTLE_MIN - usual_us / 1e6 / duration_s:
        yield Reason.of(ReasonKind.STALLED, little_ratio=ratio)
    elif ratio > LITTLE_MAX + longest_us / 1e6 / duration_s:
        yield Reason.of(ReasonKind.IMPOSSIBLE_THROUGHPUT, little_ratio=ratio)


def _cut_off_by_the_end(evidence: Evidence) -> float:
    """What a stall at the end takes from the ratio: its requests are in no mean, as they would be had it come earlier. 0 if the requests
    in flight are so old that their connections may get no responses."""
    measurement = evidence.measurement
    if not measurement.unfinished or measurement.unfinished_s / measurement.unfinished > END_STALL_SHARE_MAX * measurement.duration_s:
        return 0.0
    return measurement.unfinished_s / measurement.duration_s / (evidence.load.connections * evidence.load.pipeline)


def little_ratio(evidence: Evidence) -> float | None:
    """Throughput × mean service time / requests in flight; ``None`` where that need not be 1.

    Not in an open loop; not without keep-alive, where time goes into connecting and closing, outside the service time; not for
    generators whose mean is of something else; not for a few requests.
    """
    measurement, load = evidence.measurement, evidence.load
    times = measurement.service_time_us
    reconnects = not load.keepalive or load.requests_per_connection is not None
    if load.rate_rps is not None or reconnects or not measurement.means_every_request:
        return None
    in_flight = load.connections * load.pipeline
    if times is None or times.mean is None or measurement.requests.completed < LITTLE_ROUND_TRIPS_MIN * in_flight:
        return None
    return measurement.throughput_rps * times.mean / 1e6 / in_flight
