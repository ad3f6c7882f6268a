"""Find the reasons why a trial is invalid."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator
from typing import Literal

from httpbench.model import Arrivals, Load, Measurement, Reason, ReasonKind, Step, Workload
from httpbench.stats.disturbance import disturbances
from httpbench.stats.evidence import ERROR_SHARE_LIMIT, Evidence

ACHIEVED_SHARE_MIN = 0.99
"""Minimum ratio of the achieved rate to the offered rate. Below this ratio, the target didn't handle the load that the table shows. The
remaining 1% allows for requests in flight at the end. The native load generator waits for the responses to these requests, and counts a
request without a response as an error."""

EDGE_REQUESTS = 2
"""Number of requests that may be missing at the edges of a measurement or step: the first and the last. This matters only if there are few
requests."""

BALANCE_ERRORS = 3
"""Maximum number of responses that slices may lack by chance, in standard errors."""

POISSON_DEVIATIONS = 3
"""Maximum number of Poisson arrivals that a step may lack by chance, in standard deviations."""

LITTLE_MIN, LITTLE_MAX = 0.97, 1.01
"""Allowed range of throughput × mean service time / requests in flight. By Little's law (J. D. C. Little, "A proof for the queuing formula
L = λW", Operations Research 9, 1961) the ratio is 1 in a closed loop without pauses. A lower ratio means that connections stalled or that
the mean doesn't include all requests. A ratio above 1 is impossible, so a clock, a counter or a duration must be wrong. The tolerance of 1%
covers rounding errors."""

END_STALL_SHARE_MAX = 0.1
"""Maximum length of a stall at the end of the measurement that doesn't count against the target, as a share of the measurement. After a
longer stall, the connection may never get a response."""

LITTLE_ROUND_TRIPS_MIN = 100
"""Minimum number of requests per connection and pipeline slot for Little's law. With fewer requests, the requests that are in flight at the
start or the end change the ratio by more than the tolerance."""

REQUESTS_PER_CONNECTION_MIN = 500
"""Minimum number of requests per connection for Little's law. To open a connection takes as long as several requests. That time isn't part
of the service time."""

WRONG_RESPONSES = frozenset({"unexpected_status", "unexpected_content_type", "unexpected_body", "invalid_response", "unknown_status"})
"""Kinds of errors that are wrong responses. Unless the criteria allow failed requests, a single wrong response makes the trial invalid."""

BODY_BYTES_SHARE_MIN = 0.99
"""Minimum ratio of the bytes received to the expected size of all correct responses. The remaining 1% allows for generators that round to
three digits."""

HEADERS_VARY_BYTES = 8
"""Maximum difference in size between the headers of responses that are otherwise equal, in bytes. For example, a date may be longer."""


def is_incorrect(evidence: Evidence) -> bool:
    """Return whether any responses were wrong or truncated. A disturbance can't be the cause."""
    return any(_wrong_responses(evidence)) or any(_wrong_samples(evidence)) or any(_short_bodies(evidence))


def untrue(evidence: Evidence) -> Iterator[Reason]:
    """Yield each reason why the results aren't valid."""
    measurement = evidence.measurement
    events = measurement.events
    if events and events.count == 0:
        yield Reason.of(ReasonKind.NO_EVENT, errors=_errors_made(measurement))
        return
    if events and events.lost:
        yield Reason.of(ReasonKind.EVENTS_LOST, lost=events.lost, events=events.count, streams=events.numbered_streams)
    if measurement.requests.ok == 0 and not events:
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
    if evidence.load.may_fail:  # wrong status codes, such as 503, are results
        if wrong := measurement.errors.get("unexpected_body", 0):
            yield Reason.of(ReasonKind.WRONG_RESPONSES, wrong=wrong, completed=requests.completed, errors=_errors_made(measurement))
        return
    named = sum(count for kind, count in measurement.errors.items() if kind in WRONG_RESPONSES)
    unnamed = max(requests.completed - requests.ok - measurement.errors_total, 0)
    if named + unnamed > (evidence.criteria.failed_share_max or 0.0) * requests.completed:
        yield Reason.of(ReasonKind.WRONG_RESPONSES, wrong=named + unnamed, completed=requests.completed, errors=_errors_made(measurement))


def _wrong_samples(evidence: Evidence) -> Iterator[Reason]:
    sampled = evidence.measurement.sampled_bodies
    if sampled and sampled.problems:
        yield Reason.of(ReasonKind.WRONG_SAMPLES, wrong=sampled.wrong, checked=sampled.checked, problems=list(sampled.problems))


def failed_requests(measurement: Measurement) -> int:
    """Return the number of requests without a correct response.

    A wrong response that the generator also reports as an error is counted only once.
    """
    return max(measurement.errors_total, measurement.requests.completed - measurement.requests.ok)


