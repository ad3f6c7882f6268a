"""CPU time per request of functions and stacks, and its change between two profiles.

In each slice, a function's CPU time per request is its share of the samples, times the CPU time of the target, divided by the number of
requests. Its value for a profile is the mean over slices. Shares of CPU time can't be compared between two programs: if one function
becomes slower, the shares of all others shrink. CPU time per request can.

A change is significant only if two tests agree, and its interval is the wider one of both:

- Student's *t* over slices. Two profiles of one run are measured in turns, so their slices are pairs. The slices of two runs aren't (B. L.
  Welch, "The generalization of 'Student's' problem when several different population variances are involved", Biometrika 34, 1947).
- A normal test with the standard error of counting, √(Σ n·u²) / S, where n is the number of samples in a slice, u the CPU time per request
  of one sample, and S the number of slices (the variance of a Poisson distribution is its mean). Without this test, a few small counts that
  are equal by chance would be a change.

Functions below 1% of the CPU time of both profiles together aren't tested. This choice doesn't depend on the difference between the two, so
Holm's correction has to account only for the tested functions (R. Bourgon, R. Gentleman, W. Huber, "Independent filtering increases
detection power for high-throughput experiments", PNAS 107, 2010).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import NormalDist
from typing import Generic, TypeVar

import numpy as np

from httpbench.model import Profile
from httpbench.stats.frames import frames
from httpbench.stats.interval import CONFIDENCE, ROUNDS_MIN, Floats, p_value, student
from httpbench.stats.paired import holm
from httpbench.stats.unpaired import freedom_of_difference

TESTED_SHARE = 0.01
"""Minimum share of the CPU time of both profiles together for a function to be tested."""

NORMAL = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
"""Half-width of a 95% interval of a normal distribution, in standard errors."""

Path = tuple[str, ...]
"""Names of the frames from the outermost to one frame."""

Key = TypeVar("Key")


@dataclass(frozen=True, slots=True)
class Sampled(Generic[Key]):
    """The samples of functions or paths in each slice of a profile."""

    counts: Mapping[Key, Floats]
    """Number of samples in each slice."""
    unit_us: Floats
    """CPU time per request of one sample in each slice, in µs. NaN: the slice has no samples or no requests, so it doesn't count."""
    total_us: float
    """CPU time per request of all samples, in µs."""

    def us(self, key: Key) -> float:
        """Return the CPU time per request of a function or path in µs. It is 0 if there are no samples."""
        found = self.counts.get(key)
        return 0.0 if found is None or not self.slices else float(np.nanmean(found * self.unit_us))

    @property
    def slices(self) -> int:
        """Number of slices that count."""
        return int(np.isfinite(self.unit_us).sum())


@dataclass(frozen=True, slots=True)
class Growth(Generic[Key]):
    """The change of a function's CPU time per request from one profile to another."""

    key: Key
    base_us: float
    """CPU time per request in the first profile, in µs."""
    head_us: float
    low_us: float
    """Lower bound of the 95% confidence interval of the change in µs, not corrected for other functions."""
    high_us: float
    p_adjusted: float
    """p-value after Holm's correction for all tested functions."""

    @property
    def change_us(self) -> float:
        """Change of the CPU time per request, in µs."""
        return self.head_us - self.base_us

    @property
    def is_significant(self) -> bool:
        return self.p_adjusted <= 1 - CONFIDENCE


def self_samples(profile: Profile) -> Sampled[str]:
    """Return the samples of each function itself, without the functions that it calls."""
    counts: dict[str, Floats] = {}
    for number, path, count in _stacks(profile):
        counts.setdefault(path[-1], np.zeros(len(profile.slices)))[number] += count
    return _sampled(profile, counts)


def path_samples(profile: Profile) -> Sampled[Path]:
    """Return the samples of each path, including the functions that it calls."""
    whole: dict[Path, Floats] = {}
    for number, path, count in _stacks(profile):
        whole.setdefault(path, np.zeros(len(profile.slices)))[number] += count
    counts: dict[Path, Floats] = {}
    for path, own in whole.items():
        for length in range(1, len(path) + 1):
            prefix = path[:length]
            counts[prefix] = counts[prefix] + own if prefix in counts else own
    return _sampled(profile, counts)


