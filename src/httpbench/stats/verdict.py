"""Decide what limited a trial, or why its results aren't valid.

Throughput means little without its limit. If the load generator ran out of CPU time, for example, the throughput describes the generator
instead of the server. The verdict depends only on CPU time and counters. It therefore needs no extra measurement, works without root, and
can be derived again from a stored trial. The drawback is that limits that use no CPU time, such as a disk or a lock, only lead to the
verdict ``idle``. The network is an exception, because counters show full links and lost packets.

Capacities are counted in physical cores, so SMT siblings don't double the capacity of a program.

The order of the checks matters. Wrong responses come first, because no disturbance can explain them. Then come disturbances by other
programs, then the checks of the measurement itself, and finally the limit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from httpbench.model import ENDINGS, Observed, Reason, ReasonKind, Trial, Usage, Verdict, VerdictKind
from httpbench.stats.disturbance import disturbances
from httpbench.stats.evidence import GENERATOR_NEARLY_BUSY, THREAD_FULL, Evidence, evidence_of, fill, is_baseline, throttled
from httpbench.stats.validity import is_incorrect, untrue
from httpbench.stats.withheld import withheld

TARGET_BUSY = 0.90
"""Minimum share of its cores that a target must use to count as busy. This share is below 1 because the kernel doesn't attribute all
interrupt and network work to a process."""

TARGET_FULL = 0.97
"""Minimum share of its cores that a target must use to count as the limit if the generator is nearly full, too. If each request costs the
same under any load, such a target could serve at most 3% more requests, and rounds differ by that much anyway. But requests may cost less
under more load, because a server can handle several waiting requests at once. So if the generator is busy, even a full target isn't proven
to be the only limit."""

BOTH_TARGET = 0.80
"""Minimum share of its cores that a target must use to count as nearly full if the generator is nearly full, too. A target that uses less
could handle a quarter more requests, so the generator alone is the limit."""

MACHINE_BUSY = 0.95
"""Minimum share of shared cores that the programs on them must use together for these cores to count as the limit."""

RETRANSMISSION_S = 0.2
"""Minimum duration of a retransmission timeout on Linux (TCP_RTO_MIN), in seconds; RFC 6298 requires one second. A tail loss probe (RFC
8985) resends a segment earlier, but often that segment wasn't lost and only its acknowledgment was late."""

LOST_SHARE_MIN = 0.05
"""Minimum share of the time of all connections that retransmission timeouts must take before the verdict reports the network as a possible
limit. The value is the same as :data:`OTHERS_SHARE_MAX`."""

LINK_FULL_MIN = 0.90
"""Minimum share of its capacity that a network link must use to count as full. A full link may be the reason why neither side was busy. The
value is the same as :data:`TARGET_BUSY`. The kernel's counters miss about 4% of the bytes: the headers that the network device adds when it
splits large packets into segments."""

POLLING_THREADS_MIN = 0.5
"""Minimum number of threads that must be busy without requests for a target to count as polling. The threads of other targets are hardly
ever busy without requests."""

WAITING_SHARE_MIN = 0.05
"""Minimum time for which a target must wait for a CPU before the verdict mentions the wait, as a share of the time of its cores. The wait
isn't a limit in itself, because threads of one program wait for each other."""


UNJUDGED = Verdict(kind=VerdictKind.UNKNOWN)
"""Verdict of a trial that hasn't been judged yet."""

FAILURES = frozenset(
    (
        ReasonKind.FAILED,
        ReasonKind.USAGE,
        ReasonKind.NOT_BUILT,
        ReasonKind.REQUIREMENT_MISSING,
        ReasonKind.NOT_STARTED,
        ReasonKind.TARGET_DIED,
        ReasonKind.NOT_STOPPED,
        ReasonKind.CONTAINER_FAILED,
        ReasonKind.LOAD_FAILED,
        ReasonKind.CORES_IN_USE,
        ReasonKind.NOT_STORED,
    )
)
"""Incidents after which a trial without a measurement counts as failed. After any other incident, such a trial is invalid."""

AFTERWARDS = frozenset((ReasonKind.WRONG_AFTER_LOAD, ReasonKind.BYTES_MAY_BE_LOST, *ENDINGS))
"""Incidents that the verdict lists after the reasons from the measurement."""

HARMLESS = frozenset((ReasonKind.BYTES_MAY_BE_LOST, *ENDINGS))
"""Incidents that don't make the results invalid."""

