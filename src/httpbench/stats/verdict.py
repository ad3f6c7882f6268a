"""What limited a trial, or why its figures do not count.

A rate without its limit is half a fact: a server's requests per second, measured by a generator that had no CPU time left, are the
generator's. The verdict is drawn from CPU time and counts alone, so it costs nothing, works without root and can be drawn again from
the store. The price: what uses no CPU time of ours (a disk, a lock) shows only as «idle»; a network shows by what it lost.

Order matters: whether the figures are true comes before what they are limited by.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from httpbench.model import CoreOccupancy, Cores, Load, Measurement, Network, Scaling, Step, Usage, Verdict, VerdictKind, Workload

ERROR_SHARE_LIMIT = 0.001
"""Errors per request. A lost request costs a timeout that no percentile below it shows; one in a thousand is the p99.9."""

ACHIEVED_SHARE_MIN = 0.99
"""Achieved / offered rate. Below, the target got fewer requests than the table says; 1 % covers requests in flight at the end."""

STEP_EDGE_REQUESTS = 2
"""Of a step of a rising rate the first and the last request may fall into its neighbours, which matters where there are few."""

TARGET_BUSY = 0.90
"""Share of its cores from which a target counts as busy. Not 1: interrupts and the kernel's network work, counted to nobody, take some."""

GENERATOR_BUSY = 0.95
"""Share of its cores from which a generator counts as busy. Higher than for targets: one with a tenth of its time to spare could have
sent more. Time in which it was ready to run and was kept off its cores, by a quota or a neighbour, counts like time that it ran."""

GENERATOR_STARVED = 0.25
"""Share of the time in which a generator was kept off its cores, from which it was the limit whatever it did in the rest: a target that had
time to spare would have responded more often to one that could run."""

MACHINE_BUSY = 0.95
"""Share of the cores that target and generator use together, from which shared cores are the limit."""

STRANGERS_SHARE_MIN = 0.05
"""Share of the measured cores that others take, from which they may be why nobody was busy. Less than the complement of ``TARGET_BUSY``:
in a closed loop each party waits for the other, so what holds one up idles both."""

RETRANSMISSION_S = 0.2
"""What a retransmission timeout costs: Linux waits at least this long (TCP_RTO_MIN; RFC 6298 requires a second). Segments that are sent
again sooner, by a tail loss probe (RFC 8985), are often not lost at all: the acknowledgement was late."""

LOST_SHARE_MIN = 0.05
"""Share of the connections' time that losses took, from which they may be why nobody was busy. As for strangers."""

LITTLE_MIN, LITTLE_MAX = 0.97, 1.01
"""Little's law (J. D. C. Little, «A proof for the queuing formula L = λW», Operations Research 9, 1961): in a closed loop without
pauses, throughput × mean service time = requests in flight. Less: connections stood still, or the mean leaves requests out. More than
all there are is impossible, so a clock, a count or a duration is wrong; 1 % covers rounding."""

LITTLE_ROUND_TRIPS_MIN = 100
"""Requests per request in flight, under which the first and the last ones, cut by the ends of the period, outweigh the tolerance."""

WRONG_RESPONSES = frozenset({"unexpected_status", "unexpected_body", "invalid_response", "unknown_status"})
"""Kinds of error that are responses. One is too many: a target that was wrong once is not correct, and no share makes it so."""

BODY_BYTES_SHARE_MIN = 0.99
"""Bytes received / bytes of the bodies that correct responses must have; 1 % because generators print bytes with three digits."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known of a trial that was measured."""

    measurement: Measurement
    load: Load
    cores: Cores
    target_usage: Usage | None
    """Over the measured period, the whole process tree. ``None``: not sampled, and then the limit is unknown."""
    generator_usage: Usage | None
    backend_usage: Usage | None = None
    """Of the server behind a proxy; ``None``: there is none."""
    occupancy: tuple[CoreOccupancy, ...] = ()
    """Of the measured cores. Empty: not known, and then strangers on them are not seen."""
    network: Network | None = None
    """``None``: not known, and then losses are not seen."""
    scaling: Scaling = Scaling.MULTI
    """With ``single`` a target is busy at one core, however many it was given."""
    workload: Workload | None = None
    """Where it is given, the bytes that came are compared with the bodies that must have come."""
    error_share_limit: float = ERROR_SHARE_LIMIT
    wrong_share_limit: float = 0.0
    """Above zero only for a search, which overloads targets on purpose: «503» is a correct response then."""


