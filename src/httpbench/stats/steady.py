"""Decide when a warm-up is over, and whether throughput was steady during a measurement.

A *warm-up* is examined while it runs, in windows of a tenth of a second. The second half of the warm-up so far is divided into two parts
whose means are compared, as in J. Geweke's diagnostic ("Evaluating the accuracy of sampling-based approaches to the calculation of
posterior moments", Bayesian Statistics 4, 1992). The test is an equivalence test (D. J. Schuirmann, "A comparison of the two one-sided
tests procedure and the power approach", J. Pharmacokinetics and Biopharmaceutics 15, 1987): the warm-up is over when the whole 95% interval
of the change is within ± 2%. Noise widens the interval, so it can only make a warm-up longer. If noise exceeds about 3% per window, ten
seconds aren't enough to show that a target is steady, and the report mentions this. The test must pass five times in a row, because an
interval may be narrow by chance. In an open loop, the rate is known, so each part must reach this rate.

A *measurement* is examined as a whole with MSER, the marginal standard error rule. The rule drops leading windows so that the standard
error of the mean of the remaining windows is as small as possible. It detects the end of a step, curve or drift without a model of the
noise (K. P. White, "An effective truncation heuristic for bias reduction in simulation output", Simulation 69, 1997; the best of 44 methods
in K. Hoad, S. Robinson, R. Davies, "Automating warm-up length estimation", J. Operational Research Society 61, 2010). The measurement isn't
steady if dropping these windows changes its throughput by more than 2% and by more than three standard errors of the remaining windows.
Some programs never become steady, and a benchmark has to report this. See E. Barrett et al., "Virtual machine warmup blows hot and cold",
OOPSLA 2017.

Neither check detects changes after the measurement, or changes of latency at constant throughput. In an open loop, the checks detect only
that a target falls behind the rate.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from httpbench.model import Measurement, Reason, ReasonKind, Settling, Trial
from httpbench.stats.interval import Floats, quantile, standard_error
from httpbench.stats.validity import EDGE_REQUESTS

LOOKED_AT_MIN = 10
"""Minimum number of warm-up windows to compare: five earlier windows with five later windows."""

LOOKS = 5
"""Number of consecutive checks that must pass."""

SHIFT_MAX = 0.02
"""Maximum relative change in throughput in a steady state. Careful comparisons rarely report smaller differences, because their confidence
intervals are about as wide."""

SOUGHT_ERRORS_MAX = 3.0
"""Maximum difference between the whole measurement and its last part that chance can explain, in standard errors. The limit is this high
because the last part is chosen after looking at the data."""

WINDOWS_MIN = 20
"""Minimum number of windows for deciding whether a measurement was steady."""

LEVEL_SHARE_MAX = 0.05
"""Maximum relative difference to the final level of throughput at which a server that has just started counts as steady."""

LEVEL_NOISE_MAX = 0.10
"""Maximum difference to the final level that noise may hide, relative to that level."""

SMOOTHED = 5
"""Number of windows whose median represents the window in the middle."""

MAD_DEVIATION = 1.4826
"""Standard deviation of a normal distribution, divided by its median absolute deviation."""

MEDIAN_ERROR = 1.2533
"""Standard error of the median of normally distributed values, divided by that of their mean: √(π/2)."""

REST_MIN = 5
"""Minimum number of windows to keep, because the variance of very few windows may be small by chance. At least a third of all windows is
kept in any case."""


@dataclass(frozen=True, slots=True)
class _Change:
    """The change in throughput between the two parts of the second half of a warm-up, relative to their mean."""

    size: float
    half_width: float
    """Half the width of the interval of ``size``."""

    @property
    def furthest(self) -> float:
        return abs(self.size) + self.half_width


def is_warm(windows: Sequence[float], window_s: float, rate_rps: float | None = None) -> bool:
    """Return whether a warm-up is over.

    Args:
        windows: Throughput of each window, in requests/s.
        window_s: Length of a window, in seconds.
        rate_rps: Offered rate in an open loop.
    """
    lengths = range(len(windows), len(windows) - LOOKS, -1)
    if lengths[-1] < LOOKED_AT_MIN:
        return False
    parts = (_last_parts(windows[:length]) for length in lengths)  # the latest first, because one that fails ends the check
    if rate_rps is not None:
        return all(_keeps(part, window_s, rate_rps) for both in parts for part in both)
    changes = (_change(*both) for both in parts)
    return all(change is not None and change.furthest <= SHIFT_MAX for change in changes)


def _last_parts(windows: Sequence[float]) -> tuple[Floats, Floats]:
    """Return the earlier and the later part of the second half of a warm-up."""
    length = max(LOOKED_AT_MIN, len(windows) // 2) // 2
    return np.asarray(windows[-2 * length : -length], dtype=np.float64), np.asarray(windows[-length:], dtype=np.float64)


def _change(earlier: Floats, later: Floats) -> _Change | None:
    """Return the change between two parts; ``None`` if there were no responses."""
    mean = float(earlier.mean() + later.mean()) / 2
    if mean <= 0:
        return None
    half_width = quantile(len(earlier) + len(later) - 1) * math.hypot(standard_error(earlier), standard_error(later))
    return _Change(float(later.mean() - earlier.mean()) / mean, half_width / mean)


def _keeps(part: Floats, window_s: float, rate_rps: float) -> bool:
    """Return whether a part of a warm-up has as many responses as were due, within 2% and a few requests at its edges."""
    tolerance = SHIFT_MAX * rate_rps + EDGE_REQUESTS / (len(part) * window_s)
    return abs(float(part.mean()) - rate_rps) <= tolerance and float(part.max()) > 0


def truncation(values: Sequence[float]) -> int:
    """Return how many leading windows to drop.

    This is the smallest number d that minimizes Σ(yᵢ − ȳ)² / (n − d)², where the sum and the mean ȳ are over i > d.
    """
    count = len(values)
    rest_min = max(REST_MIN, count // 3)
    series = np.asarray(values, dtype=np.float64)
    if count <= rest_min or not series.any():
        return 0
    backwards = (series / series.mean() - 1)[::-1]
    kept = np.arange(1, count + 1)
    squares = np.cumsum(backwards**2) - np.cumsum(backwards) ** 2 / kept
    errors = np.round(squares / kept**2, 12)[rest_min - 1 :]  # one value for each number of kept windows, from rest_min to count
    return int(np.argmin(errors[::-1]))


def changed(measurement: Measurement) -> Reason | None:
    """Return how a measurement changed; ``None`` if it was steady or has too few intervals to tell."""
    usual_s = measurement.intervals[0].duration_s if measurement.intervals else 0
    whole = [interval for interval in measurement.intervals if interval.duration_s > usual_s / 2]
    rates = [interval.completed / interval.duration_s for interval in whole]
    if len(rates) < WINDOWS_MIN or not any(rates):
        return None
    dropped = truncation(rates)
    rest_rates = np.asarray(rates[dropped:])
    mean, rest = float(np.mean(rates)), float(rest_rates.mean())
    if abs(mean - rest) <= max(SHIFT_MAX * rest, SOUGHT_ERRORS_MAX * standard_error(rest_rates)):
        return None
    rest_s = sum(interval.duration_s for interval in whole[dropped:])
    return Reason.of(ReasonKind.RATE_CHANGED, last_rps=rest, last_s=rest_s, overall_rps=mean)


def steady_after_s(measurement: Measurement) -> float | None:
    """Return the time from the beginning of a measurement until throughput was within 5% of its final level, in seconds.

    The result is the end of the first window after which every window is within 5%. The final level is the median of the last third of the
    windows. Each window counts with the median of five windows, so that one or two slow windows don't count, as long as they aren't the
    first ones. A deviation must also exceed three standard errors of such a median.

    Returns ``None`` if there are too few windows, if noise could hide a deviation of 10%, or if a window of the last third deviates.
    """
    windows = [interval for interval in measurement.intervals if interval.duration_s > measurement.intervals[0].duration_s / 2]
    if len(windows) < WINDOWS_MIN:
        return None
    rates = np.array([interval.completed / interval.duration_s for interval in windows])
    last = rates[-(len(rates) // 3) :]
    level = float(np.median(last))
    error = MEDIAN_ERROR * MAD_DEVIATION * float(np.median(np.abs(last - level))) / math.sqrt(SMOOTHED)
    if level <= 0 or SOUGHT_ERRORS_MAX * error > LEVEL_NOISE_MAX * level:
        return None
    padding = SMOOTHED // 2  # the first windows count by themselves, the last ones together with the final level
    padded = np.concatenate([np.full(padding, rates[0]), rates, np.full(padding, level)])
    smooth = np.median(sliding_window_view(padded, SMOOTHED), axis=1)
    away = np.flatnonzero(np.abs(smooth - level) > max(LEVEL_SHARE_MAX * level, SOUGHT_ERRORS_MAX * error))
    first = int(away[-1]) + 1 if len(away) else 0
    return None if first > len(rates) - len(last) else windows[first].start_s + windows[first].duration_s


def unsteady(trial: Trial) -> Reason | None:
    """Return why a trial isn't steady; ``None`` if it is or may be steady, if its rate rises by design, or if it measures start-up.

    For example, a trial isn't steady if its warm-up reached its time limit while throughput was still changing by more than 2% and by more
    than the noise.
    """
    if trial.measurement is None or trial.plan.load.rate_from_rps is not None or trial.plan.load.is_of_startup or trial.plan.load.fault:
        return None
    if changed_by := changed(trial.measurement):
        return changed_by
    settling = _unfinished(trial)
    change = _last_change(settling) if settling else None
    if settling is None or change is None or abs(change.size) <= max(SHIFT_MAX, change.half_width):
        return None
    return Reason.of(ReasonKind.WARMUP_STILL_CHANGED, warmup_s=settling.duration_s)


def not_shown_steady(trial: Trial) -> Reason | None:
    """Return why noise hides whether a trial is steady; ``None`` if it was shown to be steady or not steady."""
    settling = _unfinished(trial)
    if settling is None or unsteady(trial):
        return None
    change = _last_change(settling)
    hidden = change.furthest if change else None
    return Reason.of(ReasonKind.WARMUP_TOO_SHORT, warmup_s=settling.duration_s, hidden_share=hidden)


def _unfinished(trial: Trial) -> Settling | None:
    """Return the warm-up of a measured trial if it reached its time limit before a steady state, else ``None``."""
    settling = trial.settling
    if settling is None or trial.measurement is None or trial.plan.load.rate_from_rps is not None:
        return None
    return None if settling.is_steady or not settling.throughput_rps else settling


def _last_change(settling: Settling) -> _Change | None:
    windows = settling.throughput_rps
    return _change(*_last_parts(windows)) if len(windows) >= LOOKED_AT_MIN else None
