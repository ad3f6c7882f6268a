"""Helpers for verbs that measure: specify a run and carry it out."""

from __future__ import annotations

import random
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from httpbench import host
from httpbench.cli.exit_codes import ExitCode
from httpbench.cli.options.load import ShareOptions
from httpbench.cli.options.load_source import LoadSource
from httpbench.cli.options.output import Exports, RecordOptions, StoreOptions
from httpbench.cli.options.params import LOAD_GENERATORS
from httpbench.cli.targets import prepare_engines
from httpbench.cli.terminal import console
from httpbench.cli.terminal.duration import announcement
from httpbench.errors import UsageError
from httpbench.model import Target, Workload
from httpbench.run import RunSpec, estimate_s, make_plan, make_run, refusals, require_programs, with_database_cores, with_warmup_of_its_own
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
    if record.tables.are_chosen:
        from httpbench.cli.results import known_columns

        record.tables.view(known_columns(spec.table, spec.search))
    files.check()
    outcome = build_and_run(spec, record, source)
    from httpbench.cli.results import report, report_gates

    report(outcome, record.db, files, record.tables)
    return report_gates(outcome, files)


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
        raise UsageError("\n".join(refused), hint=f"use another load, or another load generator: {', '.join(LOAD_GENERATORS)}")
