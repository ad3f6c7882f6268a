"""Where targets spent their CPU time, and which functions grew from one profile to another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from httpbench.analysis.rows import Row
from httpbench.model import Load, Profile, Run, Scaling
from httpbench.stats.frames import Area, areas
from httpbench.stats.profiles import Growth, Path, Sampled, growths, path_samples, self_samples

FUNCTIONS_SHOWN = 10
"""Number of functions that reports list for each target."""


@dataclass(frozen=True, slots=True)
class Function:
    """A function of a target and its CPU time, without the functions that it calls."""

    name: str
    area: Area
    """Area in which the function has most of its samples."""
    share: float
    """Share of the target's CPU time."""
    us: float
    """CPU time per request, in µs."""


@dataclass(frozen=True)
class Profiled:
    """A profile with its CPU time by function, path and area."""

    profile: Profile

    @cached_property
    def functions(self) -> list[Function]:
        """All functions, the largest first. Empty: no slice has samples and requests."""
        own, total_us = self.own, self.own.total_us
        found = [(name, own.us(name)) for name in own.counts]
        places = self._areas
        listed = [Function(name, places[name], us / total_us, us) for name, us in found if us]
        return sorted(listed, key=lambda function: (-function.us, function.name))

    @cached_property
    def own(self) -> Sampled[str]:
        """Samples of each function, without the functions that it calls."""
        return self_samples(self.profile)

    @cached_property
    def paths(self) -> Sampled[Path]:
        """Samples of each path, including the functions that it calls."""
        return path_samples(self.profile)

    @cached_property
    def shares(self) -> dict[Area, float]:
        """Share of the CPU time of each area. Empty: no slice has samples and requests."""
        shares = dict.fromkeys(Area, 0.0)
        for path, us in self._ends():
            shares[list(areas(path))[-1]] += us / self.own.total_us
        return shares if self.own.total_us else {}

    @property
    def samples(self) -> int:
        """Number of samples."""
        return sum(sum(each.stacks.values()) for each in self.profile.slices)

    @cached_property
    def _areas(self) -> dict[str, Area]:
        found: dict[str, dict[Area, float]] = {}
        for path, us in self._ends():
            own = found.setdefault(path[-1], {})
            place = list(areas(path))[-1]
            own[place] = own.get(place, 0.0) + us
        return {name: max(own, key=own.__getitem__) for name, own in found.items()}

    def _ends(self) -> Iterator[tuple[Path, float]]:
        """Yield each path with the CPU time per request of its last function itself, in µs."""
        us = {path: self.paths.us(path) for path in self.paths.counts}
        called = dict.fromkeys(us, 0.0)
        for path, time_us in us.items():
            if len(path) > 1:
                called[path[:-1]] += time_us
        yield from ((path, time_us - called[path]) for path, time_us in us.items())


@dataclass(frozen=True)
class Grown:
    """The changes from one profile to another under the same workload and load."""

    base: Profiled
    head: Profiled
    in_turns: bool
    """Whether one run measured both in turns."""

    @cached_property
    def tested(self) -> list[Growth[str]]:
        """Changes of functions, the largest growth first. Empty: too few slices."""
        return growths(self.base.own, self.head.own, in_turns=self.in_turns)

    @property
    def functions(self) -> list[Growth[str]]:
        """Significant changes of functions, the largest growth first."""
        return [growth for growth in self.tested if growth.is_significant]

    @property
    def has_grown(self) -> bool:
        """Whether a function grew significantly."""
        return any(growth.change_us > 0 for growth in self.functions)

    @property
    def slices(self) -> int:
        """Number of slices of the profile with fewer slices that count."""
        return min(self.base.own.slices, self.head.own.slices)

    @property
    def vanished(self) -> list[Growth[str]]:
        """Significant changes of functions that have no samples in the second profile, the largest first."""
        return [growth for growth in reversed(self.functions) if not growth.head_us]

    @cached_property
    def paths(self) -> Mapping[Path, Growth[Path]]:
        """Significant changes of paths."""
        found = growths(self.base.paths, self.head.paths, in_turns=self.in_turns)
        return {growth.key: growth for growth in found if growth.is_significant}


def grown_in(run: Run) -> list[Grown]:
    """Return the changes from the baseline's profiles to those of the other targets of a run."""
    if run.baseline is None:
        return []
    others = [profile for profile in run.profiles if profile.target != run.baseline]
    pairs = [(run.profile_of(run.baseline, one.scaling, one.workload, one.load), one) for one in others]
    return [Grown(Profiled(base), Profiled(head), in_turns=True) for base, head in pairs if base is not None]


def grown_between(base: Run, head: Run) -> list[Grown]:
    """Return the changes of the targets that both runs profiled under the same load."""
    pairs = [(base.profile_of(one.target, one.scaling, one.workload, one.load), one) for one in head.profiles]
    return [Grown(Profiled(before), Profiled(after), in_turns=False) for before, after in pairs if before is not None]


def of_cell(found: Sequence[Grown], target: str, scaling: Scaling, workload: str, load: Load) -> Grown | None:
    """Return the change that ends with the profile of this target under this load, or ``None``."""
    return next((one for one in found if one.head.profile.is_of(target, scaling, workload, load)), None)


def overhead(profile: Profile, row: Row) -> float | None:
    """Return the throughput of the profiled round relative to that of the rounds that count.

    ``None``: the load has a rate, which fixes throughput, or no round counts.
    """
    counted = row.summary.throughput_rps
    if counted is None or not counted.median or row.summary.load.rate_rps is not None:
        return None
    return profile.throughput_rps / counted.median


def is_of(profile: Profile, row: Row) -> bool:
    """Return whether a profile is of the target and the load of a row."""
    summary = row.summary
    return profile.is_of(summary.target, summary.scaling, summary.workload, summary.load)
