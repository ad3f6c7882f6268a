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
from httpbench.cli.options.params import DOUBLINGS, EVENTS, FIRST_BYTES, LOAD_GENERATORS, PERCENTAGE, STARTUP
from httpbench.cli.options.profile import ProfileOptions
from httpbench.cli.options.request import RequestsOptions
from httpbench.cli.options.servers import ServerOptions, refuse_skipped
from httpbench.cli.options.shared import (
    GateOptions,
    dry_run_option,
    interleave_option,
    name_option,
    retries_option,
    rounds_option,
    seed_option,
)
from httpbench.cli.options.startup import STARTS, StartupOptions, require_startable
from httpbench.cli.options.transport import TransportOptions
from httpbench.errors import SelectionError, UsageError

if TYPE_CHECKING:
    from httpbench.load import Tool
    from httpbench.model import Load, Precision, Target, Workload
    from httpbench.run import RunSpec

ROUNDS = 5
ROUNDS_MIN, ROUNDS_MAX, PRECISION = 6, 60, 0.02


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
    request: RequestsOptions = group(RequestsOptions)
    sse: bool = option("--sse", is_flag=True, help="Measure event streams (text/event-stream), which may stay open.")
    transport: TransportOptions = group(TransportOptions)
    load: LoadOptions = group(LoadOptions)
    startup: StartupOptions = group(StartupOptions)
    source: LoadSourceOptions = group(LoadSourceOptions)
    scan: tuple[str, tuple[int, ...]] | None = option(
        "--scan",
        type=(click.Choice(["connections"]), DOUBLINGS),
        metavar="connections FROM..TO",
        help="Measure at each doubling of the connections.",
    )
    rounds: int | None = rounds_option("--rounds", default_text=f"{ROUNDS}; {STARTS} with --startup", help="Rounds.")
    precision: float | None = option(
        "--precision",
        type=PERCENTAGE,
        help=f"Add rounds until every interval is within ± this percentage, such as {PRECISION:.0%}. Default duration then: 2 to 10s.",
    )
    min_rounds: int | None = rounds_option("--min-rounds", default_text=str(ROUNDS_MIN), help="With --precision: minimum rounds.")
    max_rounds: int | None = rounds_option("--max-rounds", default_text=str(ROUNDS_MAX), help="With --precision: maximum rounds.")
    retries: int = retries_option()
    interleave: str = interleave_option()
    generator: str = option("--load-generator", metavar="NAME", default="native", help=f"Load generator: {', '.join(LOAD_GENERATORS)}.")
    seed: int | None = seed_option()
    gates: GateOptions = group(GateOptions)
    profile: ProfileOptions = group(ProfileOptions)
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
    httpbench run './old {port}' './new {port}' --startup        how they start
    httpbench run --url http://127.0.0.1:8080/hello              a running server
    httpbench run --url https://127.0.0.1:8443/ -k --http2       TLS and HTTP/2
    httpbench run --url http://10.0.0.9/ -r a -r b               load from hosts
    httpbench run --image nginx:1.27 --image caddy:2 --port 80   images
    httpbench run './a {port}' --path /events --sse              event streams
    httpbench run './a {port}' --data u.csv --path '/users/{id}'  a row each
    """
    isolation = options.isolation.of_images(options.images)
    targets = options.transport.applied(options.servers.targets(options.commands, options.names, options.images, isolation))
    from httpbench import load
    from httpbench.cli.measure import measure

    tools = {options.generator: load.get(options.generator)}
    files = options.exports.files
    with options.source.opened(targets, tools, port=options.servers.port) as source:
        spec = _plan(targets, source, tools, options)
        require_startable(spec, source.name)
        spec = options.profile.applied(spec)
        if options.dry_run:
            from httpbench.cli.terminal import dry_run

            return dry_run.show(spec, files.tables, source.name)
        return measure(spec, source, options.record, files)


def _plan(targets: Sequence[Target], source: LoadSource, tools: Mapping[str, Tool], options: RunOptions) -> RunSpec:
    """Return the specification of the run, which measures every server under every load."""
    from httpbench.cli.measure import make_spec
    from httpbench.model import Table
    from httpbench.run import Interleave, Matrix, with_slices

    precision = _precision(options)
    if precision and options.startup.startup:
        raise UsageError("--precision is about throughput, so it cannot be used with --startup", hint="use --rounds")
    usual_rounds = STARTS if options.startup.startup else ROUNDS
    rounds = precision.rounds_max if precision else options.rounds or usual_rounds
    options.gates.check(rounds)
    if options.gates.all and len(targets) < 2:
        raise UsageError("--fail-if requires a second server", hint="name two servers, or use `httpbench compare --fail-if`")
    _check_first_byte(options)
    workload = options.request.as_workload(options.servers.urls)
    if options.sse:
        workload = _event_stream(workload, options)
    matrix = Matrix(
        targets=targets,
        scalings=[options.servers.chosen_scaling],
        workloads=[workload.name],
        loads=_loads(targets, source, options, precision),
        load_generators=list(tools),
        rounds=rounds,
        workers=options.servers.share.workers,
    )
    spec = make_spec(matrix, tools, targets, {workload.name: workload}, source=source, share=options.servers.share, seed=options.seed)
    refuse_skipped(spec.plan)
    spec = replace(
        spec,
        table=Table.STARTUP if options.startup.startup else Table.COMMANDS,
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
    return with_slices(spec, Interleave(options.interleave))


def _event_stream(workload: Workload, options: RunOptions) -> Workload:
    """Return the workload, with event streams as correct responses. Raise :class:`UsageError` if options contradict this."""
    from httpbench.model import EVENT_STREAM

    if options.request.expect_status or options.request.expect_body or not workload.has_one_request:
        raise UsageError(
            "--sse measures event streams from a single request", hint="remove --expect-status, --expect-body and files of several requests"
        )
    return workload.model_copy(update={"expect": EVENT_STREAM, "sse": True})


def _loads(targets: Sequence[Target], source: LoadSource, options: RunOptions, precision: Precision | None) -> list[Load]:
    from httpbench.model import Kind
    from httpbench.run import KINDS

    if options.scan and options.load.connections:
        raise UsageError("--scan connections and --connections both set the number of connections", hint="remove one of them")
    given = {**options.load.given(), **options.transport.load_fields(targets)}
    connections = options.scan[1] if options.scan else options.load.connections
    usual = options.startup.load_fields(given) or source.warmup(given)
    load = KINDS[Kind.SERVER].load
    if precision and not options.load.rate:  # with a rate, the p99 counts, which requires many responses
        from httpbench.stats.precision import usual_duration_s

        load = load.model_copy(update={"duration_s": usual_duration_s(precision.half_width)})
    return Overrides({**usual, **given}, connections).loads([load])


def _check_first_byte(options: RunOptions) -> None:
    """Raise :class:`UsageError` if a gate is about times that the load or the load generator doesn't have."""
    from httpbench import load

    of_events = next((gate for gate in options.gates.all if gate.figure in EVENTS), None)
    if of_events and not options.sse:
        raise UsageError(f"--fail-if '{of_events}' needs event streams", hint="add --sse, or remove this gate")
    of_starts = next((gate for gate in options.gates.all if gate.figure in STARTUP), None)
    if of_starts and not options.startup.startup:
        raise UsageError(f"--fail-if '{of_starts}' needs measured starts", hint="add --startup, or remove this gate")
    gate = next((gate for gate in options.gates.all if gate.figure in FIRST_BYTES), None)
    if gate and not load.get(options.generator).times_first_byte:
        raise UsageError(
            f"--fail-if '{gate}' needs the time to the first byte, which {options.generator} doesn't report",
            hint="use --load-generator native",
        )


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
