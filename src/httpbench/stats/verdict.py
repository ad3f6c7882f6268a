"""What limited a trial, or why its figures are not valid.

A rate without its limit is half a fact: a server's requests per second, measured by a generator that had no CPU time left, are the
generator's. The verdict is drawn from CPU time and counts alone, so it costs nothing, works without root and can be drawn again from
the store. The price: what uses no CPU time of ours (a disk, a lock) shows only as «idle»; a network shows by what it lost.

Cores are physical ones, so SMT siblings do not double what a program could fill.

Order matters. Responses that were wrong come first, because nothing that others do excuses them. Whether others disturbed the trial
comes next, then whether the figures are true, and at last what they are limited by.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from httpbench.model import Usage, Verdict, VerdictKind
from httpbench.stats.disturbance import disturbances
from httpbench.stats.evidence import (
    THREAD_FULL,
    Evidence,
    backend_capacity,
    cores_text,
    generator_is_busy,
    generator_is_nearly_busy,
    generator_text,
    target_capacity,
    target_cores,
    target_fill,
    throttled,
)
from httpbench.stats.polling import limit_of_polling
from httpbench.stats.validity import is_incorrect, untrue
from httpbench.stats.withheld import withheld
from httpbench.text import listed

TARGET_BUSY = 0.90
"""Share of its cores from which a target counts as busy. Not 1: interrupts and network work of the kernel are charged to no process."""

TARGET_FULL = 0.97
"""Share of its cores from which the target is the limit even if the generator is full too: it can do 3% more at most, as much as rounds
differ by."""

BOTH_TARGET = 0.80
"""Share of its cores from which a target beside a nearly full generator is nearly full too. Below, it can do a quarter more, and the
generator alone is the limit."""

MACHINE_BUSY = 0.95
"""Share of the cores that target and generator use together, from which shared cores are the limit."""

RETRANSMISSION_S = 0.2
"""What a retransmission timeout costs: Linux waits at least this long (TCP_RTO_MIN; RFC 6298 requires a second). Segments that are sent
again sooner, by a tail loss probe (RFC 8985), are often not lost at all: the acknowledgement was late."""

LOST_SHARE_MIN = 0.05
"""Share of the connections' time that losses took, from which they may be why neither was busy. As for other programs."""

WAITING_SHARE_MIN = 0.05
"""Share of its cores that a target waited for, from which it is said. No limit by itself: threads of one program wait for each other."""


def judge(evidence: Evidence, *, accepts_disturbed: bool = False) -> Verdict:
    """The verdict of a trial, with its reasons in words. Never ``failed``: that is a trial without a measurement.

    ``accepts_disturbed``: a disturbed trial counts, if its figures are true.
    """
    wrong, disturbed = tuple(untrue(evidence)), tuple(each.text for each in disturbances(evidence))
    if wrong and (not disturbed or accepts_disturbed or is_incorrect(evidence)):
        verdict = Verdict(kind=VerdictKind.INVALID, reasons=(*wrong, *disturbed))
    elif disturbed:
        verdict = Verdict(kind=VerdictKind.DISTURBED, reasons=(*disturbed, *wrong), is_accepted=accepts_disturbed)
    else:
        verdict = _limit(evidence)
    also = tuple(each.text for each in withheld(evidence).values())
    return verdict.model_copy(update={"reasons": (*verdict.reasons, *also)})


def _limit(evidence: Evidence) -> Verdict:
    target, generator = evidence.target_usage, evidence.generator_usage
    if generator is None:
        return Verdict(kind=VerdictKind.UNKNOWN, reasons=("CPU time was not sampled, so the limit is unknown",))
    if target is None:
        return _limit_beside_unknown(evidence)
    if limit := _limit_of_shared_cores(evidence, target, generator):
        return limit
    if limit := _limit_of_either(evidence, target):
        return limit
    if evidence.backend_usage is not None and (limit := _limit_of_backend(evidence, evidence.backend_usage, generator)):
        return limit
    if evidence.database_usage is not None and (limit := _limit_of_database(evidence, evidence.database_usage, generator)):
        return limit
    losses = _losses(evidence)
    if losses:
        return Verdict(kind=VerdictKind.NETWORK, reasons=(losses,))
    return Verdict(kind=VerdictKind.IDLE, reasons=(_why_idle(evidence, target, generator),))


