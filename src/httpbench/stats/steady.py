"""Is throughput steady: when is a warm-up over, and was what was measured after it one thing and not two.

A *warm-up* is looked at as it goes on, in windows of a tenth of a second. The means of both parts of its last half are compared, as in
J. Geweke's diagnostic («Evaluating the accuracy of sampling-based approaches to the calculation of posterior moments», Bayesian
Statistics 4, 1992). The test is one of equivalence (D. J. Schuirmann, «A comparison of the two one-sided tests procedure and the power
approach», J. Pharmacokinetics and Biopharmaceutics 15, 1987): the warm-up is over when the whole 95% interval of the change lies within
± 2%. Noise widens the interval, so noise makes a warm-up longer and never shorter. The price: with more than about 3% of noise per
window, ten seconds cannot show that a target is steady, and that is said. Chance alone would grant a narrow interval now and then, so it
must be narrow five times in a row. In an open loop the rate is known and has no noise: there each part must keep it.

A *measurement* is looked at when it is whole, with MSER, the marginal standard error rule: drop as many leading windows as makes the
standard error of the mean of the rest least. That finds the end of a step, of a curve and of a drift without a model of the noise (K. P.
White, «An effective truncation heuristic for bias reduction in simulation output», Simulation 69, 1997; best of 44 methods in K. Hoad,
S. Robinson, R. Davies, «Automating warm-up length estimation», J. Operational Research Society 61, 2010). It is not steady when dropping
that part would move its throughput by more than 2%, and by more than three standard errors of what is left: a statement about the
figure that is printed. That some programs never become steady, and must be said not to be: E. Barrett et al., «Virtual machine warmup
blows hot and cold», OOPSLA 2017.

What neither sees: a change that comes later than they looked, a latency that changes while throughput does not, and, in an open loop,
anything but a target that falls behind.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from httpbench.model import Measurement, Reason, ReasonKind, Settling, Trial
from httpbench.stats.interval import Floats, quantile
from httpbench.stats.validity import EDGE_REQUESTS

LOOKED_AT_MIN = 10
"""Windows of a warm-up that are compared, five with five."""

LOOKS = 5
"""In a row."""

SHIFT_MAX = 0.02
"""Of throughput. About what a careful comparison claims; less is left to intervals."""

SOUGHT_ERRORS_MAX = 3.0
"""Standard errors by which the means of a measurement may differ by chance, where the place at which they differ most was sought."""

WINDOWS_MIN = 20
"""Of a measurement; fewer cannot tell."""

REST_MIN = 5
"""Windows that are never dropped, as a third of all is not: of few, chance alone makes the variance small."""


@dataclass(frozen=True, slots=True)
class _Change:
    """Of throughput from the earlier to the later part of the last half of a warm-up, as shares of the mean."""

    size: float
    half_width: float
    """Of its interval."""

    @property
    def furthest(self) -> float:
        return abs(self.size) + self.half_width


def is_warm(windows: Sequence[float], window_s: float, rate_rps: float | None = None) -> bool:
    """Whether a warm-up is over. ``windows``: throughput in requests/s; ``rate_rps``: offered in an open loop."""
    lengths = range(len(windows) - LOOKS + 1, len(windows) + 1)
    if lengths[0] < LOOKED_AT_MIN:
        return False
    parts = [_last_parts(windows[:length]) for length in lengths]
    if rate_rps is not None:
        return all(_keeps(part, window_s, rate_rps) for both in parts for part in both)
    changes = [_change(*both) for both in parts]
    return all(change is not None and change.furthest <= SHIFT_MAX for change in changes)


def _last_parts(windows: Sequence[float]) -> tuple[Floats, Floats]:
    """The last half in two parts: the earlier and the later."""
    length = max(LOOKED_AT_MIN, len(windows) // 2) // 2
    return np.asarray(windows[-2 * length : -length], dtype=np.float64), np.asarray(windows[-length:], dtype=np.float64)


def _change(earlier: Floats, later: Floats) -> _Change | None:
    """``None`` where nothing came."""
    mean = float(earlier.mean() + later.mean()) / 2
    if mean <= 0:
        return None
    half_width = quantile(len(earlier) + len(later) - 1) * math.hypot(_error(earlier), _error(later))
    return _Change(float(later.mean() - earlier.mean()) / mean, half_width / mean)


def _keeps(part: Floats, window_s: float, rate_rps: float) -> bool:
    """Whether it has as many responses as requests were due, as far as its edges allow."""
    tolerance = SHIFT_MAX * rate_rps + EDGE_REQUESTS / (len(part) * window_s)
    return abs(float(part.mean()) - rate_rps) <= tolerance and float(part.max()) > 0


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


def changed(measurement: Measurement) -> Reason | None:
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
    return Reason.of(ReasonKind.RATE_CHANGED, last_rps=rest, last_s=rest_s, overall_rps=mean)


def unsteady(trial: Trial) -> Reason | None:
    """Why a trial is «not steady», in words; ``None`` if it is, if that is unknown, and if the rate was meant to rise."""
    if trial.measurement is None or trial.plan.load.rate_from_rps is not None:
        return None
    if changed_by := changed(trial.measurement):
        return changed_by
    settling = _unfinished(trial)
    if settling is None or not _still_changed(settling):
        return None
    return Reason.of(ReasonKind.WARMUP_STILL_CHANGED, warmup_s=settling.duration_s)


def not_shown_steady(trial: Trial) -> Reason | None:
    """Why it is unknown whether a trial is steady, in words: noise hid it. ``None`` if it was shown, and if the trial is «not steady»."""
    settling = _unfinished(trial)
    if settling is None or unsteady(trial):
        return None
    change = _last_change(settling)
    hidden = change.furthest if change else None
    return Reason.of(ReasonKind.WARMUP_TOO_SHORT, warmup_s=settling.duration_s, hidden_share=hidden)


def _unfinished(trial: Trial) -> Settling | None:
    """The warm-up of a trial that was measured, where it ended because its time was over."""
    settling = trial.settling
    if settling is None or trial.measurement is None or trial.plan.load.rate_from_rps is not None:
        return None
    return None if settling.is_steady or not settling.throughput_rps else settling


def _still_changed(settling: Settling) -> bool:
    """Whether throughput changed by more than 2%, and by more than noise."""
    change = _last_change(settling)
    return change is not None and abs(change.size) > max(SHIFT_MAX, change.half_width)


def _last_change(settling: Settling) -> _Change | None:
    windows = settling.throughput_rps
    return _change(*_last_parts(windows)) if len(windows) >= LOOKED_AT_MIN else None
