"""Helpers for verbs that measure: make the specification of a run, run it, show and export the results, and choose the exit code."""

from __future__ import annotations

import random
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from httpbench import host, load
from httpbench.analysis.gates import gated
from httpbench.cli.exit_codes import ExitCode
from httpbench.cli.options.load import ShareOptions
from httpbench.cli.options.load_source import LoadSource
from httpbench.cli.options.output import Exports, RecordOptions, StoreOptions
from httpbench.cli.targets import prepare_engines
from httpbench.cli.terminal import console
from httpbench.errors import UsageError
from httpbench.model import Run, RunStatus, Target, Trial, VerdictKind, Workload
from httpbench.report.terminal.run import render_terminal
from httpbench.report.words.columns import View
from httpbench.report.words.columns import names as column_names
from httpbench.report.words.curves import NAMES as SEARCH_COLUMNS
from httpbench.report.words.gates import gate_sentence
from httpbench.run import (
    Matrix,
    Outcome,
    RunSpec,
    make_plan,
    make_run,
    refusals,
    require_programs,
    with_database_cores,
    with_warmup_of_its_own,
)
from httpbench.stats.gates import Passage, leaves_open
from httpbench.stats.level import saturation
from httpbench.stats.summary import last_attempts
from httpbench.store import Store
from httpbench.text import listed

if TYPE_CHECKING:
    from httpbench.cli.options.load_source import Divide
    from httpbench.load import Tool

THIS_MACHINE = LoadSource()


def make_spec(
    matrix: Matrix,
    tools: Mapping[str, Tool],
    targets: Sequence[Target],
    workloads: Mapping[str, Workload],
    *,
    source: LoadSource = THIS_MACHINE,
    share: ShareOptions | None = None,
    partition: Divide = host.partition,
    seed: int | None = None,
) -> RunSpec:
    """Return a run of all combinations in a matrix. The verbs replace the fields that are theirs alone.

    Args:
        matrix: The targets, workloads and loads to combine.
        tools: The load generators, or the timers of clients, by name.
        targets: All targets that the run may start, backends included.
        workloads: The workloads of the matrix, by name.
        source: Where the load comes from.
        share: The cores that the user gave the targets, if any.
        partition: The function that divides the cores of this machine.
        seed: Seed of the trial order. ``None``: random.
    """
    topology = host.read_topology()
    cores, divide = share.cores_of(topology) if share else None, source.divide(partition)
    seed = random.randrange(2**32) if seed is None else seed
    spec = RunSpec(
        plan=make_plan(matrix, lambda scaling: divide(topology, scaling, cores), seed),
        targets={target.id: target for target in targets},
        workloads=workloads,
        generators=source.generators(tools),
        topology=topology,
        command=("httpbench", *sys.argv[1:]),
    )
    return with_database_cores(spec)


def measure(spec: RunSpec, source: LoadSource, record: RecordOptions, files: Exports) -> ExitCode:
    """Make a run, show and export it, and return the exit code."""
    view = record.tables.view(SEARCH_COLUMNS if spec.search else column_names(spec.table))
    files.check()
    outcome = build_and_run(spec, record, source)
    report(outcome, record.db, files, view)
    return exit_code(outcome, _judge(outcome, files))


def build_and_run(spec: RunSpec, options: StoreOptions, source: LoadSource = THIS_MACHINE) -> Outcome:
    """Build what is missing, then make and store every trial. Raise before the first build if the run is impossible."""
    refuse_impossible(spec)
    with source.placed(spec) as placed:
        return _build_and_run(placed, options)


def _build_and_run(spec: RunSpec, options: StoreOptions) -> Outcome:
    require_programs(spec)
    prepare_engines([spec.targets[name] for name in spec.target_ids], console.stderr())
    own = with_warmup_of_its_own(spec)
    with Store(options.db) as store, console.observer(quiet=options.quiet) as observer:
        if own != spec:
            observer.warning(f"httpbench-loadgen is missing: {listed(own.generators)} warms up, for the maximum time")
        say = _print_warning if options.quiet else observer.warning  # a wait is reported even with --quiet
        with host.only_run_on(own.cpus, own.topology, waits=not options.no_wait, say=say):
            return make_run(own, store, observer)


def refuse_impossible(spec: RunSpec) -> None:
    """Raise :class:`UsageError` if the load generator or this machine cannot make every trial."""
    refused = refusals(spec)
    if refused:
        raise UsageError("\n".join(refused), hint=f"use another load, or another load generator: {', '.join(load.GENERATORS)}")


def report(outcome: Outcome, db: Path, files: Exports, view: View | None = None) -> None:
    """Show and export the results, even if the run was interrupted. Raise the error of a failed store."""
    run, trials = outcome.run, outcome.trials
    interrupted = run.status is RunStatus.INTERRUPTED
    output, errors = files.tables, console.stderr()
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


def exit_code(outcome: Outcome, passages: Sequence[Passage] = ()) -> ExitCode:
    """Return the exit code of a run and its gates."""
    if outcome.run.status is RunStatus.INTERRUPTED:
        return ExitCode.INTERRUPTED
    if Passage.BREACHED in passages:
        return ExitCode.BREACHED
    is_open = leaves_open(passages, fails_if_inconclusive=outcome.run.fails_if_inconclusive)
    if is_open or not _is_fine(outcome.run, outcome.trials):
        return ExitCode.FAILED
    return ExitCode.OK


def _judge(outcome: Outcome, files: Exports) -> list[Passage]:
    """Print and return the result of each gate. An interrupted run has no gates."""
    judged = gated(outcome.run, outcome.trials)
    for gate in judged:
        files.tables.print(gate_sentence(gate), markup=False, soft_wrap=True)
    return [gate.passage for gate in judged]


def _print_warning(text: str) -> None:
    console.stderr().print(f"warning: {text}", markup=False, soft_wrap=True)


def _is_fine(run: Run, trials: Sequence[Trial]) -> bool:
    """Return whether each target has a result, and no trial failed or is invalid.

    A disturbed round is fine if another round of the same cell counts. A search tries rates that fail, so it is fine if it found a rate
    that holds.
    """
    if run.search:
        return saturation(run.search, trials).rate_rps is not None
    counted = {trial.plan.cell for trial in trials if trial.verdict.counts}
    lost = [trial for trial in last_attempts(trials) if not trial.verdict.counts]
    return all(trial.verdict.kind is VerdictKind.DISTURBED and trial.plan.cell in counted for trial in lost)
