"""``httpbench saturate``: the highest rate that keeps a service level."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import click

from httpbench.cli.exit_codes import ExitCode
from httpbench.cli.options.fields import argument, command, group, option
from httpbench.cli.options.isolation import IsolationOptions
from httpbench.cli.options.load_host import LoadHostOptions
from httpbench.cli.options.params import COUNT, DURATION, DURATION_OR_NONE, LATENCY_BOUND, PERCENTAGE
from httpbench.cli.options.scheduler import SchedulerOptions, divided, over, placed
from httpbench.cli.options.servers import RequestOptions, ServerOptions, one_target, refuse_skipped
from httpbench.cli.options.shared import (
    LOAD_THREADS,
    ExportOptions,
    complete_target,
    db_option,
    name_option,
    no_wait_option,
    quiet_option,
    tags_option,
    targets_option,
)
from httpbench.cli.options.tables import TableOptions
from httpbench.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from httpbench.model import Bound, Load, Search, Target
    from httpbench.run import RunSpec

SCOUT_DURATION_S = 1.0
WIDTH_MIN, WIDTH_MAX = 0.002, 0.5


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """The service level, and how closely its rate is searched for."""

    bounds: tuple[Bound, ...] = option(
        "--slo",
        type=LATENCY_BOUND,
        multiple=True,
        default_text="p99<10ms",
        help="Latency bound of the service level.",
    )
    max_errors: float = option(
        "--max-errors", type=PERCENTAGE, default="0.1%", help="Maximum share of requests that fail or get a wrong response."
    )
    width: float = option("--width", type=PERCENTAGE, default="1%", help="Stop when the rate is known to within this percentage.")
    trials: int = option(
        "--trials", type=click.IntRange(1, 99), default=3, metavar="N", help="Trials per rate; a rate holds if at least half of them hold."
    )
    max_trials: int = option("--max-trials", type=click.IntRange(2, 10_000), default=200, metavar="N", help="Maximum number of trials.")


@dataclass(frozen=True, slots=True)
class SearchLoadOptions:
    """How the requests are made; the search chooses the rates."""

    connections: int = option("-c", "--connections", type=COUNT, default=64, help="Connections.")
    duration: float = option("-d", "--duration", type=DURATION, default="5s", help="Measured duration of each trial.")
    threads: int | None = option("-t", "--threads", type=COUNT, default_text=LOAD_THREADS, help="Threads of the load generator.")
    warmup: float = option("--warmup", type=DURATION_OR_NONE, default="1s", help="Warm-up duration.")
    timeout: float = option("--timeout", type=DURATION, default="2s", help="Request timeout.")
    keepalive: bool = option("--keepalive/--no-keepalive", default=True, help="Keep connections alive, or open one per request.")


@dataclass(frozen=True, slots=True)
class SaturateOptions:
    server: str | None = argument(required=False, metavar="[TARGET|CMD]", shell_complete=complete_target)
    search: SearchOptions = group(SearchOptions)
    load: SearchLoadOptions = group(SearchLoadOptions)
    load_host: LoadHostOptions = group(LoadHostOptions)
    scheduler: SchedulerOptions = group(SchedulerOptions)
    servers: ServerOptions = group(ServerOptions)
    isolation: IsolationOptions = group(IsolationOptions)
    request: RequestOptions = group(RequestOptions)
    targets: tuple[Path, ...] = targets_option()
    name: str | None = name_option("--name")
    tags: tuple[str, ...] = tags_option()
    no_wait: bool = no_wait_option()
    quiet: bool = quiet_option()
    db: Path = db_option()
    tables: TableOptions = group(TableOptions)
    exports: ExportOptions = group(ExportOptions)


@command(SaturateOptions)
def saturate(options: SaturateOptions) -> ExitCode:
    """Find the highest rate that keeps a service level.

    Also draws latency against rate. Open loop: requests are due on a schedule, and times count from when each was due. Short trials
    narrow the range of rates; several longer trials decide each rate in it (MLRsearch). Trials that others disturbed do not count, and
    both ends of the result are tried again. TARGET is the id of one server, or a part of it. CMD is a command line that serves HTTP on
    {port}.

    \b
    httpbench saturate c/nginx --slo 'p99<5ms'                  a target
    httpbench saturate './server {port}' --slo 'p99.9<20ms'     a command
    httpbench saturate --url http://127.0.0.1:8080/             a running server
    """
    from httpbench.model import Kind

    target = one_target("saturate", options.server, options.servers, options.isolation, options.targets, Kind.SERVER)
    options.load_host.check([target], many=options.scheduler.named is not None)
    with options.scheduler.started(options.load_host.load_host) as scheduler:
        return _saturate(target, replace(options, scheduler=scheduler))


def _saturate(target: Target, options: SaturateOptions) -> ExitCode:
    from httpbench.cli import measure
    from httpbench.report import SEARCH_COLUMNS

    spec = _plan(target.at(options.request.path), options)
    files = options.exports.files
    view = options.tables.view(SEARCH_COLUMNS)
    files.check()
    outcome = measure.build_and_run(spec, options.db, options.load_host, quiet=options.quiet, waits=not options.no_wait)
    measure.report(outcome, options.db, files, view)
    return measure.exit_code(outcome)


def _plan(target: Target, options: SaturateOptions) -> RunSpec:
    """The first trial, from which the search follows, and what it requires."""
    from httpbench import host, load
    from httpbench.model import Table
    from httpbench.run import Matrix, RunSpec, make_plan, with_database_cores

    workload = options.request.as_workload(options.servers.urls, default="plaintext" if target.is_declared else None)
    share, scaling = options.servers.share, options.servers.chosen_scaling
    matrix = Matrix([target], [scaling], [workload.name], [_load(options.load)], ["native"], rounds=1, workers=share.workers)
    workers = options.scheduler.workers(["native"], [target], host=options.load_host.host, port=options.servers.port)
    topology = host.read_topology()
    cores = share.cores_of(topology)
    divide = divided(workers, options.load_host.divide(host.partition))
    plan = make_plan(matrix, lambda scaling: divide(topology, scaling, cores), seed=0)
    refuse_skipped(plan)
    search = _search(options.search, options.load)
    spec = RunSpec(
        plan=plan,
        targets={target.id: target},
        workloads={workload.name: workload},
        generators=over(workers, {"native": load.get("native")}),
        load_place=placed(workers),
        topology=topology,
        command=("httpbench", *sys.argv[1:]),
        table=Table.HTTP_SERVERS if target.is_declared else Table.COMMANDS,
        port=options.servers.port,
        start_limit_s=options.servers.start_timeout,
        search=search,
        name=options.name,
        tags=options.tags,
    )
    return with_database_cores(spec)


def _load(options: SearchLoadOptions) -> Load:
    """A closed loop as short as a scout: the most that the server can do, where the search begins."""
    from httpbench.model import Load

    return Load(
        connections=options.connections,
        threads=options.threads,
        keepalive=options.keepalive,
        duration_s=min(SCOUT_DURATION_S, options.duration),
        warmup_s=options.warmup,
        timeout_s=options.timeout,
    )


def _search(options: SearchOptions, load: SearchLoadOptions) -> Search:
    from httpbench.model import Bound, Search, ServiceLevel

    if not WIDTH_MIN <= options.width <= WIDTH_MAX:
        raise UsageError(f"--width {options.width:.2%} is not between {WIDTH_MIN:.1%} and {WIDTH_MAX:.0%}")
    return Search(
        level=ServiceLevel(bounds=options.bounds or (Bound(figure="p99", limit_us=10_000),), failed_share_max=options.max_errors),
        width=options.width,
        trials_per_rate=options.trials,
        duration_s=load.duration,
        scout_duration_s=min(SCOUT_DURATION_S, load.duration),
        trials_max=options.max_trials,
    )