def _errors(evidence: Evidence) -> Iterator[Reason]:
    measurement = evidence.measurement
    if evidence.load.may_fail:
        return  # failed requests are the result
    failed = failed_requests(measurement)
    ok = max(measurement.requests.ok, measurement.events.streams if measurement.events else 0)
    share = failed / (ok + failed)
    allowed = evidence.criteria.failed_share_max
    limit = ERROR_SHARE_LIMIT if allowed is None else allowed
    if share > limit:
        yield Reason.of(ReasonKind.REQUESTS_FAILED, share=share, limit_share=limit, errors=_errors_made(measurement))


def _errors_made(measurement: Measurement) -> dict[str, int]:
    return {kind: count for kind, count in sorted(measurement.errors.items()) if count}


def _short_bodies(evidence: Evidence) -> Iterator[Reason]:
    """Detect truncated bodies in responses with a correct status, because most generators check only the status.

    Parts of the first responses may arrive before a window begins: one response for each connection or, with HTTP/2, for each stream.
    """
    received, least, load = evidence.measurement.bytes_received, evidence.criteria.response_bytes_min, evidence.load
    if not received or least is None:
        return
    needed, place = least * evidence.measurement.requests.ok, evidence.criteria.response_part
    before = least * evidence.windows * load.connections * (load.pipeline if load.http2 else 1)
    if received + before < BODY_BYTES_SHARE_MIN * needed:
        yield Reason.of(ReasonKind.TRUNCATED, received_bytes=received, expected_bytes=needed, place=place)


def response_size(workload: Workload, response_bytes: int | None = None) -> tuple[int | None, Literal["bodies", "responses"]]:
    """Return the minimum size of correct bodies or responses in bytes (``None`` if unknown), and which of the two the size describes.

    Args:
        workload: The request and the correct response.
        response_bytes: Size of a whole correct response, if all have the same size and the generator counts headers. ``None``: compare
            bodies.
    """
    if not workload.has_one_request or workload.request.method == "HEAD":
        return None, "bodies"
    if response_bytes is not None:
        return response_bytes - HEADERS_VARY_BYTES, "responses"
    return len(workload.expect.body.encode()) if workload.expect.body else workload.expect.body_bytes or 0, "bodies"


def reaches_rate(evidence: Evidence) -> bool:
    """Return whether the target responded at the offered rate; true if there is none."""
    return not any(_rate_not_reached(evidence))


def _rate_not_reached(evidence: Evidence) -> Iterator[Reason]:
    offered, measurement = evidence.load.rate_rps, evidence.measurement
    if offered is None or evidence.load.may_fail:
        return
    if evidence.load.rate_from_rps is not None and evidence.load.rate_from_rps > offered:
        return  # an overload, which the target isn't expected to hold
    if measurement.steps:
        held = rate_held(measurement.steps, evidence.load.arrivals)
        # The results at the highest rate are valid only if the target held every step.
        if len(measurement.steps) != evidence.load.steps or held != offered:
            yield Reason.of(ReasonKind.RATE_NOT_HELD, held_rps=held, offered_rps=offered, share_min=ACHIEVED_SHARE_MIN)
        return
    due, responses = due_requests(measurement, evidence.load), measurement.throughput_rps * measurement.duration_s
    if measurement.events:
        responses = measurement.events.begun
    if not is_achieved(due, responses + (_balance_in_slices(measurement, evidence.load.arrivals) if evidence.windows > 1 else 0.0)):
        # With Poisson arrivals, the number of requests that were due differs from the mean by chance.
        offered_rps = due / measurement.duration_s
        yield Reason.of(ReasonKind.RATE_NOT_REACHED, offered_rps=offered_rps, achieved_rps=responses / measurement.duration_s)
        if evidence.generator_is_busy():
            yield Reason.of(ReasonKind.GENERATOR_SHORT, programs=[evidence.generator_fill()])


def _balance_in_slices(measurement: Measurement, arrivals: Arrivals) -> float:
    """Return how many responses the windows of slices may lack in total by chance.

    A window gains responses to requests that were due before its start, and loses responses that arrive after its end. On average, gains
    and losses are equal. In a single slice, they can differ widely, because a stall of 150 ms lasts longer than half a window. The variance
    over slices shows how large this effect is. A target that is too slow for the rate lacks responses in every slice, so the variance stays
    small.

    The number of Poisson arrivals has a variance equal to its mean. This part of the variance isn't caused by the edges of windows, so it
    is subtracted. But losses and gains also are numbers of arrivals: if each response takes 20 ms, a window loses the arrivals of its last
    20 ms, and gains those of the 20 ms before it. These two numbers vary independently, so both are added.
    """
    counts = [interval.completed for interval in measurement.intervals]
    if len(counts) < 2:
        return 0.0
    variance = len(counts) * statistics.variance(counts)
    if arrivals is Arrivals.POISSON:
        requests, received = measurement.requests, sum(counts)
        lost, gained = (requests.sent or 0) - requests.completed, received - requests.completed
        variance = max(variance - received, 0.0) + max(lost, 0) + max(gained, 0)
    return BALANCE_ERRORS * math.sqrt(variance)