def _limit_beside_unknown(evidence: Evidence) -> Verdict:
    """Of a target whose CPU time is unknown: a generator that was full is the limit all the same."""
    said = f"generator {generator_text(evidence)}, target not sampled"
    if generator_is_busy(evidence):
        return Verdict(kind=VerdictKind.GENERATOR, reasons=(f"generator-bound ({said})",))
    return Verdict(kind=VerdictKind.UNKNOWN, reasons=(f"the target's CPU time is unknown, so its limit is unknown ({said})",))


def _limit_of_either(evidence: Evidence, target: Usage) -> Verdict | None:
    """Target or generator, or both where neither is the limit for certain; ``None``: neither was full."""
    said = _each(evidence, target)
    used, capacity = target_fill(evidence, target)
    share = used / capacity
    has_full_thread = target.thread_cores_max is not None and target.thread_cores_max >= THREAD_FULL
    looks_full = share >= BOTH_TARGET or has_full_thread
    if looks_full and not throttled(target) and (limit := limit_of_polling(evidence, said)):
        return limit
    if share >= TARGET_FULL:
        both = (f"both busy ({said}): another load generator might show more",) if generator_is_busy(evidence) else ()
        return Verdict(kind=VerdictKind.TARGET, reasons=(*_quota(evidence, target, capacity), *both))
    if throttled(target) and throttled(evidence.generator_usage):
        reason = f"a CPU quota stopped target and generator: figures are of both together ({said})"
        return Verdict(kind=VerdictKind.SHARED, reasons=(reason,))
    if (share >= BOTH_TARGET or has_full_thread or throttled(target)) and generator_is_nearly_busy(evidence):
        reason = f"target and generator were both nearly full ({said}): the target can do more"
        return Verdict(kind=VerdictKind.BOTH, reasons=(reason,))
    if share >= TARGET_BUSY:
        return Verdict(kind=VerdictKind.TARGET, reasons=_quota(evidence, target, capacity))
    if has_full_thread:
        return Verdict(kind=VerdictKind.TARGET, reasons=(_full_thread(evidence, target),))
    if throttled(target):
        return Verdict(kind=VerdictKind.TARGET)  # the reason is one that is always said
    if generator_is_busy(evidence):
        return Verdict(kind=VerdictKind.GENERATOR, reasons=(f"generator-bound ({said})",))
    return None


def _quota(evidence: Evidence, target: Usage, capacity: float) -> tuple[str, ...]:
    """That a target filled the CPU limit of its container, unless the periods in which it was stopped say so."""
    if capacity >= target_capacity(evidence) or throttled(target):
        return ()
    return (f"the target used up its CPU quota ({target.cpu_cores_mean:.2f} of {capacity:g} {cores_text(capacity)})",)


def _full_thread(evidence: Evidence, target: Usage) -> str:
    mean = target_cores(evidence, target) / target_capacity(evidence)
    return f"one of the target's {target.threads} threads was full ({target.thread_cores_max:.2f} of a core, mean {mean:.2f})"


def _losses(evidence: Evidence) -> str | None:
    """What the network lost, where the wait for it is enough to have been the limit. An offered rate that was reached has none."""
    sides = (evidence.network, evidence.load_host.network if evidence.load_host else None)
    timeouts = sum(side.retransmission_timeouts or 0 for side in sides if side)
    if not timeouts or evidence.load.rate_rps is not None:
        return None
    share = timeouts * RETRANSMISSION_S / (evidence.load.connections * evidence.measurement.duration_s)
    if share < LOST_SHARE_MIN:
        return None
    lost = f"connections waited {timeouts:,} times for TCP to resend a lost segment"
    return f"{lost}, at least {min(share, 1):.0%} of their time"


def _limit_of_backend(evidence: Evidence, backend: Usage, generator: Usage) -> Verdict | None:
    """A proxy that was not busy, between two others: whether one of these was, or both filled the cores that they share."""
    cores = evidence.cores
    if not cores.backend_shared:
        capacity = backend_capacity(evidence)
        if backend.cpu_cores_mean < TARGET_BUSY * capacity:
            return None
        place = f" on {evidence.load_host.name}" if evidence.load_host and evidence.load_host.backend_cores else ""
        said = f"{_of(backend, capacity)}{place}"
        return Verdict(kind=VerdictKind.BACKEND, reasons=(f"backend-bound (backend {said})",))
    capacity = cores.physical({*cores.backend, *cores.generator})
    if backend.cpu_cores_mean + generator.cpu_cores_mean < MACHINE_BUSY * capacity:
        return None
    said = f"generator {generator.cpu_cores_mean:.2f} and backend {backend.cpu_cores_mean:.2f} of {capacity} shared {cores_text(capacity)}"
    return Verdict(kind=VerdictKind.BACKEND, reasons=(f"generator and backend filled the cores that they share ({said})",))