CLIENT_BUSY_SHARE = 0.5
"""Minimum share of its wall time for which a client must use the CPU to count as busy. A client below this share mostly waited for the
server's responses or for the kernel to wake it up."""


def judged(trial: Trial) -> Trial:
    """Return a copy of the trial with its verdict."""
    return trial.model_copy(update={"verdict": draw(trial)})


def draw(trial: Trial) -> Verdict:
    """Derive the verdict of a trial from its plan, criteria and observations.

    The trial's current verdict is ignored, so a stored trial gets the same verdict again.
    """
    incidents = trial.observed.incidents
    if trial.client is not None:
        is_busy = trial.client.whole.cpu_s >= CLIENT_BUSY_SHARE * trial.client.whole.wall_s
        kind = VerdictKind.INVALID if incidents else VerdictKind.TARGET if is_busy else VerdictKind.IDLE
        return Verdict(kind=kind, reasons=incidents)
    evidence = evidence_of(trial)
    if evidence is None:
        has_failed = any(each.kind in FAILURES for each in incidents)
        return Verdict(kind=VerdictKind.FAILED if has_failed else VerdictKind.INVALID, reasons=incidents)
    limit = judge(evidence)
    before = [*(each for each in incidents if each.kind not in AFTERWARDS), *_out_of_memory(trial.observed)]
    after = [each for each in incidents if each.kind in AFTERWARDS]
    kind = VerdictKind.BACKEND if limit.kind is VerdictKind.TARGET and is_baseline(trial) else limit.kind
    if before or any(each.kind not in HARMLESS for each in after):
        kind = VerdictKind.INVALID
    is_accepted = kind is VerdictKind.DISTURBED and trial.criteria.accepts_disturbed
    return Verdict(kind=kind, reasons=(*before, *limit.reasons, *after), is_accepted=is_accepted)


def _out_of_memory(observed: Observed) -> Iterator[Reason]:
    """Report processes that the kernel killed for lack of memory in a container that kept running."""
    kills = observed.target_usage.oom_kills if observed.target_usage else None
    if kills and not any(each.kind is ReasonKind.TARGET_DIED_UNDER_LOAD for each in observed.incidents):
        yield Reason.of(ReasonKind.OUT_OF_MEMORY, kills=kills)


def judge(evidence: Evidence) -> Verdict:
    """Return the verdict of a measured trial, without considering its incidents."""
    accepts_disturbed = evidence.criteria.accepts_disturbed
    wrong, disturbed = tuple(untrue(evidence)), tuple(each.reason for each in disturbances(evidence))
    if wrong and (not disturbed or accepts_disturbed or is_incorrect(evidence)):
        verdict = Verdict(kind=VerdictKind.INVALID, reasons=(*wrong, *disturbed))
    elif disturbed:
        verdict = Verdict(kind=VerdictKind.DISTURBED, reasons=(*disturbed, *wrong), is_accepted=accepts_disturbed)
    else:
        verdict = _limit(evidence)
    also = tuple(reason for _, reason in withheld(evidence).values())
    return verdict.model_copy(update={"reasons": (*verdict.reasons, *also)})


def _limit(evidence: Evidence) -> Verdict:
    target, generator = evidence.observed.target_usage, evidence.observed.generator_usage
    if generator is None:
        return _verdict(VerdictKind.UNKNOWN, ReasonKind.NOT_SAMPLED)
    if target is None:
        programs = [evidence.generator_fill(), {"name": "target"}]
        if evidence.generator_is_busy():
            return _verdict(VerdictKind.GENERATOR, ReasonKind.GENERATOR_BOUND, programs=programs)
        return _verdict(VerdictKind.UNKNOWN, ReasonKind.TARGET_NOT_SAMPLED, programs=programs)
    sharing = _sharing(evidence, target, generator) if evidence.cores.shared else []
    if limit := _limit_of_shared_cores(evidence, sharing, VerdictKind.SHARED, ReasonKind.SHARED_CORES_FULL):
        return limit
    if limit := _limit_of_either(evidence, target):
        return limit
    if limit := _limit_behind_target(evidence, generator):
        return limit
    if evidence.load.rate_rps is None and (network := (*_full_links(evidence), *_losses(evidence))):
        return Verdict(kind=VerdictKind.NETWORK, reasons=network)
    idle = ReasonKind.NEITHER_BUSY if evidence.load.rate_rps is None else ReasonKind.RATE_LEFT_IDLE
    return _verdict(VerdictKind.IDLE, idle, **(_together(evidence, sharing) if sharing else {"programs": _each(evidence, target)}))


