"""Decide in which directions the true ratio of two rows may lie beyond its interval, for reasons that more rounds can't remove.

- A result that is only a bound may be better than measured, so the ratio may be, too.
- On shared cores, the load generator takes the same CPU time from every target. This makes ratios smaller than they are.
- In a closed loop, stalls delay only one request per connection, so a percentile that hides stalls may be higher than measured.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from httpbench.analysis.rows import Row
from httpbench.stats.figures import HIGHER_IS_BETTER, LIMITED, TAIL
from httpbench.stats.interval import ConfidenceInterval
from httpbench.stats.stalls import are_unreported, hidden_stalls


class Cause(Enum):
    """A reason why a true ratio may lie beyond its interval."""

    BOUND = auto()
    """One of the results is only a bound, because something other than the target was full or nearly full."""
    SHARED_CORES = auto()
    """The load generator used the target's cores."""
    HIDDEN_STALLS = auto()
    """A percentile hides stalls of a closed loop."""
    UNREPORTED_STALLS = auto()
    """A percentile may hide stalls of a closed loop, because the load generator doesn't report stalls."""


@dataclass(frozen=True, slots=True)
class Beyond:
    """Why the true ratio may be lower, and why it may be higher, than its interval."""

    lower: tuple[Cause, ...] = ()
    higher: tuple[Cause, ...] = ()


NOWHERE = Beyond()


def beyond(figure: str, ours: Row, theirs: Row, interval: ConfidenceInterval | None) -> Beyond:
    """Return the directions in which the true ratio of ``ours`` to ``theirs`` may lie beyond its interval."""
    if figure not in LIMITED or interval is None:
        return NOWHERE
    lower, higher = (theirs, ours) if figure in HIGHER_IS_BETTER else (ours, theirs)
    is_shared = ours.shares_cores or theirs.shares_cores
    return Beyond(
        lower=(*_limits(bound=lower.is_lower_bound, shared=is_shared and interval.low < 1), *_stalls(figure, theirs)),
        higher=(*_limits(bound=higher.is_lower_bound, shared=is_shared and interval.high > 1), *_stalls(figure, ours)),
    )


def _limits(*, bound: bool, shared: bool) -> list[Cause]:
    found = {Cause.BOUND: bound, Cause.SHARED_CORES: shared}
    return [cause for cause, applies in found.items() if applies]


def _stalls(figure: str, row: Row) -> list[Cause]:
    """Return why the true value of a row may be higher than measured."""
    if figure not in TAIL or row.summary.load.rate_rps is not None:
        return []
    if hidden_stalls(row.trials) is not None:
        return [Cause.HIDDEN_STALLS]
    return [Cause.UNREPORTED_STALLS] if are_unreported(row.trials) else []
