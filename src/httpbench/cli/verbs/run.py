"""``httpbench run``: compare servers given as commands and URLs."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import click

from httpbench.cli.exit_codes import ExitCode
from httpbench.cli.options import choices
from httpbench.cli.options.fields import argument, command, group, option
from httpbench.cli.options.isolation import IsolationOptions
from httpbench.cli.options.load_host import LoadHostOptions
from httpbench.cli.options.params import DOUBLINGS, PERCENTAGE
from httpbench.cli.options.scheduler import SchedulerOptions, divided, over, placed
from httpbench.cli.options.servers import RequestOptions, ServerOptions, refuse_skipped
from httpbench.cli.options.shared import (
    ExportOptions,
    LoadOptions,
    db_option,
    dry_run_option,
    gates_option,
    name_option,
    no_wait_option,
    quiet_option,
    retries_option,
    seed_option,
    tags_option,
)
from httpbench.cli.options.tables import TableOptions
from httpbench.cli.terminal import console
from httpbench.errors import SelectionError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from httpbench.model import Gate, Load, Precision, Target
    from httpbench.run import RunSpec

ROUNDS = 5
ROUNDS_MIN, ROUNDS_MAX, PRECISION = 5, 30, 0.02
CONNECTIONS = 64


def rounds_option(flag: str, default: int, text: str) -> int | None:
    found: int | None = option(flag, type=click.IntRange(1, 1000), metavar="N", default_text=str(default), help=text)
    return found


@dataclass(frozen=True, slots=True)
class RunOptions:
    commands: tuple[str, ...] = argument(nargs=-1, metavar="[CMD]...")
    servers: ServerOptions = group(ServerOptions)
    images: tuple[str, ...] = option(
        "--image", multiple=True, metavar="IMAGE[:TAG]", help="Image whose own command serves HTTP; --port is the port inside."
    )
    names: tuple[str, ...] = option(
        "--name", multiple=True, metavar="NAME", help="Name of a server: one per server; commands, URLs, images."
    )
    baseline: str | None = option("--baseline", metavar="NAME", default_text="the first", help="Server to compare the others with.")
    isolation: IsolationOptions = group(IsolationOptions)
    request: RequestOptions = group(RequestOptions)
    load: LoadOptions = group(LoadOptions)
    load_host: LoadHostOptions = group(LoadHostOptions)
    scan: tuple[str, tuple[int, ...]] | None = option(
        "--scan",
        type=(click.Choice(["connections"]), DOUBLINGS),
        metavar="connections FROM..TO",
        help="Measure at each doubling of the connections.",
    )
    rounds: int | None = rounds_option("--rounds", ROUNDS, "Rounds.")
    precision: float | None = option(
        "--precision", type=PERCENTAGE, help=f"Add rounds until every interval is within ± this percentage, such as {PRECISION:.0%}."
    )
    min_rounds: int | None = rounds_option("--min-rounds", ROUNDS_MIN, "With --precision: minimum rounds.")
    max_rounds: int | None = rounds_option("--max-rounds", ROUNDS_MAX, "With --precision: maximum rounds.")
    retries: int = retries_option()
    scheduler: SchedulerOptions = group(SchedulerOptions)
    generator: str = option(
        "--load-generator", metavar="NAME", default="native", help=f"Load generator: {', '.join(choices.LOAD_GENERATORS)}."
    )
    seed: int | None = seed_option()
    gates: tuple[Gate, ...] = gates_option()
    run_name: str | None = name_option("--run-name")
    tags: tuple[str, ...] = tags_option()
    no_wait: bool = no_wait_option()
    dry_run: bool = dry_run_option()
    quiet: bool = quiet_option()
    db: Path = db_option()
    tables: TableOptions = group(TableOptions)
    exports: ExportOptions = group(ExportOptions)


@command(RunOptions)
def run(options: RunOptions) -> ExitCode:
    """Compare servers of your own, given as commands or URLs.

    Each command is started on a free port and measured in interleaved rounds. CMD is a command line that serves HTTP on {port}.

    \b
    httpbench run './old {port}' './new {port}'                  two commands
    httpbench run './a {port}' './b {port}' --fail-if 'rps<-3%'  a gate
    httpbench run --url http://127.0.0.1:8080/hello              a running server
    httpbench run --url http://10.0.0.9/ --load-hosts a,b        load from hosts
    httpbench run --image nginx:1.27 --image caddy:2 --port 80   images
    """
    isolation = options.isolation.of_images(options.images)
    targets = options.servers.targets(options.commands, options.names, options.images, isolation)
    options.load_host.check(targets, many=options.scheduler.named is not None)
    with options.scheduler.started(options.load_host.load_host) as scheduler:
        return _run(targets, replace(options, scheduler=scheduler))


def _run(targets: Sequence[Target], options: RunOptions) -> ExitCode:
    from httpbench.cli import measure
    from httpbench.cli.terminal import dry_run
    from httpbench.report import column_names

    spec = _plan(targets, options)
    files = options.exports.files
    if options.dry_run:
        return dry_run.show(spec, console.beside(files), options.load_host.load_host or options.scheduler.scheduler)
    view = options.tables.view(column_names(spec.table))
    files.check()
    outcome = measure.build_and_run(spec, options.db, options.load_host, quiet=options.quiet, waits=not options.no_wait)
    measure.report(outcome, options.db, files, view)
    return measure.exit_code(outcome, measure.judge(outcome, files))


def _plan(targets: Sequence[Target], options: RunOptions) -> RunSpec:
    """The trials of every server under every load, and what they require."""
    from httpbench import host, load
    from httpbench.cli.measure import seed_or_random
    from httpbench.model import Table
    from httpbench.run import Matrix, RunSpec, make_plan, with_database_cores

    if options.gates and len(targets) < 2:
        raise UsageError("--fail-if requires a second server", hint="name two servers, or use `httpbench compare --fail-if`")
    workload = options.request.as_workload(options.servers.urls)
    loads = _loads(options)
    workers = options.scheduler.workers([options.generator], targets, host=options.load_host.host, port=options.servers.port)
    precision = _precision(options)
    matrix = Matrix(
        targets=targets,
        scalings=[options.servers.chosen_scaling],
        workloads=[workload.name],
        loads=loads,
        load_generators=[options.generator],
        rounds=precision.rounds_max if precision else options.rounds or ROUNDS,
        workers=options.servers.share.workers,
    )
    topology = host.read_topology()
    cores = options.servers.share.cores_of(topology)
    divide = divided(workers, options.load_host.divide(host.partition))
    plan = make_plan(matrix, lambda scaling: divide(topology, scaling, cores), seed_or_random(options.seed))
    refuse_skipped(plan)
    spec = RunSpec(
        plan=plan,
        targets={target.id: target for target in targets},
        workloads={workload.name: workload},
        generators=over(workers, {options.generator: load.get(options.generator)}),
        load_place=placed(workers),
        topology=topology,
        command=("httpbench", *sys.argv[1:]),
        table=Table.COMMANDS,
        baseline=_baseline(targets, options.baseline),
        precision=precision,
        gates=options.gates,
        port=options.servers.port,
        start_limit_s=options.servers.start_timeout,
        name=options.run_name,
        tags=options.tags,
        retries=options.retries,
    )
    return with_database_cores(spec)


def _loads(options: RunOptions) -> list[Load]:
    from pydantic import ValidationError

    from httpbench import catalog
    from httpbench.model import Load
    from httpbench.run import WARMUP_UNTIL_STEADY, load_of

    if options.scan and options.load.connections:
        raise UsageError("--scan connections and --connections both set the number of connections", hint="remove one of them")
    counts = options.scan[1] if options.scan else options.load.connections or (CONNECTIONS,)
    given = options.load.given()
    fields = {**WARMUP_UNTIL_STEADY, **options.scheduler.warmup(given), **given}
    try:
        return [load_of({**fields, "connections": connections}) for connections in counts]
    except ValidationError as error:
        raise UsageError("\n".join(catalog.sentences(Load, error))) from None


def _precision(options: RunOptions) -> Precision | None:
    """When to stop; ``None``: after a fixed number of rounds."""
    from httpbench.model import Precision

    if not (options.precision or options.min_rounds or options.max_rounds):
        return None
    if options.rounds:
        hint = "remove --rounds, or remove --precision, --min-rounds and --max-rounds"
        raise UsageError("--rounds fixes the number of rounds, so it cannot be used with --precision", hint=hint)
    rounds_min = options.min_rounds or min(ROUNDS_MIN, options.max_rounds or ROUNDS_MIN)
    rounds_max = options.max_rounds or max(ROUNDS_MAX, rounds_min)
    if rounds_min > rounds_max:
        raise UsageError(f"--min-rounds {rounds_min} is more than --max-rounds {rounds_max}")
    return Precision(rounds_min=rounds_min, rounds_max=rounds_max, half_width=options.precision or PRECISION)


def _baseline(targets: Sequence[Target], name: str | None) -> str:
    """The id of the server that was named; otherwise of the first."""
    if name is None:
        return targets[0].id
    found = [target.id for target in targets if name.lower() in (target.framework, target.id)]
    if not found:
        names = ", ".join(target.framework for target in targets)
        raise SelectionError(f"no server is called {name}, the value of --baseline", hint=f"use one of {names}")
    return found[0]
