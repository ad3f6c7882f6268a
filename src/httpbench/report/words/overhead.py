"""The second table of proxies: what each adds to the baseline of its own rounds, in µs and as a share, with its interval."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from httpbench.analysis.rows import Group, Row
from httpbench.report.words.columns import ALWAYS, Column
from httpbench.stats.figures import THROUGHPUT
from httpbench.stats.overhead import Difference, overhead, share_of

TITLE = "Added to the baseline"

MEANING = (
    "Added: figure minus the baseline's in the same round; median over rounds, ± half the 95% interval, and the share of the "
    "baseline's figure. A difference of percentiles is not a percentile of differences."
)

TITLES = {
    "p50": ("p50", ALWAYS),
    "p90": ("p90", 4),
    "p95": ("p95", 9),
    "p99": ("p99", ALWAYS),
    "p99_9": ("p99.9", 1),
    "p99_99": ("p99.99", 6),
    "max": ("max", 7),
    "tm99_9": ("tm99.9", 3),
    "stddev": ("σ", 8),
}
"""Figure → title and how soon a narrow terminal goes without it."""


@dataclass(frozen=True, slots=True)
class OverheadTable:
    columns: list[Column]
    rows: list[Row]


def differences(group: Group, baseline: str | None) -> dict[str, dict[str, Difference]]:
    """Id → figure → what it adds; empty where there is no such baseline."""
    theirs = next((row for row in group.rows if row.target.id == baseline), None)
    if theirs is None:
        return {}
    return {row.target.id: overhead(row.trials, theirs.trials) for row in group.rows if row is not theirs}


def overhead_table(group: Group, baseline: str | None) -> OverheadTable | None:
    """``None`` where nothing can be compared."""
    found = differences(group, baseline)
    rows = [row for row in group.rows if found.get(row.target.id)]
    if not rows:
        return None
    theirs = next(row for row in group.rows if row.target.id == baseline)
    columns = [Column("target", "Proxy", "", _proxy, ALWAYS, is_number=False, is_name=True)]
    if group.load.rate_rps is None:
        columns.append(Column("rps", "Requests/s", "of baseline", lambda row: _share(row, theirs), ALWAYS))
    columns += [_column(title, name, need, found) for name, (title, need) in TITLES.items()]
    return OverheadTable(columns, rows)


def _proxy(row: Row) -> str:
    return row.target.id.removeprefix(f"{row.target.kind}:")


def _column(title: str, name: str, need: int, found: Mapping[str, Mapping[str, Difference]]) -> Column:
    def text(row: Row) -> str:
        difference = found[row.target.id].get(name)
        return "" if difference is None else written(difference)

    return Column(name.replace("_", "."), title, "µs", text, need)


def written(difference: Difference) -> str:
    """``+45 ± 5 (+12%)``."""
    interval = difference.us_interval
    reach = f" ± {(interval.high - interval.low) / 2:,.0f}" if interval else ""
    return f"{difference.us:+,.0f}{reach} ({difference.share * 100:+,.0f}%)"


def _share(row: Row, theirs: Row) -> str:
    found = share_of(row.trials, theirs.trials, THROUGHPUT.of)
    if found is None:
        return ""
    ratio, reach = found
    return f"{ratio * 100:.1f}" + (f" ± {reach * 100:.1f}" if reach is not None else "") + " %"
