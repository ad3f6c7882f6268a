"""``httpbench saturate``: find the highest rate that meets a service level."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from httpbench.cli.exit_codes import ExitCode
from httpbench.cli.options.fields import Options, argument, command, group, option
from httpbench.cli.options.isolation import IsolationOptions
from httpbench.cli.options.load import arrivals_option, threads_option
from httpbench.cli.options.load_source import LoadSource, LoadSourceOptions
from httpbench.cli.options.output import ExportOptions, RecordOptions
from httpbench.cli.options.params import COUNT, DURATION, DURATION_OR_NONE, LATENCY_BOUND, PERCENTAGE
from httpbench.cli.options.profile import ProfileOptions
from httpbench.cli.options.request import RequestsOptions
from httpbench.cli.options.servers import ServerOptions, one_target, refuse_skipped
from httpbench.cli.options.shared import complete_target, name_option, targets_option
from httpbench.cli.options.transport import TransportOptions
from httpbench.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from httpbench.load import Tool
    from httpbench.model import Bound, Search, Target
    from httpbench.run import RunSpec

NATIVE = "native"
SCOUT_DURATION_S = 1.0
WIDTH_MIN, WIDTH_MAX = 0.002, 0.5


class SearchOptions(Options):
    """Options for the service level, and for the precision of the search."""

    bounds: tuple[Bound, ...] = option(
        "--slo",
        type=LATENCY_BOUND,
        multiple=True,
        default=("p99<10ms",),
        help="Latency bound of the service level; ttfb-p99<200ms bounds the time to first byte.",
    )
    max_errors: float = option(
        "--max-errors", type=PERCENTAGE, default="0.1%", help="Maximum share of requests that fail or get a wrong response."
    )
    width: float = option("--width", type=PERCENTAGE, default="1%", help="Stop when the rate is known to within this percentage.")
    trials: int = option(
        "--trials", type=click.IntRange(1, 99), default=3, metavar="N", help="Trials per rate; a rate holds if at least half of them hold."
    )
    overload: float | None = option(
        "--overload",
        type=click.FloatRange(1, 10, min_open=True),
        metavar="FACTOR",
        help="After the search, offer this many times the highest rate, then half of it, to measure goodput and recovery.",
    )
    max_time: float = option("--max-time", type=DURATION, default="3m", help="Maximum duration of the search, without builds.")
    max_trials: int = option("--max-trials", type=click.IntRange(2, 10_000), default=200, metavar="N", help="Maximum number of trials.")


class SearchLoadOptions(Options):
    """Options for the load, named like the fields of :class:`~httpbench.model.Load`. The search chooses the rates."""

    connections: int = option("-c", "--connections", type=COUNT, default=64, help="Connections.")
    duration_s: float = option("-d", "--duration", type=DURATION, default="3s", help="Measured duration of each trial.")
    threads: int | None = threads_option()
    warmup_s: float = option("--warmup", type=DURATION_OR_NONE, default="1s", help="Warm-up duration.")
    timeout_s: float = option("--timeout", type=DURATION, default="2s", help="Request timeout.")
    arrivals: str = arrivals_option(default="poisson")
    keepalive: bool = option("--keepalive/--no-keepalive", default=True, help="Keep connections alive, or open one per request.")


class SaturateOptions(Options):
    server: str | None = argument(required=False, metavar="[TARGET|CMD]", shell_complete=complete_target)
    search: SearchOptions = group(SearchOptions)
    load: SearchLoadOptions = group(SearchLoadOptions)
    source: LoadSourceOptions = group(LoadSourceOptions)
    servers: ServerOptions = group(ServerOptions)
    isolation: IsolationOptions = group(IsolationOptions)
    request: RequestsOptions = group(RequestsOptions)
    transport: TransportOptions = group(TransportOptions)
    targets: tuple[Path, ...] = targets_option()
    profile: ProfileOptions = group(ProfileOptions)
    name: str | None = name_option("--name")
    record: RecordOptions = group(RecordOptions)
    exports: ExportOptions = group(ExportOptions)


@command(SaturateOptions)
def saturate(options: SaturateOptions) -> ExitCode:
    """Find the highest rate that meets a service level.

    Also draws latency against rate. The load is an open loop: latency is measured from the time at which each request was due. Short trials
    narrow the range of rates, and several longer trials then decide whether each rate in that range passes (MLRsearch). Disturbed trials do
    not count, and both ends of the resulting range are tried again. TARGET is the id of one server, or a part of it. CMD is a command line
    that serves HTTP on {port}.

    \b
    httpbench saturate c/nginx --slo 'p99<5ms'                  a target
    httpbench saturate './server {port}' --slo 'p99.9<20ms'     a command
    httpbench saturate --url http://127.0.0.1:8080/             a running server
    httpbench saturate c/nginx --overload 1.5                   and beyond it
    """
    from httpbench import load
    from httpbench.cli.measure import measure
    from httpbench.model import Kind

    found = one_target("saturate", options.server, options.servers, options.isolation, options.targets, Kind.SERVER)
    (found,) = options.transport.applied([found])
    tools = {NATIVE: load.get(NATIVE)}
    with options.source.opened([found], tools, port=options.servers.port) as source:
        spec = options.profile.applied(_plan(options.request.applied(found), source, tools, options))
        return measure(spec, source, options.record, options.exports.files)


def _plan(target: Target, source: LoadSource, tools: Mapping[str, Tool], options: SaturateOptions) -> RunSpec:
    """Return the specification of a run that plans only the first trial. The search adds the other trials."""
    from httpbench.cli.measure import make_spec
    from httpbench.model import Load, Table
    from httpbench.run import Matrix

    workload = options.request.as_workload(options.servers.urls, default="plaintext" if target.is_declared else None)
    share = options.servers.share
    scalings = [options.servers.chosen_scaling]
    # The first trial is a short closed loop. Its throughput is the starting point of the search.
    scout_s = min(SCOUT_DURATION_S, options.load.duration_s)
    own = {**dataclasses.asdict(options.load), **options.transport.load_fields([target]), "duration_s": scout_s}
    scout = Load.model_validate(own)
    matrix = Matrix([target], scalings, [workload.name], [scout], list(tools), rounds=1, workers=share.workers)
    spec = make_spec(matrix, tools, [target], {workload.name: workload}, source=source, share=share, seed=0)
    refuse_skipped(spec.plan)
    return replace(
        spec,
        table=Table.HTTP_SERVERS if target.is_declared else Table.COMMANDS,
        port=options.servers.port,
        start_limit_s=options.servers.start_timeout,
        search=_search(options.search, options.load),
        name=options.name,
        tags=options.record.tags,
    )


def _search(options: SearchOptions, load: SearchLoadOptions) -> Search:
    from httpbench.model import FIRST_BYTE, Search, ServiceLevel

    if not WIDTH_MIN <= options.width <= WIDTH_MAX:
        raise UsageError(f"--width {options.width:.2%} is not between {WIDTH_MIN:.1%} and {WIDTH_MAX:.0%}")
    if options.overload is not None and any(bound.figure.startswith(FIRST_BYTE) for bound in options.bounds):
        raise UsageError(
            "--overload can't be combined with a bound on the first byte, which is not known while a target recovers",
            hint="bound the response time, as in --slo 'p99<5ms'",
        )
    return Search(
        level=ServiceLevel(bounds=options.bounds, failed_share_max=options.max_errors),
        width=options.width,
        trials_per_rate=options.trials,
        duration_s=load.duration_s,
        scout_duration_s=min(SCOUT_DURATION_S, load.duration_s),
        overload=options.overload,
        time_max_s=options.max_time,
        trials_max=options.max_trials,
    )
