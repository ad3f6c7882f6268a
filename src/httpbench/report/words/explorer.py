"""Text of the results explorer: units of headlines, reasons for missing rows, and the meaning of marks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from httpbench.analysis.explorer import Absence, Explored, Headline, Why
from httpbench.model import Run
from httpbench.report.words.columns import LOWER_BOUND, PARTLY, UPPER_BOUND
from httpbench.report.words.numbers import plural

HIDES_STALLS = "‡"
"""Mark after a p99 that hides stalls of a closed loop, or may hide them."""


@dataclass(frozen=True, slots=True)
class ShownFigure:
    """How a result is shown."""

    title: str
    unit: str
    divisor: float
    """Number by which values are divided before they are shown."""
    is_higher_better: bool = False
    bound: str = ""
    """Mark before a value that is only a bound. Empty: the value never is."""


HEADLINES = {
    Headline.THROUGHPUT: ShownFigure("Requests/s", "", 1, is_higher_better=True, bound=LOWER_BOUND.strip()),
    Headline.P99: ShownFigure("p99", "ms", 1000, bound=UPPER_BOUND),
    Headline.TIME: ShownFigure("Time", "ms", 0.001),
    Headline.READY: ShownFigure("Ready", "ms", 0.001),
}
FIGURES = {
    "relative": ShownFigure("Relative speed", "%", 0.01, is_higher_better=True),
    "p50": ShownFigure("p50", "ms", 1000, bound=UPPER_BOUND),
    "p99": ShownFigure("p99", "ms", 1000, bound=UPPER_BOUND),
    "p99_9": ShownFigure("p99.9", "ms", 1000, bound=UPPER_BOUND),
    "cpu": ShownFigure("CPU/request", "µs", 1),
    "memory": ShownFigure("Memory", "MB", 1e6),
}
"""Results that the page can show for every load, in addition to the headline."""


def absence_text(absence: Absence, run: Run) -> str:
    """Say why a table lacks a target."""
    if absence.why is Why.SKIPPED:
        return "; ".join(absence.lines)
    return {
        Why.NOT_SERVED: "the target doesn't serve this workload",
        Why.NOT_FINISHED: f"the run ({run.status}) ended before the first trial",
        Why.NOT_PLANNED: "the run didn't plan this target under this load",
    }[absence.why]


def legend(found: Explored) -> Iterator[str]:
    """Explain the marks and rules of the page."""
    yield (
        "Values are medians over the valid rounds. A rank is a range, such as 2–4, if the rounds don't show which of these places the "
        "target has. Ranks and ratios compare only targets of the same table, which is one load of one run."
    )
    yield (
        f"{LOWER_BOUND.strip()} and {UPPER_BOUND}: a bound, because something other than the target was at its limit. ~: it may be higher "
        f"or lower. {PARTLY}: some rounds aren't valid. {HIDES_STALLS}: the p99 hides stalls of a closed loop, or may hide them. "
        "Struck through: no round is valid, so the row isn't compared."
    )
    yield (
        "Score: the weighted geometric mean of the speeds relative to the fastest target of each table, in percent. Each load shown has "
        "weight 1 unless you change it. A target without a result for one of these loads has no score. The range is the geometric mean "
        "of the ends of the 95% intervals, which is wider than the 95% interval of the score. Scores aren't ranks: the data don't tell "
        "apart targets whose ranges overlap."
    )
    yield "CPU/request: CPU time of the target's process tree per response. Memory: peak of the process tree."
    if found.searches:
        verb = "isn't" if found.searches == 1 else "aren't"
        yield f"{plural(found.searches, 'search', 'searches')} for the highest rate {verb} shown, because searches don't share loads."
