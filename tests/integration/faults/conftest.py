"""Fixtures for the tests of faults. ``make faults`` also prints a table of the outcomes that these tests measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from rich.table import Table

from tests.integration.faults.fault import Fault
from tests.reliability import protections, rows

ROWS = {row.test: row for row in rows()}


@pytest.fixture
def fault(request: pytest.FixtureRequest, tmp_path: Path, record_property: Any) -> Fault:
    """Return the fault that docs/reliability.md lists for this test."""
    return Fault(ROWS[request.node.originalname], tmp_path, record_property)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reports = [report for name in ("passed", "failed") for report in terminalreporter.getreports(name)]
    measured = {value["fault"]: value for report in reports for key, value in report.user_properties if key == "fault"}
    if measured:
        _print(terminalreporter, _table_of_faults(measured))
    outcomes = {name: terminalreporter.getreports(name) for name in ("passed", "failed", "skipped")}
    tests = {name: [report.nodeid.partition("[")[0] for report in found if report.when != "teardown"] for name, found in outcomes.items()}
    if any(row.test in found for row in protections() for found in tests.values()):
        _print(terminalreporter, _table_of_protections(tests))


def _table_of_faults(measured: dict[str, dict[str, Any]]) -> Table:
    table = Table(box=None, pad_edge=False, title=f"Faults as measured, {len(measured)} of {len(ROWS)}", title_justify="left")
    for column in ("Fault", "What was printed", "Exit code", "Orphans", "Lost trials", "Tracebacks"):
        table.add_column(column, overflow="fold", justify="left" if column in ("Fault", "What was printed") else "right")
    for row in ROWS.values():
        if line := measured.get(row.fault):
            figures = (str(line[name]) for name in ("exit_code", "orphans", "lost_trials", "tracebacks"))
            table.add_row(row.fault, line["sentence"] or "nothing", *figures)
    return table


def _table_of_protections(tests: dict[str, list[str]]) -> Table:
    table = Table(box=None, pad_edge=False, title="Attacks and accidents", title_justify="left")
    for column in ("Attack or accident", "What httpbench does", "Tests"):
        table.add_column(column, overflow="fold")
    for row in protections():
        counts = {name: found.count(row.test) for name, found in tests.items()}
        said = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
        table.add_row(row.attack, row.consequence, said or "not run")
    return table


def _print(terminalreporter: Any, table: Table) -> None:
    terminalreporter.ensure_newline()
    Console(width=160, highlight=False, markup=False).print(table)
