"""What the verbs that measure share: build and run a plan, show and export what was measured, judge its gates."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Sequence
from pathlib import Path

from httpbench import host, load
from httpbench.cli.engines import prepare_engines
from httpbench.cli.exit_codes import ExitCode
from httpbench.cli.exports import Exports
from httpbench.cli.options.load_host import LoadHostOptions
from httpbench.cli.terminal import console, progress
from httpbench.errors import UsageError
from httpbench.model import Run, RunStatus, Trial, VerdictKind
from httpbench.report import View, gate_sentence, gated, render_terminal
from httpbench.run import Outcome, RunSpec, make_run, refusals, require_programs, with_warmup_of_its_own
from httpbench.stats.attempts import last_attempts
from httpbench.stats.gates import Passage
from httpbench.stats.level import saturation
from httpbench.store import Store
from httpbench.text import listed


def build_and_run(spec: RunSpec, db: Path, load_host: LoadHostOptions | None = None, *, quiet: bool, waits: bool) -> Outcome:
    """Builds what is missing, then makes and stores every trial. Raises before the first build what cannot be done.

    ``waits``: until another run on the same cores has ended; otherwise raises :class:`~httpbench.errors.CoresInUseError`.
    """
    refuse_impossible(spec)
    with load_host.placed(spec) if load_host else contextlib.nullcontext(spec) as placed:
        return _build_and_run(placed, db, quiet=quiet, waits=waits)


def _build_and_run(spec: RunSpec, db: Path, *, quiet: bool, waits: bool) -> Outcome:
    require_programs(spec)
    prepare_engines([spec.targets[name] for name in spec.target_ids], console.stderr())
    own = with_warmup_of_its_own(spec)
    with Store(db) as store, progress.observer(console.stderr(), quiet=quiet) as observer:
        if own != spec:
            observer.warning(f"httpbench-loadgen is missing: {listed(own.generators)} warms up, for the longest time allowed")
        say = _print_warning if quiet else observer.warning  # who waits for another run wants to know
        with host.only_run_on(own.cpus, own.topology, waits=waits, say=say):
            return make_run(own, store, observer)


def refuse_impossible(spec: RunSpec) -> None:
    """Raises :class:`UsageError` if the load generator or this machine cannot make every trial."""
    refused = refusals(spec)
    if refused:
        raise UsageError("\n".join(refused), hint=f"use another load, or another load generator: {', '.join(load.GENERATORS)}")


def report(outcome: Outcome, db: Path, files: Exports, view: View | None = None) -> None:
    """Shows and exports what was measured, also of a run that was interrupted. Raises what could not be stored."""
    run, trials = outcome.run, outcome.trials
    interrupted = run.status is RunStatus.INTERRUPTED
    output, errors = console.beside(files), console.stderr()
    if trials:
        try:
            output.print(render_terminal(run, trials, width=output.width, view=view))
        finally:  # the terminal may be gone
            files.write(run, trials)
    if interrupted:
        planned = "" if run.search else f" of {len(run.plan)}"
        made = sum(trial.plan.attempt == 0 for trial in trials)
        errors.print(f"interrupted after {made}{planned} trials", markup=False)
    if trials and outcome.store_error is None:
        errors.print(f"stored in {db} as {run.id}; all notes: httpbench report --explain", markup=False, soft_wrap=True)
    if outcome.store_error is not None and not interrupted:
        raise outcome.store_error


def judge(outcome: Outcome, files: Exports) -> list[Passage]:
    """Prints and returns how each gate ended. A run that was interrupted has no gates."""
    judged = gated(outcome.run, outcome.trials)
    for gate in judged:
        console.beside(files).print(gate_sentence(gate), markup=False, soft_wrap=True)
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


def _print_warning(text: str) -> None:
    console.stderr().print(f"warning: {text}", markup=False, soft_wrap=True)


def _is_fine(run: Run, trials: Sequence[Trial]) -> bool:
    """Whether each target has figures and no trial failed or is invalid: a disturbed round is nobody's fault, if another one counts.

    A search tries rates that fail: it is fine if it found a rate that holds.
    """
    if run.search:
        return saturation(run.search, trials).rate_rps is not None
    counted = {trial.plan.cell for trial in trials if trial.verdict.counts}
    lost = [trial for trial in last_attempts(trials) if not trial.verdict.counts]
    return all(trial.verdict.kind is VerdictKind.DISTURBED and trial.plan.cell in counted for trial in lost)
