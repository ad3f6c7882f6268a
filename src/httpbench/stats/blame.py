"""Attribute the CPU time that other programs took from a trial to the processes that may have run on the trial's cores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from httpbench.model import Others, Stranger

BLAMED_CORES_MIN = 0.01
REST_CORES_MIN = 0.02
"""Minimum CPU use to attribute to processes that have ended, if no known process can have caused it, in cores. Smaller values may be errors
of tick-based counters."""

ENDED = "processes that have ended"
HIDDEN = "processes that have ended or are hidden from httpbench"
SOFTIRQ = "ksoftirqd"


@dataclass(frozen=True, slots=True)
class Taken:
    """CPU time that other programs took on some cores."""

    cores: float
    cpus: frozenset[int]
    """Logical CPUs of the cores from which the time was taken."""
    siblings: frozenset[int]
    """Logical CPUs among ``cpus`` that no program of the run may use."""


@dataclass(frozen=True, slots=True)
class Blamed:
    """A program and the CPU time that it took."""

    name: str
    """Program and process id, such as ``make (pid 4711)``."""
    cores: float


def blame(others: Others | None, taken: Iterable[Taken]) -> tuple[Blamed, ...]:
    """Return the programs that took CPU time, starting with the largest share; empty if other programs weren't observed.

    A process that could run only on the cores in ``taken`` is blamed for all its CPU time. Any other process is blamed for a share that
    depends on the CPUs on which it was seen. If these shares don't explain all the CPU time that was taken, processes that were allowed to
    run on the cores get larger shares, up to their total CPU time. The rest is attributed to processes that have ended. Processes that
    yield to all others are blamed only on SMT siblings that the run can't use.
    """
    if others is None:
        return ()
    left = {stranger: stranger.cores for stranger in sorted(others.strangers, key=lambda one: -one.cores)}
    found: dict[str, float] = {}
    for one in taken:
        rest = one.cores
        for name, share in _shares(left, one):
            found[name] = found.get(name, 0.0) + share
            rest -= share
        if rest >= REST_CORES_MIN:
            name = ENDED if others.all_visible else HIDDEN
            found[name] = found.get(name, 0.0) + rest
    return tuple(sorted((Blamed(name, cores) for name, cores in found.items()), key=lambda each: -each.cores))


def pinned_cores(others: Others | None, cpus: frozenset[int]) -> float:
    """Return the CPU use of processes that may run only on these logical CPUs, in cores.

    Kernel threads are excluded, because they may have worked on behalf of the run's programs.
    """
    return sum(one.cores for one in (others.strangers if others else ()) if _fraction(one, cpus) == 1 and _is_pinned(one, cpus))


def yielding_cores(others: Others | None, cpus: frozenset[int]) -> float:
    """Return the CPU use, on these logical CPUs, of processes that run only while no other program wants the CPU, in cores."""
    return sum(one.cores * _fraction(one, cpus) for one in (others.strangers if others else ()) if one.yields)


def _shares(left: dict[Stranger, float], taken: Taken) -> Iterator[tuple[str, float]]:
    """Yield each program's name and the CPU use that it is blamed for, and subtract this CPU use from the program's value in ``left``."""
    rest = taken.cores
    by_fraction = sorted(left, key=lambda one: -_fraction(one, taken.cpus))
    for is_guess in (False, True):
        for stranger in by_fraction:
            if stranger.yields and not taken.siblings & {*stranger.cpus, *stranger.cpus_allowed}:
                continue
            likely = left[stranger] if is_guess else stranger.cores * _fraction(stranger, taken.cpus)
            share = min(likely, left[stranger], rest)
            if share >= BLAMED_CORES_MIN and taken.cpus & {*stranger.cpus, *stranger.cpus_allowed}:
                left[stranger] -= share
                rest -= share
                yield _name(stranger, taken), share


def _fraction(stranger: Stranger, cpus: frozenset[int]) -> float:
    """Return the fraction of a process's CPU time that was probably used on these logical CPUs."""
    places = stranger.cpus_allowed if _is_pinned(stranger, cpus) else stranger.cpus or stranger.cpus_allowed
    return len(cpus & set(places)) / len(places) if places else 0.0


def _is_pinned(stranger: Stranger, cpus: frozenset[int]) -> bool:
    return bool(stranger.cpus_allowed) and cpus >= set(stranger.cpus_allowed) and not stranger.is_kernel


def _name(stranger: Stranger, taken: Taken) -> str:
    if stranger.is_of_children:
        return f"ended children of {stranger.name} (pid {stranger.pid})"
    seen = taken.cpus & set(stranger.cpus)
    remarks = [
        f"pid {stranger.pid}",
        *(["softirq"] if stranger.is_kernel and stranger.name.startswith(SOFTIRQ) else []),
        *(["on an SMT sibling"] if seen and seen <= taken.siblings else []),
    ]
    return f"{'kernel thread ' if stranger.is_kernel else ''}{stranger.name} ({', '.join(remarks)})"
