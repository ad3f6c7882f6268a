"""What each request of a mix took, below the table of the whole: medians over the rounds that count."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence

from httpbench.analysis.rows import Group, Row
from httpbench.model import PartMeasurement
from httpbench.report.words.numbers import four_digits, percentage

TITLE = "Parts of the mix"
COLUMNS = (("Target", ""), ("Part", ""), ("Sent", ""), ("Requests/s", ""), ("p50", "ms"), ("p99", "ms"), ("Errors", ""))
WORDS = 2
"""How many of the columns are words."""


def part_rows(group: Group) -> list[tuple[str, ...]]:
    """The cells of the table; empty if the workload is no mix."""
    return [cells for row in group.rows for cells in _of_row(row)]


def _of_row(row: Row) -> Iterator[tuple[str, ...]]:
    rounds = [trial.measurement.parts for trial in row.trials if trial.measurement and trial.verdict.counts]
    for of_part in zip(*(parts for parts in rounds if parts), strict=False):
        sent = [share for parts, part in zip(rounds, of_part, strict=False) if (share := _share(parts, part)) is not None]
        yield (
            row.target.id,
            of_part[0].name,
            percentage(statistics.median(sent)) if sent else "",
            four_digits(statistics.median(part.throughput_rps for part in of_part), 0),
            _median(of_part, lambda part: part.time_us.p50),
            _median(of_part, lambda part: part.time_us.p99),
            f"{statistics.median(part.errors for part in of_part):,.0f}",
        )


def _share(parts: Sequence[PartMeasurement], part: PartMeasurement) -> float | None:
    total = sum(each.sent for each in parts)
    return part.sent / total if total else None


def _median(parts: Sequence[PartMeasurement], figure: Callable[[PartMeasurement], float | None]) -> str:
    """In ms; blank if a round lacks it."""
    found = [us for part in parts if (us := figure(part)) is not None]
    return four_digits(statistics.median(found) / 1000, 3) if len(found) == len(parts) else ""
