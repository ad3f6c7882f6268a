"""What the verbs that measure have in common: from a planned run to tables, exports and the exit code."""

from __future__ import annotations

import sys
from pathlib import Path

from rich.console import Console

from httpbench import load
from httpbench.cli import progress
from httpbench.cli.exports import Exports
from httpbench.errors import UsageError
from httpbench.model import RunStatus
from httpbench.report import render_terminal
from httpbench.run import Bench, Outcome, need_programs, refusals, run_bench
from httpbench.stats.level import saturation
from httpbench.store import Store

EXIT_INTERRUPTED = 130


def make(job: Bench, db: Path, files: Exports, output: Console, errors: Console, *, quiet: bool) -> None:
    """Measures, stores, shows and exports; ends the process where a trial does not count. Raises what cannot be done at all."""
    cannot = refusals(job)
    if cannot:
        raise UsageError("\n".join(cannot), hint=f"choose another load, or another load generator: {', '.join(load.GENERATORS)}")
    need_programs(job)
    with Store(db) as store:
        with progress.watcher(errors, quiet=quiet) as watcher:
            outcome = run_bench(job, store, watcher)
        _finish(outcome, files, output, errors, store)


def _finish(outcome: Outcome, files: Exports, output: Console, errors: Console, store: Store) -> None:
    """Shows and exports what was measured, whole or not, and decides the exit code."""
    run, trials = outcome.run, outcome.trials
    interrupted = run.status is RunStatus.INTERRUPTED
    if trials:
        output.print(render_terminal(run, trials, width=output.width))
        files.write(run, trials)
    if interrupted:
        planned = "" if run.search else f" of {len(run.plan)}"
        errors.print(f"interrupted after {len(trials)}{planned} trials", markup=False)
    if trials and outcome.store_error is None:
        errors.print(f"stored in {store.path} as {run.id}; httpbench report {run.id} shows it again", markup=False, soft_wrap=True)
    if interrupted:
        sys.exit(EXIT_INTERRUPTED)
    if outcome.store_error is not None:
        raise outcome.store_error
    if run.search:
        if saturation(run.search, trials).rate_rps is None:
            sys.exit(1)
    elif not all(trial.verdict.counts for trial in trials):
        sys.exit(1)
