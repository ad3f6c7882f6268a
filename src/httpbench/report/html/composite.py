"""The composite ranking of a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from httpbench.model import Trial
from httpbench.report.html.parts import Table
from httpbench.report.words.composite import COLUMNS, TITLE, composite_note, composite_of, composite_rows


@dataclass(frozen=True, slots=True)
class Section:
    title: str
    note: str
    table: Table


def section(trials: Sequence[Trial]) -> Section | None:
    """``None``: the run has too few of TechEmpower's tests."""
    found = composite_of(trials)
    if found is None:
        return None
    return Section(TITLE, composite_note(found), Table.of("Score of each target", COLUMNS, composite_rows(found)))