def _limit_of_database(evidence: Evidence, database: Usage, generator: Usage) -> Verdict | None:
    """A target that was not busy and asks a database: whether this was full, alone or with the generator on the cores that they share."""
    cores = evidence.cores
    capacity = cores.physical({*cores.database, *cores.generator} if cores.database_shared else cores.database)
    if (share := throttled(database)) is not None:
        reason = f"database-bound (a CPU quota stopped the database in {share:.0%} of its periods)"
    elif not cores.database_shared and database.cpu_cores_mean >= TARGET_BUSY * capacity:
        reason = f"database-bound (database {_of(database, capacity)})"
    elif cores.database_shared and database.cpu_cores_mean + generator.cpu_cores_mean >= MACHINE_BUSY * capacity:
        both = f"generator {generator.cpu_cores_mean:.2f} and database {database.cpu_cores_mean:.2f} of {capacity} shared"
        reason = f"generator and database filled the cores that they share ({both} {cores_text(capacity)})"
    else:
        return None
    return Verdict(kind=VerdictKind.DATABASE, reasons=(reason,))


def _limit_of_shared_cores(evidence: Evidence, target: Usage, generator: Usage) -> Verdict | None:
    """Full cores that several ran on: the limit of all together, whichever used most of them. ``None``: not shared, or not full."""
    if not evidence.cores.shared:
        return None
    sharing = _sharing(evidence, target, generator)
    if sum(each.usage.cpu_cores_mean for each in sharing) < MACHINE_BUSY * _shared_capacity(evidence, sharing):
        return None
    others = [each.name for each in sharing if each.name != "target"]
    reason = f"shared cores were full: figures are of {listed(['target', *others])} together ({_together(evidence, sharing)})"
    return Verdict(kind=VerdictKind.SHARED, reasons=(reason,))


class _Program(NamedTuple):
    name: str
    cpus: tuple[int, ...]
    usage: Usage


def _sharing(evidence: Evidence, target: Usage, generator: Usage) -> list[_Program]:
    """The programs on the cores that target and load generator share: a database on them uses them up as well."""
    cores = evidence.cores
    both = [_Program("generator", cores.generator, generator), _Program("target", cores.target, target)]
    others = (("backend", cores.backend, evidence.backend_usage), ("database", cores.database, evidence.database_usage))
    shared = {*cores.target, *cores.generator}
    return both + [_Program(name, cpus, usage) for name, cpus, usage in others if usage is not None and shared & {*cpus}]


def _shared_capacity(evidence: Evidence, sharing: Sequence[_Program]) -> int:
    return evidence.cores.physical({cpu for each in sharing for cpu in each.cpus})


def _together(evidence: Evidence, sharing: Sequence[_Program]) -> str:
    """How full the cores that they share were."""
    capacity = _shared_capacity(evidence, sharing)
    used = listed(f"{each.name} {each.usage.cpu_cores_mean:.2f}" for each in sharing)
    return f"{used} of {capacity} shared {cores_text(capacity)}"


def _each(evidence: Evidence, target: Usage) -> str:
    """How full each was."""
    cores, capacity = target_fill(evidence, target)
    waited = target.cpu_wait_cores_mean or 0.0
    more = f", its fullest thread {target.thread_cores_max:.2f}" if target.thread_cores_max is not None and capacity > 1 else ""
    more += f", waiting for a core {waited:.2f} of the time" if waited >= WAITING_SHARE_MIN * capacity else ""
    return f"generator {generator_text(evidence)}, target {cores:.2f} of {capacity:g} {cores_text(capacity)}{more}"


def _why_idle(evidence: Evidence, target: Usage, generator: Usage) -> str:
    said = _together(evidence, _sharing(evidence, target, generator)) if evidence.cores.shared else _each(evidence, target)
    if evidence.load.rate_rps is not None:
        return f"the offered rate left cores idle ({said})"
    return f"neither busy ({said}): the target waited, or the load is too small"


def _of(usage: Usage, capacity: int) -> str:
    return f"{usage.cpu_cores_mean:.2f} of {capacity} {cores_text(capacity)}"
