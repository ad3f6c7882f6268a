"""``httpbench run``: compare servers given as commands and URLs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from httpbench.cli.exit_codes import ExitCode
from httpbench.cli.options.fields import Options, argument, command, group, option
from httpbench.cli.options.isolation import IsolationOptions
from httpbench.cli.options.load import LoadOptions, Overrides
from httpbench.cli.options.load_source import LoadSource, LoadSourceOptions
from httpbench.cli.options.output import ExportOptions, RecordOptions
from httpbench.cli.options.params import DOUBLINGS, LOAD_GENERATORS, PERCENTAGE
from httpbench.cli.options.servers import RequestOptions, ServerOptions, refuse_skipped
from httpbench.cli.options.shared import (
    GateOptions,
    dry_run_option,
    interleave_option,
    name_option,
    retries_option,
    rounds_option,
    seed_option,
)
from httpbench.cli.options.transport import TransportOptions
from httpbench.errors import SelectionError, UsageError

if TYPE_CHECKING:
    from httpbench.load import Tool
    from httpbench.model import Load, Precision, Target
    from httpbench.run import RunSpec

ROUNDS = 5
ROUNDS_MIN, ROUNDS_MAX, PRECISION = 5, 30, 0.02


class RunOptions(Options):
    commands: tuple[str, ...] = argument(nargs=-1, metavar="[CMD]...")
    servers: ServerOptions = group(ServerOptions)
    images: tuple[str, ...] = option(
        "--image", multiple=True, metavar="IMAGE[:TAG]", help="Image with a command that serves HTTP; --port is the port inside."
    )
    names: tuple[str, ...] = option(
        "--name",
        multiple=True,
        metavar="NAME",
        default_text="the program, with its folder and arguments",
        help="Name of a server: one per server, in the order commands, URLs, images.",
    )
    baseline: str | None = option("--baseline", metavar="NAME", default_text="the first", help="Server to compare the others with.")
    isolation: IsolationOptions = group(IsolationOptions)
    request: RequestOptions = group(RequestOptions)
    transport: TransportOptions = group(TransportOptions)
    load: LoadOptions = group(LoadOptions)
    source: LoadSourceOptions = group(LoadSourceOptions)
    scan: tuple[str, tuple[int, ...]] | None = option(
        "--scan",
        type=(click.Choice(["connections"]), DOUBLINGS),
        metavar="connections FROM..TO",
        help="Measure at each doubling of the connections.",
    )
    rounds: int | None = rounds_option("--rounds", default_text=str(ROUNDS), help="Rounds.")
    precision: float | None = option(
        "--precision", type=PERCENTAGE, help=f"Add rounds until every interval is within ± this percentage, such as {PRECISION:.0%}."
    )
    min_rounds: int | None = rounds_option("--min-rounds", default_text=str(ROUNDS_MIN), help="With --precision: minimum rounds.")
    max_rounds: int | None = rounds_option("--max-rounds", default_text=str(ROUNDS_MAX), help="With --precision: maximum rounds.")
    retries: int = retries_option()
    interleave: str = interleave_option()
    generator: str = option("--load-generator", metavar="NAME", default="native", help=f"Load generator: {', '.join(LOAD_GENERATORS)}.")
    seed: int | None = seed_option()
    gates: GateOptions = group(GateOptions)
    run_name: str | None = name_option("--run-name")
    dry_run: bool = dry_run_option()
    record: RecordOptions = group(RecordOptions)
    exports: ExportOptions = group(ExportOptions)


@command(RunOptions)
def run(options: RunOptions) -> ExitCode:
    """Compare servers of your own, given as commands or URLs.

    Each command is started on a free port and measured in interleaved rounds. CMD is a command line that serves HTTP on {port}.

    \b
    httpbench run './old {port}' './new {port}'                  two commands
    httpbench run './a {port}' './b {port}' --fail-if 'rps<-3%'  a gate
    httpbench run --url http://127.0.0.1:8080/hello              a running server
    httpbench run --url https://127.0.0.1:8443/ -k --http2       TLS and HTTP/2
    httpbench run --url http://10.0.0.9/ -r a -r b               load from hosts
    httpbench run --image nginx:1.27 --image caddy:2 --port 80   images
    """
    isolation = options.isolation.of_images(options.images)
    targets = options.transport.applied(options.servers.targets(options.commands, options.names, options.images, isolation))
    from httpbench import load
    from httpbench.cli.measure import measure
    from httpbench.cli.terminal import dry_run

    tools = {options.generator: load.get(options.generator)}
    files = options.exports.files
    with options.source.opened(targets, tools, port=options.servers.port) as source:
        spec = _plan(targets, source, tools, options)
        if options.dry_run:
            return dry_run.show(spec, files.tables, source.name)
        return measure(spec, source, options.record, files)


def _plan(targets: Sequence[Target], source: LoadSource, tools: Mapping[str, Tool], options: RunOptions) -> RunSpec:
    """Return the specification of the run, which measures every server under every load."""
    from httpbench.cli.measure import make_spec
    from httpbench.model import Table
    from httpbench.run import Interleave, Matrix, with_slices

    precision = _precision(options)
    rounds = precision.rounds_max if precision else options.rounds or ROUNDS
    options.gates.check(rounds)
    if options.gates.all and len(targets) < 2:
        raise UsageError("--fail-if requires a second server", hint="name two servers, or use `httpbench compare --fail-if`")
    workload = options.request.as_workload(options.servers.urls)
    matrix = Matrix(
        targets=targets,
        scalings=[options.servers.chosen_scaling],
        workloads=[workload.name],
        loads=_loads(targets, source, options),
        load_generators=list(tools),
        rounds=rounds,
        workers=options.servers.share.workers,
    )
    spec = make_spec(matrix, tools, targets, {workload.name: workload}, source=source, share=options.servers.share, seed=options.seed)
    refuse_skipped(spec.plan)
    spec = replace(
        spec,
        table=Table.COMMANDS,
        baseline=_baseline(targets, options.baseline),
        precision=precision,
        gates=options.gates.all,
        fails_if_inconclusive=options.gates.fail_if_inconclusive,
        port=options.servers.port,
        start_limit_s=options.servers.start_timeout,
        name=options.run_name,
        tags=options.record.tags,
        retries=options.retries,
    )
    return with_slices(spec, Interleave(options.interleave), is_here=source.name is None)


def _loads(targets: Sequence[Target], source: LoadSource, options: RunOptions) -> list[Load]:
    from httpbench.model import Kind
    from httpbench.run import KINDS

    if options.scan and options.load.connections:
        raise UsageError("--scan connections and --connections both set the number of connections", hint="remove one of them")
    given = {**options.load.given(), **options.transport.load_fields(targets)}
    connections = options.scan[1] if options.scan else options.load.connections
    return Overrides({**source.warmup(given), **given}, connections).loads([KINDS[Kind.SERVER].load])


def _precision(options: RunOptions) -> Precision | None:
    """Return the precision at which the run stops adding rounds, or ``None`` for a fixed number of rounds."""
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
    """Return the id of the named server or, without a name, the id of the first server."""
    if name is None:
        return targets[0].id
    found = [target.id for target in targets if name.lower() in (target.framework, target.id)]
    if not found:
        names = ", ".join(target.framework for target in targets)
        raise SelectionError(f"no server is called {name}, the value of --baseline", hint=f"use one of {names}")
    return found[0]