def judge(evidence: Evidence) -> Verdict:
    """The verdict of a trial, with its reasons in words. Never ``failed``: that is a trial without a measurement."""
    wrong = tuple(_untrue(evidence))
    if wrong:
        return Verdict(kind=VerdictKind.INVALID, reasons=wrong)
    return _limit(evidence)


# --- is it true? ---------------------------------------------------------------------------------------------------------------


def _untrue(evidence: Evidence) -> Iterator[str]:
    measurement = evidence.measurement
    if measurement.requests.ok == 0:
        yield "no correct response" + _named_errors(measurement)
        return
    yield from _wrong_responses(evidence)
    yield from _errors(evidence)
    yield from _short_bodies(evidence)
    yield from _rate_not_reached(evidence)
    yield from _little(evidence)


def _wrong_responses(evidence: Evidence) -> Iterator[str]:
    measurement = evidence.measurement
    requests = measurement.requests
    named = sum(count for kind, count in measurement.errors.items() if kind in WRONG_RESPONSES)
    unnamed = max(requests.completed - requests.ok - measurement.errors_total, 0)
    if named + unnamed > evidence.wrong_share_limit * requests.completed:
        yield f"{named + unnamed:,} of {requests.completed:,} responses were wrong{_named_errors(measurement)}"


def failed_requests(measurement: Measurement) -> int:
    """Requests without a correct response. Wrong responses that a generator also counts as errors are counted once."""
    return max(measurement.errors_total, measurement.requests.completed - measurement.requests.ok)


def _errors(evidence: Evidence) -> Iterator[str]:
    measurement = evidence.measurement
    failed = failed_requests(measurement)
    share = failed / (measurement.requests.ok + failed)
    if share > evidence.error_share_limit:
        yield f"{share:.2%} of requests failed, more than {evidence.error_share_limit:.2%}{_named_errors(measurement)}"


def _named_errors(measurement: Measurement) -> str:
    named = ", ".join(f"{kind.replace('_', ' ')} {count:,}" for kind, count in sorted(measurement.errors.items()) if count)
    return f" ({named})" if named else ""


def _short_bodies(evidence: Evidence) -> Iterator[str]:
    """Most generators check the status alone; this finds truncated bodies behind a correct status."""
    received = evidence.measurement.bytes_received
    workload = evidence.workload
    if not received or workload is None or workload.request.method == "HEAD":
        return
    size = len(workload.expect.body.encode()) if workload.expect.body else workload.expect.body_bytes or 0
    needed = size * evidence.measurement.requests.ok
    if received < BODY_BYTES_SHARE_MIN * needed:
        yield f"{received:,} bytes received, {needed:,} expected in bodies: responses were truncated"


def _rate_not_reached(evidence: Evidence) -> Iterator[str]:
    offered = evidence.load.rate_rps
    if offered is None:
        return
    if evidence.measurement.steps:
        yield from _highest_not_held(evidence.measurement.steps, evidence.load)
        return
    achieved = evidence.measurement.throughput_rps
    if achieved / offered < ACHIEVED_SHARE_MIN:
        yield f"offered {offered:,.0f} requests/s, achieved {achieved:,.0f} ({achieved / offered:.1%})"
        if generator_is_busy(evidence):
            yield f"generator-bound (generator {_of_generator(evidence)}): perhaps it could not offer more"


def _highest_not_held(steps: tuple[Step, ...], load: Load) -> Iterator[str]:
    """A rising rate says how far it was followed; the figures at the highest rate need that to be all the way."""
    held = rate_held(steps)
    if len(steps) == load.steps and held == load.rate_rps:
        return
    rate = f"{held:,.0f}" if held else "none"
    yield f"held {rate} of {load.rate_rps or 0:,.0f} requests/s (achieved / offered at least {ACHIEVED_SHARE_MIN:.0%})"


def rate_held(steps: tuple[Step, ...]) -> float | None:
    """The highest rate, in requests per second, up to which every rate was achieved; ``None`` where not even the first was."""
    held = None
    for step in steps:
        if step.completed < ACHIEVED_SHARE_MIN * step.rate_rps * step.duration_s - STEP_EDGE_REQUESTS:
            break
        held = step.rate_rps
    return held


