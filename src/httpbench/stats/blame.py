"""Who used the cores of a trial: shares out what others took of some cores among the processes that may have run there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from httpbench.model import Others, Stranger

BLAMED_CORES_MIN = 0.01
REST_CORES_MIN = 0.02
"""Less than this is what counting in ticks may err by."""

ENDED = "processes that have ended"
HIDDEN = "processes that have ended or are hidden from httpbench"
SOFTIRQ = "ksoftirqd"


@dataclass(frozen=True, slots=True)
class Taken:
    """What others took of some cores."""

    cores: float
    cpus: frozenset[int]
    """Logical CPUs of these cores."""
    siblings: frozenset[int]
    """Those of them that no program of the run may use."""


@dataclass(frozen=True, slots=True)
class Blamed:
    """A share of what others took."""

    name: str
    """``make (pid 4711)``."""
    cores: float


def blame(others: Others | None, taken: Iterable[Taken]) -> tuple[Blamed, ...]:
    """Who took how much, most first; nobody if it is unknown what ran.

    A process that can have run only on these cores gets all that it used, another one as much as the CPUs on which it was seen suggest.
    What is left goes to processes that were allowed to run there, as far as they used more.
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
    """CPU use of processes that can have run on these logical CPUs only. Threads of the kernel may have worked for the run's programs."""
    return sum(one.cores for one in (others.strangers if others else ()) if _fraction(one, cpus) == 1 and _is_pinned(one, cpus))


def _shares(left: dict[Stranger, float], taken: Taken) -> Iterator[tuple[str, float]]:
    """Who gets which share; takes it from what each has left."""
    rest = taken.cores
    by_fraction = sorted(left, key=lambda one: -_fraction(one, taken.cpus))
    for is_guess in (False, True):
        for stranger in by_fraction:
            likely = left[stranger] if is_guess else stranger.cores * _fraction(stranger, taken.cpus)
            share = min(likely, left[stranger], rest)
            if share >= BLAMED_CORES_MIN and taken.cpus & {*stranger.cpus, *stranger.cpus_allowed}:
                left[stranger] -= share
                rest -= share
                yield _name(stranger, taken), share


def _fraction(stranger: Stranger, cpus: frozenset[int]) -> float:
    """Which part of its CPU time it is likely to have used on these logical CPUs."""
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
