"""Show and export the results of a run that has just ended, and choose the exit code.

This module imports all tables and statistics, so verbs import it only after the run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from httpbench.analysis.gates import gated
from httpbench.cli.exit_codes import ExitCode
from httpbench.cli.options.output import Exports, TableOptions, source_of
from httpbench.cli.terminal import console
from httpbench.model import Run, RunStatus, Search, Table, Trial, VerdictKind
from httpbench.report.terminal.run import render_terminal
from httpbench.report.words.columns import View
from httpbench.report.words.columns import names as column_names
from httpbench.report.words.curves import NAMES as SEARCH_COLUMNS
from httpbench.report.words.gates import run_gate_sentences
from httpbench.report.words.notes import explaining
from httpbench.run import Outcome
from httpbench.stats.gates import Passage, leaves_open
from httpbench.stats.level import saturation
from httpbench.stats.summary import last_attempts


def known_columns(table: Table, search: Search | None) -> Sequence[str]:
    """Return the names of the columns of a run's table."""
    return SEARCH_COLUMNS if search else column_names(table)


def report(outcome: Outcome, db: Path, files: Exports, tables: TableOptions | None = None) -> None:
    """Show and export the results, even if the run was interrupted.

    If the results could not be stored, raise the store's error after the export. An interrupted run doesn't raise it.
    """
    run, trials = outcome.run, outcome.trials
    interrupted = run.status is RunStatus.INTERRUPTED
    output, source = files.tables, source_of(run.id, db)
    view = tables.view(known_columns(run.table, run.search)) if tables else View()
    if trials:
        try:
            output.print(render_terminal(run, trials, width=output.width, view=replace(view, source=source)))
        finally:  # export even if printing failed because the terminal was closed
            files.write(run, trials)
    if interrupted:
        planned = "" if run.search else f" of {len(run.plan)}"
        made = sum(trial.plan.attempt == 0 for trial in trials)
        console.echo(f"interrupted after {made}{planned} trials", err=True)
    if trials and outcome.store_error is None:
        console.echo(f"stored in {db} as {run.id}; all notes: {explaining(source)}", err=True)
    if outcome.store_error is not None and not interrupted:
        raise outcome.store_error


def report_gates(outcome: Outcome, files: Exports) -> ExitCode:
    """Show the results of the run's gates, and return the exit code."""
    judged = gated(outcome.run, outcome.trials)  # empty if the run was interrupted
    for sentence in run_gate_sentences(outcome.run, judged):
        files.tables.print(sentence, soft_wrap=True)
    return exit_code(outcome, [gate.passage for gate in judged])


def exit_code(outcome: Outcome, passages: Sequence[Passage] = ()) -> ExitCode:
    """Return the exit code for a run and the results of its gates."""
    if outcome.run.status is RunStatus.INTERRUPTED:
        return ExitCode.INTERRUPTED
    if Passage.BREACHED in passages:
        return ExitCode.BREACHED
    is_open = leaves_open(passages, fails_if_inconclusive=outcome.run.fails_if_inconclusive)
    return ExitCode.FAILED if is_open or not _is_fine(outcome.run, outcome.trials) else ExitCode.OK


def _is_fine(run: Run, trials: Sequence[Trial]) -> bool:
    """Return whether every cell has a result, and no trial failed or is invalid.

    A disturbed round is acceptable if another round of the same cell counts. A search only needs to find a rate that holds, because
    some of the rates that it tries are always too high.
    """
    if run.search:
        return saturation(run.search, trials).rate_rps is not None
    counted = {trial.plan.cell for trial in trials if trial.verdict.counts}
    lost = [trial for trial in last_attempts(trials) if not trial.verdict.counts]
    return all(trial.verdict.kind is VerdictKind.DISTURBED and trial.plan.cell in counted for trial in lost)
