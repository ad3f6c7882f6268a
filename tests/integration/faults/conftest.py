"""Fixtures for the tests of faults. ``make faults`` also prints a table of the outcomes that these tests measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from rich.table import Table

from tests.integration.faults.fault import Fault
from tests.reliability import rows

ROWS = {row.test: row for row in rows()}


@pytest.fixture
def fault(request: pytest.FixtureRequest, tmp_path: Path, record_property: Any) -> Fault:
    """Return the fault that docs/reliability.md lists for this test."""
    return Fault(ROWS[request.node.originalname], tmp_path, record_property)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reports = [report for name in ("passed", "failed") for report in terminalreporter.getreports(name)]
    measured = {value["fault"]: value for report in reports for key, value in report.user_properties if key == "fault"}
    if not measured:
        return
    table = Table(box=None, pad_edge=False, title=f"Faults as measured, {len(measured)} of {len(ROWS)}", title_justify="left")
    for column in ("Fault", "What was printed", "Exit code", "Orphans", "Lost trials", "Tracebacks"):
        table.add_column(column, overflow="fold", justify="left" if column in ("Fault", "What was printed") else "right")
    for row in ROWS.values():
        if line := measured.get(row.fault):
            figures = (str(line[name]) for name in ("exit_code", "orphans", "lost_trials", "tracebacks"))
            table.add_row(row.fault, line["sentence"] or "nothing", *figures)
    terminalreporter.ensure_newline()
    Console(width=160, highlight=False, markup=False).print(table)
