"""The smaller tables of a run: the parts of a mix, the overhead of proxies, and the composite score."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from httpbench.analysis.compared import differences
from httpbench.analysis.rows import Group, Row
from httpbench.model import PartMeasurement
from httpbench.report.words import ALWAYS
from httpbench.report.words.columns import LOWER_BOUND, UNKNOWN_BOUND, UPPER_BOUND, Column, latency_title
from httpbench.report.words.numbers import figure_name, four_digits, half_width_text, percentage, three_digits
from httpbench.report.words.targets import short_name
from httpbench.stats.composite import WEIGHTS, Composite, Score
from httpbench.stats.figures import THROUGHPUT
from httpbench.stats.overhead import Difference, share_of


@dataclass(frozen=True, slots=True)
class TextTable:
    """A table of text."""

    columns: Sequence[tuple[str, str]]
    """Title and unit of each column."""
    rows: Sequence[Sequence[str]]
    words: int = 1
    """Number of columns on the left that contain words. The other columns contain numbers."""

    @property
    def headings(self) -> list[str]:
        """The titles with their units."""
        return [f"{title} ({unit})" if unit else title for title, unit in self.columns]

    @property
    def is_number(self) -> list[bool]:
        """Whether each column contains numbers."""
        return [index >= self.words for index in range(len(self.columns))]


# --- parts of a mix -------------------------------------------------------------------------------------------------------------

PARTS = "Parts of the mix"


def parts(group: Group) -> TextTable:
    """Return a table with a row for each target and part, with medians over the rounds that count.

    The table is empty if the workload is not a mix.
    """
    columns = [("Target", ""), ("Part", ""), ("Sent", ""), ("Requests/s", ""), ("p50", "ms"), ("p99", "ms"), ("Errors", "")]
    return TextTable(columns, [cells for row in group.rows for cells in _parts(row)], words=2)


def _parts(row: Row) -> Iterator[tuple[str, ...]]:
    rounds = [trial.measurement.parts for trial in row.trials if trial.measurement and trial.verdict.counts]
    for of_part in zip(*(parts for parts in rounds if parts), strict=False):
        sent = [share for parts, part in zip(rounds, of_part, strict=False) if (share := _sent_share(parts, part)) is not None]
        yield (
            row.target.id,
            of_part[0].name,
            percentage(statistics.median(sent)) if sent else "",
            four_digits(statistics.median(part.throughput_rps for part in of_part), 0),
            _median_ms(of_part, lambda part: part.time_us.p50),
            _median_ms(of_part, lambda part: part.time_us.p99),
            f"{statistics.median(part.errors for part in of_part):,.0f}",
        )


def _sent_share(parts: Sequence[PartMeasurement], part: PartMeasurement) -> float | None:
    total = sum(each.sent for each in parts)
    return part.sent / total if total else None


def _median_ms(parts: Sequence[PartMeasurement], figure: Callable[[PartMeasurement], float | None]) -> str:
    found = [us for part in parts if (us := figure(part)) is not None]
    return four_digits(statistics.median(found) / 1000, 3) if len(found) == len(parts) else ""


# --- overhead of proxies --------------------------------------------------------------------------------------------------------

OVERHEAD = "Added to the baseline"

OVERHEAD_MEANING = (
    "Added: difference to the baseline in the same round; mean over rounds, ± half the 95% interval, and relative to the baseline. "
    "A difference of percentiles is not a percentile of differences."
)

_OVERHEAD_NEEDS = {"p50": ALWAYS, "p90": 4, "p95": 9, "p99": ALWAYS, "p99_9": 1, "p99_99": 6, "max": 7, "tm99_9": 3, "stddev": 8}
"""Value of ``Column.need`` for each metric. It determines how soon a narrow terminal omits the column."""


def overhead_table(group: Group, baseline: str | None) -> tuple[list[Column], list[Row]] | None:
    """Return the columns and rows of the table of overheads, or ``None`` if no proxy can be compared with the baseline."""
    found = differences(group, baseline)
    baselines = {row.target.id: theirs for row in group.rows if (theirs := group.baseline_of(row.target.id, baseline)) is not None}
    rows = [row for row in group.rows if found.get(row.target.id)]
    if not rows:
        return None
    columns = [Column("target", "Proxy", "", lambda row: short_name(row.target), ALWAYS, is_number=False, is_name=True)]
    if group.load.rate_rps is None:
        columns.append(Column("rps", "Requests/s", "of baseline", lambda row: _throughput_share(row, baselines[row.target.id]), ALWAYS))
    columns += [_overhead_column(name, need, found, baselines) for name, need in _OVERHEAD_NEEDS.items()]
    return columns, rows


def _overhead_column(name: str, need: int, found: Mapping[str, Mapping[str, Difference]], baselines: Mapping[str, Row]) -> Column:
    def text(row: Row) -> str:
        difference = found[row.target.id].get(name)
        # If a row's throughput is a lower bound, its latencies may be lower than measured.
        return "" if difference is None else bound_mark(baselines[row.target.id], row) + difference_text(difference)

    return Column(figure_name(name), latency_title(name), "µs", text, need)


def bound_mark(lower: Row, upper: Row) -> str:
    """Return the mark of a ratio or difference: ``lower`` is the row whose lower bound makes it a lower bound, ``upper`` is the other."""
    if lower.is_lower_bound and upper.is_lower_bound:
        return UNKNOWN_BOUND
    return LOWER_BOUND if lower.is_lower_bound else UPPER_BOUND if upper.is_lower_bound else ""


def difference_text(difference: Difference) -> str:
    """Format a difference: ``+45 ± 5 (+12%)``."""
    interval = difference.us_interval
    reach = f" ± {(interval.high - interval.low) / 2:,.0f}" if interval else ""
    return f"{difference.us:+,.0f}{reach} ({difference.share * 100:+,.0f}%)"


def _throughput_share(row: Row, theirs: Row) -> str:
    """Format throughput relative to the baseline: ``≥ 88.5 ± 17.6 %``.

    On shared cores, the load generator's own time makes the two look more alike than they are, so an interval would mean nothing.
    """
    found = share_of(row.trials, theirs.trials, THROUGHPUT.of)
    if found is None:
        return ""
    ratio, reach = found
    if row.shares_cores:
        return f"{UPPER_BOUND if ratio < 1 else LOWER_BOUND}{ratio * 100:.1f} %"
    return f"{bound_mark(row, theirs)}{ratio * 100:.1f}" + (f" ± {half_width_text(reach)}" if reach is not None else "") + " %"


# --- composite score ------------------------------------------------------------------------------------------------------------

COMPOSITE = "Composite score, with TechEmpower's weights"

BOUNDS_MEANING = (
    f"{LOWER_BOUND} and {UPPER_BOUND}: the true score may be higher or lower, because a result is only a bound or cores are shared. "
    f"{UNKNOWN_BOUND}: either."
)


def composite_table(found: Composite) -> TextTable:
    """Return the score of each target."""
    rows = []
    for score in found.scores:
        between = f"{three_digits(score.interval.low)} – {three_digits(score.interval.high)}" if score.interval else ""
        rows.append((score.target, _mark(score) + three_digits(score.percent), between))
    return TextTable([("Target", ""), ("% of best", ""), ("95% interval", "")], rows)


def _mark(score: Score) -> str:
    if score.may_be_lower and score.may_be_higher:
        return UNKNOWN_BOUND
    return LOWER_BOUND if score.may_be_higher else UPPER_BOUND if score.may_be_lower else ""


def composite_note(found: Composite) -> str:
    """Say how the score is computed, which tests are missing, and which targets have no score."""
    weights = ", ".join(f"{test} {WEIGHTS[test]:g}" for test in found.tests)
    missing = [test for test in WEIGHTS if test not in found.tests]
    note = f"Weighted geometric mean: {weights}. Each test is at the best load of each target."
    if missing:
        note += f" Not measured: {', '.join(missing)}."
    if found.left_out:
        note += f" Without a score, because a test is missing or lost too many rounds: {', '.join(found.left_out)}."
    if any(score.may_be_lower or score.may_be_higher for score in found.scores):
        note += f" {BOUNDS_MEANING}"
    return note
