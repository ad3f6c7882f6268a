"""What the verbs that measure share: build and run a plan, show and export what was measured, judge its gates."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

from httpbench import load
from httpbench.cli import console, progress
from httpbench.cli.exit_codes import ExitCode
from httpbench.cli.exports import Exports
from httpbench.errors import UsageError
from httpbench.model import Run, RunStatus, Trial
from httpbench.report import gated, render_terminal
from httpbench.run import Outcome, RunSpec, make_run, refusals, require_programs, with_warmup_of_its_own
from httpbench.stats.gates import Gate, Passage
from httpbench.stats.level import saturation
from httpbench.store import Store


def build_and_run(spec: RunSpec, db: Path, *, quiet: bool) -> Outcome:
    """Builds what is missing, then makes and stores every trial. Raises before the first build what cannot be done."""
    refused = refusals(spec)
    if refused:
        raise UsageError("\n".join(refused), hint=f"use another load, or another load generator: {', '.join(load.GENERATORS)}")
    require_programs(spec)
    own = with_warmup_of_its_own(spec)
    with Store(db) as store, progress.observer(console.stderr(), quiet=quiet) as observer:
        if own != spec:
            observer.warning(f"httpbench-loadgen is not built: {own.generator.name} warms up, for the longest time allowed")
        return make_run(own, store, observer)


def report(outcome: Outcome, db: Path, files: Exports) -> None:
    """Shows and exports what was measured, also of a run that was interrupted. Raises what could not be stored."""
    run, trials = outcome.run, outcome.trials
    interrupted = run.status is RunStatus.INTERRUPTED
    output, errors = console.beside(files), console.stderr()
    if trials:
        try:
            output.print(render_terminal(run, trials, width=output.width))
        finally:  # the terminal may be gone
            files.write(run, trials)
    if interrupted:
        planned = "" if run.search else f" of {len(run.plan)}"
        errors.print(f"interrupted after {len(trials)}{planned} trials", markup=False)
    if trials and outcome.store_error is None:
        errors.print(f"stored in {db} as {run.id}; to show it again: httpbench report {run.id}", markup=False, soft_wrap=True)
    if outcome.store_error is not None and not interrupted:
        raise outcome.store_error


def judge(outcome: Outcome, gates: Sequence[Gate], files: Exports) -> list[Passage]:
    """Prints and returns how each gate ended. A run that was interrupted has no gates."""
    if not gates or outcome.run.status is RunStatus.INTERRUPTED:
        return []
    judged = gated(outcome.run, outcome.trials, gates)
    for gate in judged:
        console.beside(files).print(gate.sentence, markup=False, soft_wrap=True)
    return [gate.passage for gate in judged]


def exit_code(outcome: Outcome, passages: Sequence[Passage] = ()) -> ExitCode:
    if outcome.run.status is RunStatus.INTERRUPTED:
        return ExitCode.INTERRUPTED
    if Passage.BREACHED in passages:
        return ExitCode.BREACHED
    if Passage.UNKNOWN in passages or not _is_fine(outcome.run, outcome.trials):
        return ExitCode.FAILED
    return ExitCode.OK


def seed_or_random(seed: int | None) -> int:
    """Of the order of trials."""
    return random.randrange(2**32) if seed is None else seed


def _is_fine(run: Run, trials: Sequence[Trial]) -> bool:
    """Whether every trial counts. A search tries rates that fail: it is fine if it found a rate that holds."""
    if run.search:
        return saturation(run.search, trials).rate_rps is not None
    return all(trial.verdict.counts for trial in trials)