def _little(evidence: Evidence) -> Iterator[str]:
    ratio = little_ratio(evidence)
    if ratio is None:
        return
    times, duration_s = evidence.measurement.service_time_us, evidence.measurement.duration_s
    # A request in flight at the start counts with all its time: on each connection at most the longest. One in flight at the
    # end counts with none; the longest time may be that of a request that never ended, so a usual one says what this may take.
    usual_us = next((us for us in (times.p99, times.p90, times.max) if us is not None), 0.0) if times else 0.0
    longest_us = (times.max or 0.0) if times else 0.0
    if ratio < LITTLE_MIN - usual_us / 1e6 / duration_s:
        yield f"connections stalled for {1 - ratio:.1%} of the time (throughput × mean service time / requests in flight = {ratio:.3f})"
    elif ratio > LITTLE_MAX + longest_us / 1e6 / duration_s:
        yield f"throughput × mean service time is {ratio:.3f} × requests in flight, which is impossible: a clock or a count is wrong"


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


# --- what limited it? ----------------------------------------------------------------------------------------------------------


def _limit(evidence: Evidence) -> Verdict:
    target, generator = evidence.target_usage, evidence.generator_usage
    if target is None or generator is None:
        return Verdict(kind=VerdictKind.UNKNOWN, reasons=("CPU time was not sampled, so the limit is unknown",))
    capacity = target_capacity(evidence)
    target_is_busy = target.cpu_cores_mean >= TARGET_BUSY * capacity
    said = f"generator {_of_generator(evidence)}, target {_of(target, capacity)}"
    if target_is_busy and generator_is_busy(evidence):
        return Verdict(kind=VerdictKind.TARGET, reasons=(f"both busy ({said}): another load generator might show more",))
    if target_is_busy:
        return Verdict(kind=VerdictKind.TARGET)
    if generator_is_busy(evidence):
        return Verdict(kind=VerdictKind.GENERATOR, reasons=(f"generator-bound ({said})",))
    if evidence.backend_usage is not None and (limit := _limit_of_backend(evidence, evidence.backend_usage, generator)):
        return limit
    strangers = _strangers(evidence, target, generator)
    if strangers:
        return Verdict(kind=VerdictKind.UNKNOWN, reasons=(strangers,))
    losses = _losses(evidence)
    if losses:
        return Verdict(kind=VerdictKind.NETWORK, reasons=(losses,))
    if evidence.cores.shared:
        return _limit_of_shared_cores(evidence, target, generator)
    return Verdict(kind=VerdictKind.IDLE, reasons=(_why_idle(evidence, said),))


def generator_is_busy(evidence: Evidence) -> bool:
    """Whether it could not have made more load than it did; false where its CPU time is not known."""
    usage = evidence.generator_usage
    if usage is None:
        return False
    capacity, waited = generator_capacity(evidence), _kept_waiting(evidence)
    return waited >= GENERATOR_STARVED * capacity or generator_cores(evidence, usage) + waited >= GENERATOR_BUSY * capacity


def generator_cores(evidence: Evidence, usage: Usage) -> float:
    """Cores' worth of time in which the generator had something to do: its CPU time, unless it polls and tells that apart."""
    told = evidence.measurement.busy_cores
    return usage.cpu_cores_mean if told is None else told


def _kept_waiting(evidence: Evidence) -> float:
    """Cores' worth of time that the generator was kept off its cores. On shared ones the target does that, and is not to blame."""
    usage = evidence.generator_usage
    return 0.0 if usage is None or evidence.cores.shared else usage.cpu_wait_cores_mean or 0.0


def _losses(evidence: Evidence) -> str | None:
    """What the network lost, where the wait for it is enough to have been the limit. An offered rate that was reached has none."""
    network = evidence.network
    if network is None or not network.retransmission_timeouts or evidence.load.rate_rps is not None:
        return None
    share = network.retransmission_timeouts * RETRANSMISSION_S / (evidence.load.connections * evidence.measurement.duration_s)
    if share < LOST_SHARE_MIN:
        return None
    lost = f"connections waited {network.retransmission_timeouts:,} times for TCP to resend a lost segment"
    return f"{lost}, at least {min(share, 1):.0%} of their time"