def _verdict(kind: VerdictKind, why: ReasonKind, **data: Any) -> Verdict:
    return Verdict(kind=kind, reasons=(Reason.of(why, **data),))


def _limit_of_either(evidence: Evidence, target: Usage) -> Verdict | None:
    """Return the target, the generator or both as the limit; ``None`` if neither was full."""
    programs = _each(evidence, target)
    used, capacity = evidence.target_fill(target)
    share = used / capacity
    has_full_thread = target.thread_cores_max is not None and target.thread_cores_max >= THREAD_FULL
    looks_full = share >= BOTH_TARGET or has_full_thread
    if looks_full and not throttled(target) and (limit := _limit_of_polling(evidence, programs)):
        return limit
    if share >= TARGET_FULL and not evidence.generator_is_busy():
        return Verdict(kind=VerdictKind.TARGET, reasons=_quota(evidence, target, capacity))
    if throttled(target) and throttled(evidence.observed.generator_usage):
        return _verdict(VerdictKind.SHARED, ReasonKind.QUOTA_STOPPED_BOTH, programs=programs)
    if (looks_full or throttled(target)) and evidence.generator_is_busy(GENERATOR_NEARLY_BUSY):
        return _verdict(VerdictKind.BOTH, ReasonKind.BOTH_NEARLY_FULL, programs=programs)
    if share >= TARGET_BUSY:
        return Verdict(kind=VerdictKind.TARGET, reasons=_quota(evidence, target, capacity))
    if has_full_thread:
        mean, most = evidence.target_cores(target) / evidence.target_capacity(), target.thread_cores_max
        return _verdict(VerdictKind.TARGET, ReasonKind.THREAD_FULL, threads=target.threads, thread_cores_max=most, mean_share=mean)
    if throttled(target):
        return Verdict(kind=VerdictKind.TARGET)  # `withheld` always reports the quota
    if evidence.generator_is_busy():
        return _verdict(VerdictKind.GENERATOR, ReasonKind.GENERATOR_BOUND, programs=programs)
    return None


def _limit_of_polling(evidence: Evidence, programs: list[dict[str, Any]]) -> Verdict | None:
    """Return the verdict if the target may look full only because it polls, else ``None``.

    A server that checks its sockets or rings in a loop uses a whole core even when it has nothing to do. Examples are ``epoll_wait`` with a
    timeout of 0 and a kernel thread of io_uring. Each trial therefore counts the target's threads that are busy without requests. The count
    doesn't detect a server that polls for a moment after each request and then sleeps.
    """
    busy = evidence.observed.target_polling_threads
    if busy is None or busy < POLLING_THREADS_MIN:
        return None
    is_nearly_full = evidence.generator_is_busy(GENERATOR_NEARLY_BUSY)
    kind = VerdictKind.BOTH if is_nearly_full else VerdictKind.UNKNOWN
    return _verdict(kind, ReasonKind.POLLS, threads=busy, generator_is_nearly_full=is_nearly_full, programs=programs)


def _quota(evidence: Evidence, target: Usage, capacity: float) -> tuple[Reason, ...]:
    """Report that a target used up its container's CPU limit, unless the throttled periods already show this."""
    if capacity >= evidence.target_capacity() or throttled(target):
        return ()
    return (Reason.of(ReasonKind.TARGET_QUOTA_USED, programs=[fill("target", target.cpu_cores_mean, capacity)]),)


def _full_links(evidence: Evidence) -> Iterator[Reason]:
    """Yield a reason for each machine whose network link is full."""
    there = evidence.observed.load_host
    for network, host in ((evidence.observed.network, None), (there.network, there.name) if there else (None, None)):
        link = network.fullest_link if network else None
        if link is not None and link.share >= LINK_FULL_MIN:
            yield Reason.of(
                ReasonKind.LINK_FULL, link=link.name, bits_per_s=link.bits_per_s, capacity_bits_per_s=link.capacity_bits_per_s, host=host
            )