def is_achieved(due: float, responses: float) -> bool:
    """Return whether enough of the requests that were due got a response, allowing for a few at the edges of the period."""
    return responses >= ACHIEVED_SHARE_MIN * due - EDGE_REQUESTS


def due_requests(measurement: Measurement, load: Load) -> float:
    """Return how many requests were due. For Poisson arrivals, the number is random and is taken from the generator's counts."""
    requests = measurement.requests
    if load.arrivals is Arrivals.POISSON and requests.sent is not None:
        return requests.sent + requests.unsent
    return (load.rate_rps or 0.0) * measurement.duration_s


def rate_held(steps: tuple[Step, ...], arrivals: Arrivals) -> float | None:
    """Return the rate in requests/s up to which the target held every step; ``None`` if it missed the first step.

    The number of Poisson arrivals in a step isn't known and may be lower than expected, so a step may have fewer responses than expected.
    """
    held = None
    for step in steps:
        due = step.rate_rps * step.duration_s
        chance = POISSON_DEVIATIONS * math.sqrt(due) if arrivals is Arrivals.POISSON else 0.0
        if not is_achieved(due - chance, step.completed):
            break
        held = step.rate_rps
    return held


def _little(evidence: Evidence) -> Iterator[Reason]:
    ratio = little_ratio(evidence)
    if ratio is None:
        return
    times, window_s = evidence.measurement.service_time_us, evidence.measurement.duration_s / evidence.windows
    # The mean includes the whole time of requests that were in flight at the start. On each connection, this increases the sum of times by
    # at most the longest time. The mean doesn't include requests in flight at the end, which decreases the sum. The bound for the decrease
    # is the p99 if it is known, because the longest time may be the age of a request without a response.
    usual_us = next((us for us in (times.p99, times.p90, times.max) if us is not None), 0.0) if times else 0.0
    longest_us = (times.max or 0.0) if times else 0.0
    # In slices, the reverse is true. The mean includes the whole time of requests that were in flight at the end. It doesn't include those
    # that were in flight at the start, however long they took, unless they took the whole window.
    missing_us = usual_us if evidence.slices is None else longest_us
    if ratio + _cut_off_by_the_end(evidence) < LITTLE_MIN - missing_us / 1e6 / window_s:
        # If another program stopped the target when a slice began, the requests that waited aren't in the mean, and no time shows it.
        if evidence.slices is None or not disturbances(evidence):
            yield Reason.of(ReasonKind.STALLED, little_ratio=ratio)
    elif ratio > LITTLE_MAX + longest_us / 1e6 / window_s:
        yield Reason.of(ReasonKind.IMPOSSIBLE_THROUGHPUT, little_ratio=ratio)


def _cut_off_by_the_end(evidence: Evidence) -> float:
    """Return by how much a stall at the end of the measurement lowers the ratio of Little's law.

    If the stall had occurred earlier, the mean would include the stalled requests. Returns 0 if the requests in flight are so old that
    their connections may never get a response. If the trial was disturbed, other programs may have caused a longer stall.
    """
    measurement = evidence.measurement
    if not measurement.unfinished:
        return 0.0
    share = measurement.unfinished_s / measurement.unfinished / measurement.duration_s
    if share > END_STALL_SHARE_MAX and share > END_STALL_SHARE_MAX + max((each.share for each in disturbances(evidence)), default=0.0):
        return 0.0
    return measurement.unfinished_s / measurement.duration_s / (evidence.load.connections * evidence.load.pipeline)


def little_ratio(evidence: Evidence, round_trips_min: int = LITTLE_ROUND_TRIPS_MIN) -> float | None:
    """Return throughput × mean service time / requests in flight; ``None`` if the ratio may differ from 1 in a valid trial.

    This is the case in an open loop, for event streams, and if the generator's mean doesn't cover every request or if there are fewer than
    ``round_trips_min`` requests per connection and pipeline slot. The ratio also differs if connections are closed and reopened, by the
    load or by the target, because that takes time that isn't part of the service time.
    """
    measurement, load = evidence.measurement, evidence.load
    times = measurement.service_time_us
    reopened = (measurement.connections_opened or 0) - load.connections
    reconnects = reopened * REQUESTS_PER_CONNECTION_MIN > measurement.requests.ok_at_least
    if load.rate_rps is not None or reconnects or not measurement.means_every_request or measurement.events:
        return None
    in_flight = load.connections * load.pipeline
    if times is None or times.mean is None or measurement.requests.completed < round_trips_min * in_flight:
        return None
    return measurement.throughput_rps * times.mean / 1e6 / in_flight
