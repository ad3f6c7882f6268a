"""Is throughput steady: when is a warm-up over, and was what was measured after it one thing and not two.

A *warm-up* is looked at as it goes on, in windows of a tenth of a second. Of its last half the earlier part is compared with the later, as
in J. Geweke's diagnostic («Evaluating the accuracy of sampling-based approaches to the calculation of posterior moments», Bayesian
Statistics 4, 1992): it is over when their means differ by no more than 2 %, or than twice the standard error of their difference. Chance
alone would grant that to a curve now and then, so it must hold five times in a row.

A *measurement* is looked at when it is whole, with MSER, the marginal standard error rule: drop as many leading windows as makes the
standard error of the mean of the rest least. That finds the end of a step, of a curve and of a drift without a model of the noise (K. P.
White, «An effective truncation heuristic for bias reduction in simulation output», Simulation 69, 1997; best of 44 methods in K. Hoad,
S. Robinson, R. Davies, «Automating warm-up length estimation», J. Operational Research Society 61, 2010). It is not steady when dropping
that part would move its throughput by more than 2 %, and by more than three standard errors of what is left: a statement about the
figure that is printed. That some programs never become steady, and must be said not to be: E. Barrett et al., «Virtual machine warmup
blows hot and cold», OOPSLA 2017.

What neither sees: a change that comes later than they looked, a latency that changes while throughput does not, and, in an open loop,
anything but a target that falls behind.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from httpbench.model import Measurement, Trial
from httpbench.stats.interval import Floats

LOOKED_AT_MIN = 10
"""Windows of a warm-up that are compared, five with five."""

LOOKS = 5
"""In a row."""

SHIFT_MAX = 0.02
"""Of throughput. About what a careful comparison claims; less is left to intervals."""

ERRORS_MAX = 2.0
"""Standard errors by which the means of a warm-up may differ by chance."""

SOUGHT_ERRORS_MAX = 3.0
"""The same of a measurement, where the place at which they differ most was sought."""

WINDOWS_MIN = 20
"""Of a measurement; fewer cannot tell."""

REST_MIN = 5
"""Windows that are never dropped, as a third of all is not: of few, chance alone makes the variance small."""


def is_warm(windows: Sequence[float]) -> bool:
    """Whether a warm-up with these windows, all of the same length, is over."""
    lengths = range(len(windows) - LOOKS + 1, len(windows) + 1)
    return lengths[0] >= LOOKED_AT_MIN and all(_is_level(windows[:length]) for length in lengths)


def _is_level(windows: Sequence[float]) -> bool:
    half = max(LOOKED_AT_MIN, len(windows) // 2) // 2
    earlier, later = (np.asarray(part, dtype=np.float64) for part in (windows[-2 * half : -half], windows[-half:]))
    error = math.hypot(_error(earlier), _error(later))
    mean = float(earlier.mean() + later.mean()) / 2
    return mean > 0 and abs(float(earlier.mean() - later.mean())) <= max(ERRORS_MAX * error, SHIFT_MAX * mean)


def _error(values: Floats) -> float:
    """The standard error of a mean."""
    return float(values.std(ddof=1)) / math.sqrt(len(values))


def truncation(values: Sequence[float]) -> int:
    """How many leading windows to drop: the d with the least Σ(yᵢ − ȳ)² / (n − d)² over i > d; on a tie, the smallest."""
    count = len(values)
    rest_min = max(REST_MIN, count // 3)
    series = np.asarray(values, dtype=np.float64)
    if count <= rest_min or not series.any():
        return 0
    backwards = (series / series.mean() - 1)[::-1]
    kept = np.arange(1, count + 1)
    squares = np.cumsum(backwards**2) - np.cumsum(backwards) ** 2 / kept
    errors = np.round(squares / kept**2, 12)[rest_min - 1 :]  # by windows kept, rest_min … count
    return int(np.argmin(errors[::-1]))


def changed(measurement: Measurement) -> str | None:
    """What of a measurement was not steady, in words; ``None`` where nothing was, or where there are too few intervals to tell."""
    usual_s = measurement.intervals[0].duration_s if measurement.intervals else 0
    whole = [interval for interval in measurement.intervals if interval.duration_s > usual_s / 2]
    rates = [interval.completed / interval.duration_s for interval in whole]
    if len(rates) < WINDOWS_MIN or not any(rates):
        return None
    dropped = truncation(rates)
    rest_rates = np.asarray(rates[dropped:])
    mean, rest = float(np.mean(rates)), float(rest_rates.mean())
    if abs(mean - rest) <= max(SHIFT_MAX * rest, SOUGHT_ERRORS_MAX * _error(rest_rates)):
        return None
    rest_s = sum(interval.duration_s for interval in whole[dropped:])
    return f"{rest:,.0f} responses/s in the last {rest_s:.1f} s, {mean:,.0f} overall"


def unsteady(trial: Trial) -> str | None:
    """Why a trial is «not steady», in words; ``None`` if it is, if that is unknown, and if the rate was meant to rise."""
    if trial.measurement is None or trial.plan.load.rate_from_rps is not None:
        return None
    if change := changed(trial.measurement):
        return change
    settling = trial.settling
    if settling is None or settling.is_steady or not settling.throughput_rps:
        return None
    return f"throughput still changed after {settling.duration_s:.1f} s of warm-up"