def _strangers(evidence: Evidence, target: Usage, generator: Usage) -> str | None:
    """What others took of the measured cores, where it is enough to have been the limit. An offered rate that was reached has none."""
    cores = evidence.occupancy
    if not cores or evidence.load.rate_rps is not None:
        return None
    stolen = sum(core.stolen for core in cores)
    others = others_cores(evidence, target, generator)
    if others + stolen < STRANGERS_SHARE_MIN * len(cores):
        return None
    return f"other programs took {others:.2f} and other virtual machines {stolen:.2f} of the {len(cores)} measured {_cores(len(cores))}"


def others_cores(evidence: Evidence, target: Usage, generator: Usage) -> float:
    """Cores' worth of the measured cores that were not the target's, nor the generator's, nor a backend's."""
    backend = evidence.backend_usage.cpu_cores_mean if evidence.backend_usage else 0.0
    ours = target.cpu_cores_mean + generator.cpu_cores_mean + backend
    return max(sum(core.busy for core in evidence.occupancy) - ours, 0.0)


def _limit_of_backend(evidence: Evidence, backend: Usage, generator: Usage) -> Verdict | None:
    """A proxy that was not busy, between two others: whether one of these was, or both filled the cores that they share."""
    cores = evidence.cores
    if not cores.backend_shared:
        if backend.cpu_cores_mean < TARGET_BUSY * len(cores.backend):
            return None
        said = _of(backend, len(cores.backend))
        return Verdict(kind=VerdictKind.BACKEND, reasons=(f"backend-bound (backend {said})",))
    capacity = len({*cores.backend, *cores.generator})
    if backend.cpu_cores_mean + generator.cpu_cores_mean < MACHINE_BUSY * capacity:
        return None
    kind = VerdictKind.GENERATOR if generator.cpu_cores_mean > backend.cpu_cores_mean else VerdictKind.BACKEND
    said = f"generator {generator.cpu_cores_mean:.2f} and backend {backend.cpu_cores_mean:.2f} of {capacity} shared {_cores(capacity)}"
    return Verdict(kind=kind, reasons=(f"generator and backend filled the cores that they share ({said})",))


def _limit_of_shared_cores(evidence: Evidence, target: Usage, generator: Usage) -> Verdict:
    """Neither had its cores to itself. Where these were full, the greater consumer is named: more could have been had from it."""
    capacity = len({*evidence.cores.target, *evidence.cores.generator})
    said = f"generator {generator.cpu_cores_mean:.2f} and target {target.cpu_cores_mean:.2f} of {capacity} shared {_cores(capacity)}"
    if generator.cpu_cores_mean + target.cpu_cores_mean < MACHINE_BUSY * capacity:
        return Verdict(kind=VerdictKind.IDLE, reasons=(_why_idle(evidence, said),))
    if generator.cpu_cores_mean > target.cpu_cores_mean:
        return Verdict(kind=VerdictKind.GENERATOR, reasons=(f"generator-bound: it used more of the shared cores than the target ({said})",))
    return Verdict(kind=VerdictKind.TARGET, reasons=(f"shared cores: figures are of target and generator together ({said})",))


def target_capacity(evidence: Evidence) -> int:
    """Cores that the target can fill."""
    return 1 if evidence.scaling is Scaling.SINGLE else max(len(evidence.cores.target), 1)


def generator_capacity(evidence: Evidence) -> int:
    """Cores that the generator can fill: no more than it was given, no more than it has threads, no more threads than connections."""
    cores = max(len(evidence.cores.generator), 1)
    return min(cores, evidence.load.threads or cores, evidence.load.connections)


def _why_idle(evidence: Evidence, said: str) -> str:
    if evidence.load.rate_rps is not None:
        return f"the offered rate left cores idle ({said})"
    return f"neither busy ({said}): the target waited, or the load is too small"


def _of_generator(evidence: Evidence) -> str:
    assert evidence.generator_usage is not None
    waited = _kept_waiting(evidence)
    more = f", waiting for a core {waited:.2f} of the time" if waited >= 1 - GENERATOR_BUSY else ""
    capacity = generator_capacity(evidence)
    return f"{generator_cores(evidence, evidence.generator_usage):.2f} of {capacity} {_cores(capacity)}{more}"


def _of(usage: Usage, capacity: int) -> str:
    return f"{usage.cpu_cores_mean:.2f} of {capacity} {_cores(capacity)}"


def _cores(count: int) -> str:
    return "core" if count == 1 else "cores"
