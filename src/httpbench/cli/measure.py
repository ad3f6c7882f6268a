"""Helpers for verbs that measure: specify a run, carry it out, show and export the results, and choose the exit code."""

from __future__ import annotations

import random
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from httpbench import host, load
from httpbench.analysis.gates import gated
from httpbench.cli.exit_codes import ExitCode
from httpbench.cli.options.load import ShareOptions
from httpbench.cli.options.load_source import LoadSource
from httpbench.cli.options.output import Exports, RecordOptions, StoreOptions, source_of
from httpbench.cli.targets import prepare_engines
from httpbench.cli.terminal import console
from httpbench.cli.terminal.duration import announcement
from httpbench.errors import UsageError
from httpbench.model import Run, RunStatus, Target, Trial, VerdictKind, Workload
from httpbench.report.terminal.run import render_terminal
from httpbench.report.words.columns import View
from httpbench.report.words.columns import names as column_names
from httpbench.report.words.curves import NAMES as SEARCH_COLUMNS
from httpbench.report.words.gates import run_gate_sentences
from httpbench.report.words.notes import explaining
from httpbench.run import RunSpec, estimate_s, make_plan, make_run, refusals, require_programs, with_database_cores, with_warmup_of_its_own
from httpbench.stats.gates import Passage, leaves_open
from httpbench.stats.level import saturation
from httpbench.stats.summary import last_attempts
from httpbench.store import Store
from httpbench.text import listed

if TYPE_CHECKING:
    from httpbench.cli.options.load_source import Divide
    from httpbench.load import Tool
    from httpbench.run import Matrix, Outcome

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
    """Return the specification of a run that measures all combinations in a matrix.

    The calling verb replaces the fields that are specific to the verb.

    Args:
        matrix: The targets, workloads and loads to combine.
        tools: The load generators, or the timers of clients, by name.
        targets: All targets that the run can start, including backends.
        workloads: The workloads of the matrix, by name.
        source: The source of the load.
        share: Options for the targets' cores. ``None``: each target gets its usual share.
        partition: The function that divides this machine's cores among the programs.
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
    """Carry out a run, show and export its results, and return the exit code."""
    view = record.tables.view(SEARCH_COLUMNS if spec.search else column_names(spec.table))
    files.check()
    outcome = build_and_run(spec, record, source)
    report(outcome, record.db, files, view)
    judged = gated(outcome.run, outcome.trials)  # empty if the run was interrupted
    for sentence in run_gate_sentences(outcome.run, judged):
        files.tables.print(sentence, soft_wrap=True)
    return exit_code(outcome, [gate.passage for gate in judged])


def build_and_run(spec: RunSpec, options: StoreOptions, source: LoadSource = THIS_MACHINE) -> Outcome:
    """Build targets where necessary, then run and store every trial.

    If the run is impossible, raise an error before the first build.
    """
    refuse_impossible(spec)
    with source.placed(spec) as placed:
        require_programs(placed)
        prepare_engines(placed.targets[name] for name in placed.target_ids)
        own = with_warmup_of_its_own(placed)
        with Store(options.db) as store, console.observer(quiet=options.quiet) as observer:
            if own != placed:
                observer.warning(f"httpbench-loadgen is missing: {listed(own.generators)} warms up, for the maximum time")
            say = console.warn if options.quiet else observer.warning  # even with --quiet, report that the run waits for cores
            lasts_s = own.search.time_max_s if own.search else estimate_s(own.plan.trials, own.targets)
            with host.only_run_on(own.cpus, own.topology, waits=not options.no_wait, say=say, lasts_s=lasts_s):
                observer.planned(announcement(own))
                return make_run(own, store, observer)


def refuse_impossible(spec: RunSpec) -> None:
    """Raise :class:`UsageError` if the load generator or this machine cannot run every trial."""
    refused = refusals(spec)
    if refused:
        raise UsageError("\n".join(refused), hint=f"use another load, or another load generator: {', '.join(load.GENERATORS)}")


def report(outcome: Outcome, db: Path, files: Exports, view: View | None = None) -> None:
    """Show and export the results, even if the run was interrupted.

    If the results could not be stored, raise the store's error after the export. An interrupted run doesn't raise it.
    """
    run, trials = outcome.run, outcome.trials
    interrupted = run.status is RunStatus.INTERRUPTED
    output, source = files.tables, source_of(run.id, db)
    if trials:
        try:
            output.print(render_terminal(run, trials, width=output.width, view=replace(view or View(), source=source)))
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
