"""The page of one run: the answers, tables and notes of its report, a chart for each table, and the progress of an unfinished run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from httpbench.analysis.explorer import ExploredRun
from httpbench.analysis.rows import Group
from httpbench.model import Run, RunStatus, Trial
from httpbench.report.charts import proxies
from httpbench.report.charts import search as search_charts
from httpbench.report.charts.run import first_title, of_group
from httpbench.report.charts.theme import svg_file
from httpbench.report.html import render_html
from httpbench.report.html.parts import HtmlTable, Picture, verdict
from httpbench.report.html.run import results, search_of
from httpbench.report.words import loads
from httpbench.report.words.numbers import figure_text
from httpbench.report.words.reasons import joined
from httpbench.report.words.run import machine, origin, status, title
from httpbench.store import RunLine
from httpbench.web import addresses
from httpbench.web.frame import Frame, NotFound, Page
from httpbench.web.measured import TABLE_TRIALS_MAX, Measured, Outline, is_large

SEARCH = "search"
TABLE = "table-"
"""Prefix of chart names, followed by the number of the table. Tables are numbered from 1."""

LATEST = 10
"""Maximum number of recent trials on the page of an unfinished run."""

FRAME_HEIGHT, ROW_HEIGHT, SEARCH_HEIGHT = 110, 26, 420
"""Approximate heights of parts of a chart, in pixels."""


def run_page(frame: Frame, path: str, measured: Measured, before: str | None, table: int | None = None) -> Page:
    """Make the page of a run, or of a table of a large run, which isn't kept up to date.

    ``before`` is the id of the latest earlier run that the page offers for comparison.
    """
    run, trials, state = measured.run, measured.trials, measured.state
    is_running = state.status is RunStatus.RUNNING and not frame.is_static and table is None
    context = {
        "title": title(run, trials),
        # The page of an unfinished run already has a line with the current state.
        "origin": [line for line in origin(run, trials) if not is_running or line not in status(run, trials)],
        "run_id": run.id,
        "is_running": is_running,
        "whole_run": None if table is None else addresses.run(run.id),
        "has_report": bool(trials) and table is None,
        "state": state_text(state),
        "before": before,
        "machine": [*machine(run), *([("Tags", ", ".join(run.tags))] if run.tags else [])],
        **_results(measured, path, is_running=is_running, table=table),
    }
    return frame.page("run.html", path, context)


def large_run_page(frame: Frame, path: str, outline: Outline, listed: Sequence[Group]) -> Page:
    """Make the page of a large run, with links to its tables."""
    run, state = outline.run, outline.state
    context = {
        "title": title(run, ()),
        "origin": [line for line in origin(run, ()) if line not in status(run, ())],
        "state": state_text(state),
        "run_id": run.id,
        "tables": [
            (addresses.run_table(run.id, number), loads.title(group), len(outline.tables[number - 1]))
            for number, group in enumerate(listed, 1)
        ],
        "more": len(outline.tables) - len(listed),
        "trials_max": TABLE_TRIALS_MAX,
        "machine": list(machine(run)),
    }
    return frame.page("large_run.html", path, context)


def results_part(frame: Frame, path: str, measured: Measured) -> str:
    """Make the part of a page that changes while the run continues."""
    return frame.part("run_results.html", path, _results(measured, path, is_running=True))


def state_text(state: RunLine) -> str:
    """Describe a state: ``running · 12 of 36 trials``."""
    return f"{state.status} · {state.trials_done} of {state.trials_planned} trials"


def report_page(run: Run, trials: Sequence[Trial]) -> Page:
    """Make the report that ``httpbench report --format html`` writes. Raises :class:`NotFound` before the first trial."""
    if not trials:
        raise NotFound(f"Run {run.id} has no finished trial, so it has no report.")
    return Page(render_html(run, trials))


def explored_run(measured: Measured) -> ExploredRun:
    """Return a run for the explorer, with a link to its report or, if it is large, to its tables."""
    run = measured.run
    name = f"{run.name} ({run.id})" if run.name else f"{run.id}: {title(run, measured.trials)}"
    return ExploredRun(name, run, measured.trials, report=(addresses.run if is_large(measured.state) else addresses.report)(run.id))


def chart(measured: Measured, name: str) -> Page:
    """Draw a chart of a run. Raises :class:`NotFound` if there is no such chart."""
    run = measured.run
    if name == SEARCH:
        drawings = list(search_charts.of_search(run, measured.trials).values())
    else:
        group = _table(measured, name)
        drawings = [drawing for _, drawing in of_group(run, group)] if group else []
    if not drawings:
        raise NotFound(f'Run {run.id} has no chart "{name}".')
    return Page(svg_file(drawings[0]), "image/svg+xml")


def chart_version(measured: Measured, name: str) -> str:
    """Return a text that changes when the chart of a run in progress changes: when its table, or its search, has another trial."""
    group = None if name == SEARCH else _table(measured, name)
    # Each trial belongs to one table, so the lowest number identifies the table even if another table is inserted before it.
    numbers = [trial.plan.number for row in group.rows for trial in row.attempts] if group else [0] * len(measured.trials)
    return f"{min(numbers, default=0)}-{len(numbers)}"


def _table(measured: Measured, name: str) -> Group | None:
    number = int(name.removeprefix(TABLE)) - 1
    return measured.groups[number] if 0 <= number < len(measured.groups) else None


def _results(measured: Measured, path: str, *, is_running: bool, table: int | None = None) -> dict[str, Any]:
    run, trials, found = measured.run, measured.trials, measured.groups

    def address(name: str) -> str:
        # Browsers cache charts, so the address changes when the chart does.
        version = f"?{chart_version(measured, name)}" if is_running else ""
        return addresses.root(path) + addresses.run_chart(run.id, name, table) + version

    search = search_of(run, trials, [Picture("Latency against the offered rate", address(SEARCH), SEARCH_HEIGHT)])
    numbers = {id(group): number for number, group in enumerate(found, 1)}
    parts = results(run, trials, found, search, lambda group: _pictures(group, address(f"{TABLE}{numbers[id(group)]}")))
    return {
        **parts,
        "latest": _latest(trials) if is_running and trials else None,
        "targets": list(dict.fromkeys(trial.plan.target for trial in trials)),
    }


def _pictures(group: Group, address: str) -> list[Picture]:
    if not any(row.counts for row in group.rows):
        return []
    rows = len(group.rows) * (len(proxies.ADDED) if group.proxy_baseline else 1)
    return [Picture(first_title(group), address, FRAME_HEIGHT + ROW_HEIGHT * rows)]


def _latest(trials: Sequence[Trial]) -> HtmlTable:
    rows = [
        [
            trial.plan.target,
            str(trial.plan.round + 1),
            trial.plan.workload,
            str(trial.plan.load.connections),
            verdict(trial.verdict.kind),
            figure_text(trial.measurement.throughput_rps) if trial.measurement and trial.verdict.counts else "",
            joined(trial.verdict.reasons),
        ]
        for trial in reversed(trials[-LATEST:])
    ]
    return HtmlTable.of("The newest first", ["Target", "Round", "Workload", "Connections", "Verdict", "Requests/s", "Reasons"], rows)