def _losses(evidence: Evidence) -> Iterator[Reason]:
    """Yield a reason if connections waited so long for lost packets that the network may have been the limit."""
    sides = (evidence.observed.network, evidence.observed.load_host.network if evidence.observed.load_host else None)
    timeouts = sum(side.retransmission_timeouts or 0 for side in sides if side)
    share = timeouts * RETRANSMISSION_S / (evidence.load.connections * evidence.measurement.duration_s)
    if share >= LOST_SHARE_MIN:
        yield Reason.of(ReasonKind.RETRANSMISSIONS, timeouts=timeouts, time_share_min=min(share, 1))


class _Program(NamedTuple):
    name: str
    cpus: tuple[int, ...]
    usage: Usage


def _limit_behind_target(evidence: Evidence, generator: Usage) -> Verdict | None:
    """Return the verdict if the backend or the database was the limit, else ``None``.

    On shared cores, the backend or the database may be the limit together with the generator. The caller must check first that the target
    itself wasn't busy.
    """
    seen, cores = evidence.observed, evidence.cores
    if (backend := seen.backend_usage) is not None:
        if cores.backend_shared:
            sharing = [_Program("generator", cores.generator, generator), _Program("backend", cores.backend, backend)]
            if limit := _limit_of_shared_cores(evidence, sharing, VerdictKind.BACKEND, ReasonKind.BACKEND_SHARED):
                return limit
        elif backend.cpu_cores_mean >= TARGET_BUSY * (capacity := evidence.backend_capacity()):
            host = seen.load_host.name if seen.load_host and seen.load_host.backend_cores else None
            programs = [fill("backend", backend.cpu_cores_mean, capacity, host=host)]
            return _verdict(VerdictKind.BACKEND, ReasonKind.BACKEND_BOUND, programs=programs)
    if (database := seen.database_usage) is None:
        return None
    if (share := throttled(database)) is not None:
        return _verdict(VerdictKind.DATABASE, ReasonKind.DATABASE_THROTTLED, periods_share=share)
    if cores.database_shared:
        sharing = [_Program("generator", cores.generator, generator), _Program("database", cores.database, database)]
        return _limit_of_shared_cores(evidence, sharing, VerdictKind.DATABASE, ReasonKind.DATABASE_SHARED)
    if database.cpu_cores_mean >= TARGET_BUSY * (capacity := cores.physical(cores.database)):
        return _verdict(VerdictKind.DATABASE, ReasonKind.DATABASE_BOUND, programs=[fill("database", database.cpu_cores_mean, capacity)])
    return None


def _sharing(evidence: Evidence, target: Usage, generator: Usage) -> list[_Program]:
    """Return the programs on the cores that the target and the load generator share, including a backend or database."""
    cores = evidence.cores
    both = [_Program("generator", cores.generator, generator), _Program("target", cores.target, target)]
    others = (("backend", cores.backend, evidence.observed.backend_usage), ("database", cores.database, evidence.observed.database_usage))
    shared = {*cores.target, *cores.generator}
    return both + [_Program(name, cpus, usage) for name, cpus, usage in others if usage is not None and shared & {*cpus}]


def _limit_of_shared_cores(evidence: Evidence, sharing: Sequence[_Program], kind: VerdictKind, why: ReasonKind) -> Verdict | None:
    """Return the limit if these programs together filled the cores that they share, else ``None``."""
    data = _together(evidence, sharing)
    is_full = sharing and sum(each.usage.cpu_cores_mean for each in sharing) >= MACHINE_BUSY * data["shared_cores"]
    return _verdict(kind, why, **data) if is_full else None


def _together(evidence: Evidence, sharing: Sequence[_Program]) -> dict[str, Any]:
    """Return how much CPU time these programs used on the cores that they share, as the data for a reason."""
    programs = [{"name": each.name, "cores": each.usage.cpu_cores_mean} for each in sharing]
    return {"programs": programs, "shared_cores": evidence.cores.physical({cpu for each in sharing for cpu in each.cpus})}


def _each(evidence: Evidence, target: Usage) -> list[dict[str, Any]]:
    """Return how full the generator and the target were, as the data for a reason."""
    cores, capacity = evidence.target_fill(target)
    waited = target.cpu_wait_cores_mean or 0.0
    own = fill(
        "target",
        cores,
        capacity,
        fullest_thread_cores=target.thread_cores_max if capacity > 1 else None,
        waited_share=waited if waited >= WAITING_SHARE_MIN * capacity else None,
    )
    return [evidence.generator_fill(), own]
