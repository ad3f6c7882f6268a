"""What the verbs that measure have in common: from a planned run to tables, exports and the exit code."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from httpbench import load
from httpbench.cli import progress
from httpbench.cli.exports import Exports
from httpbench.errors import UsageError
from httpbench.model import Run, RunStatus, Trial
from httpbench.report import gated, render_terminal
from httpbench.run import Outcome, RunSpec, make_run, refusals, require_programs
from httpbench.stats.gates import Gate, Passage
from httpbench.stats.level import saturation
from httpbench.store import Store

EXIT_BREACHED, EXIT_INTERRUPTED = 3, 130


def make(spec: RunSpec, db: Path, files: Exports, output: Console, errors: Console, *, quiet: bool, gates: Sequence[Gate] = ()) -> None:
    """Measures, stores, shows and exports; ends the process where a trial does not count. Raises what cannot be done at all."""
    cannot = refusals(spec)
    if cannot:
        raise UsageError("\n".join(cannot), hint=f"choose another load, or another load generator: {', '.join(load.GENERATORS)}")
    require_programs(spec)
    with Store(db) as store:
        with progress.watcher(errors, quiet=quiet) as watcher:
            outcome = make_run(spec, store, watcher)
        _finish(outcome, files, output, errors, store, gates)


def _finish(outcome: Outcome, files: Exports, output: Console, errors: Console, store: Store, gates: Sequence[Gate]) -> None:
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
    judged = gated(run, trials, gates) if gates else []
    for one in judged:
        output.print(one.sentence, markup=False, soft_wrap=True)
    if any(one.passage is Passage.BREACHED for one in judged):
        sys.exit(EXIT_BREACHED)
    if not _is_fine(run, trials) or any(one.passage is Passage.UNKNOWN for one in judged):
        sys.exit(1)


def _is_fine(run: Run, trials: Sequence[Trial]) -> bool:
    """Whether every trial counts; of a search, in which some are meant not to, whether it found something."""
    if run.search:
        return saturation(run.search, trials).rate_rps is not None
    return all(trial.verdict.counts for trial in trials)