def growths(base: Sampled[Key], head: Sampled[Key], *, in_turns: bool) -> list[Growth[Key]]:
    """Return the change of each tested function or path, the largest growth first.

    ``in_turns`` says that slices at the same position were measured one after the other. The list is empty for fewer than three slices.
    """
    first, second = base.unit_us, head.unit_us
    is_paired = in_turns and len(first) == len(second)
    if is_paired:
        both = np.isfinite(first) & np.isfinite(second)
        first, second = np.where(both, first, np.nan), np.where(both, second, np.nan)
    if min(np.isfinite(first).sum(), np.isfinite(second).sum()) < ROUNDS_MIN:
        return []
    least_us = TESTED_SHARE * (base.total_us + head.total_us)
    tested = [key for key in dict.fromkeys((*head.counts, *base.counts)) if base.us(key) + head.us(key) >= least_us]
    nothing = (np.zeros(len(first)), np.zeros(len(second)))
    changes = [
        _change((base.counts.get(key, nothing[0]), first), (head.counts.get(key, nothing[1]), second), is_paired=is_paired)
        for key in tested
    ]
    adjusted = holm([change[-1] for change in changes])
    found = [
        Growth(key, base_us, head_us, low_us, high_us, p)
        for key, (base_us, head_us, low_us, high_us, _), p in zip(tested, changes, adjusted, strict=True)
    ]
    return sorted(found, key=lambda growth: -growth.change_us)


_Counted = tuple[Floats, Floats]
"""Number of samples, and CPU time per request of one sample, in each slice."""


def _change(base: _Counted, head: _Counted, *, is_paired: bool) -> tuple[float, float, float, float, float]:
    """Return both CPU times per request, the bounds of the interval of the change, and the p-value before correction."""
    before, after = (_values(*side) for side in (base, head))
    counting = math.hypot(*(_counting_error(*side) for side in (base, head)))
    if is_paired:
        error, freedom = _error(after - before), float(len(after) - 1)
    else:
        errors = [_error(before), _error(after)]
        error, freedom = math.hypot(*errors), freedom_of_difference(errors, (len(before), len(after)))
    base_us, head_us = float(before.mean()), float(after.mean())
    change, reach = head_us - base_us, max(student(freedom) * error, NORMAL * counting)
    p = max(p_value(change, error, freedom), math.erfc(abs(change) / counting / math.sqrt(2)))
    return base_us, head_us, change - reach, change + reach, p


def _values(counts: Floats, unit_us: Floats) -> Floats:
    found: Floats = (counts * unit_us)[np.isfinite(unit_us)]
    return found


def _error(values: Floats) -> float:
    return float(values.std(ddof=1) / math.sqrt(len(values)))


def _counting_error(counts: Floats, unit_us: Floats) -> float:
    return math.sqrt(float(np.nansum(counts * unit_us**2))) / int(np.isfinite(unit_us).sum())


def _stacks(profile: Profile) -> list[tuple[int, Path, int]]:
    """Return the number of its slice, the path and the samples of each stack."""
    known = {stack: frames(stack) for each in profile.slices for stack in each.stacks}
    return [(number, known[stack], count) for number, each in enumerate(profile.slices) for stack, count in each.stacks.items()]


def _sampled(profile: Profile, counts: Mapping[Key, Floats]) -> Sampled[Key]:
    samples = [sum(each.stacks.values()) for each in profile.slices]
    units = [
        1e6 * each.cpu_s / (count * each.requests) if count and each.requests else math.nan
        for each, count in zip(profile.slices, samples, strict=True)
    ]
    unit_us = np.array(units, dtype=np.float64)
    valid = np.isfinite(unit_us)
    total_us = float((np.array(samples, dtype=np.float64) * unit_us)[valid].mean()) if valid.any() else 0.0
    return Sampled(counts, unit_us, total_us)
