"""``httpbench saturate``: the highest rate at which a service level holds."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from httpbench.cli import console
from httpbench.cli.exports import exports
from httpbench.cli.options import complete_row, database, export
from httpbench.cli.params import COUNT, DURATION, DURATION_OR_NONE, LATENCY_BOUND, SHARE
from httpbench.cli.servers import REQUEST_OPTIONS, SERVER_OPTIONS, asked, asked_workload, together
from httpbench.errors import SelectionError, UsageError

if TYPE_CHECKING:
    from httpbench.model import Load, Search, Target

SCOUT_DURATION_S = 1.0

SEARCH_OPTIONS = (
    click.option("--slo", "bounds", type=LATENCY_BOUND, multiple=True, help="What is to hold; may be repeated. [default: p99<10ms]"),
    click.option(
        "--max-errors", type=SHARE, default="0.1%", show_default=True, help="How many requests may fail, errors and wrong answers."
    ),
    click.option("--width", type=SHARE, default="1%", show_default=True, help="How closely the rate is found."),
    click.option(
        "--trials", type=click.IntRange(1, 99), default=3, show_default=True, help="Per rate; it holds where half of them say so."
    ),
    click.option("--max-trials", type=click.IntRange(2, 10_000), default=200, show_default=True, help="After which the search ends."),
)

LOAD_OPTIONS = (
    click.option("-c", "--connections", type=COUNT, default=64, show_default=True, help="Over which the requests are spread."),
    click.option("-d", "--duration", type=DURATION, default=5.0, show_default="5s", help="How long each trial measures."),
    click.option("-t", "--threads", type=COUNT, help="Threads of the load generator. [default: one for each of its cores]"),
    click.option("--warmup", type=DURATION_OR_NONE, default=1.0, show_default="1s", help="How long each trial loads before it measures."),
    click.option("--timeout", type=DURATION, default=2.0, show_default="2s", help="When an answer counts as lost."),
    click.option("--keepalive/--no-keepalive", default=True, help="Keep connections, or open one for each request. [default: keep]"),
)


@click.command()
@click.argument("what", required=False, metavar="[ROW|CMD]", shell_complete=complete_row)
@together(SEARCH_OPTIONS, LOAD_OPTIONS, SERVER_OPTIONS, REQUEST_OPTIONS)
@click.option("--targets", multiple=True, metavar="DIR", type=click.Path(path_type=Path), help="Add the targets of a folder of your own.")
@click.option("--name", help="By which the run can be asked for later.")
@click.option("-q", "--quiet", is_flag=True, help="No progress.")
@database
@export
def saturate(what: str | None, db: Path, export_json, export_csv, export_markdown, **options) -> None:  # type: ignore[no-untyped-def]
    """Find the highest rate at which a service level holds, and draw latency against rate.

    Requests are sent at a rate, whatever the answers do, and times count from when each was due. The search is MLRsearch: short trials
    show where to look, then each rate is decided by several, which may contradict each other. ROW is the id of one server, or a part of
    it; CMD is a command line that serves HTTP on {port}.

    \b
    httpbench saturate c/nginx --slo 'p99<5ms'                             a row
    httpbench saturate './server --port {port}' --slo 'p99.9<20ms' -d 10s  a command
    httpbench saturate --url http://127.0.0.1:8080/ --max-errors 1%        what runs already
    """
    from httpbench import host, load
    from httpbench.cli.make import make
    from httpbench.model import Scaling, Table
    from httpbench.run import Matrix, RunSpec, make_plan

    files = exports(export_json, export_csv, export_markdown)
    output = console.stderr() if files.to_stdout else console.stdout()
    target = _target(what, options)
    scaling = Scaling(options["scaling"])
    workload = asked_workload({**options, "workload": options["workload"] or ("plaintext" if target.is_declared else None)})
    matrix = Matrix([target], [scaling], [workload.name], [_load(options)], "native", rounds=1)
    topology = host.read_topology()
    plan = make_plan(matrix, lambda own: host.partition(topology, own), seed=0)
    if not plan.trials:
        raise SelectionError(f"{target.id} {plan.skipped[target.id]}")
    search = _search(options)
    spec = RunSpec(
        plan=plan,
        targets={target.id: target},
        workloads={workload.name: workload},
        generator=load.get("native"),
        topology=topology,
        command=("httpbench", *sys.argv[1:]),
        table=Table.HTTP_SERVERS if target.is_declared else Table.COMMANDS,
        port=options["port"],
        start_limit_s=options["start_timeout"],
        search=search,
        name=options["name"],
    )
    files.check()
    make(spec, db, files, output, console.stderr(), quiet=options["quiet"])


def _target(what: str | None, options) -> Target:  # type: ignore[no-untyped-def]
    """One server: what names a port or has several words is a command, everything else a row."""
    from httpbench import catalog
    from httpbench.model import Kind
    from httpbench.run import targets_of

    if what is None or "{port}" in what or len(what.split()) > 1:
        found = targets_of(asked(() if what is None else (what,), options))
    elif options["urls"]:
        raise UsageError(f"{what} and --url are two servers", hint="name one")
    else:
        found = catalog.select(catalog.load(options["targets"]).targets.values(), (what,), kind=Kind.SERVER)
    if len(found) != 1:
        names = ", ".join(target.id for target in found[:5])
        raise SelectionError(f"a search is for one server, and there are {len(found)}: {names}", hint="name one by its whole id")
    return found[0]


def _load(options) -> Load:  # type: ignore[no-untyped-def]
    """In a closed loop, as short as a scout: what the server can do at most, for the search to begin there."""
    from httpbench.model import Load

    return Load(
        connections=options["connections"],
        threads=options["threads"],
        keepalive=options["keepalive"],
        duration_s=min(SCOUT_DURATION_S, options["duration"]),
        warmup_s=options["warmup"],
        timeout_s=options["timeout"],
    )


def _search(options) -> Search:  # type: ignore[no-untyped-def]
    from httpbench.model import Bound, Search, ServiceLevel

    if not 0.002 <= options["width"] <= 0.5:
        raise UsageError(f"--width {options['width']:.2%} is not between 0.2% and 50%", hint="rates are tried with four digits")
    bounds = options["bounds"] or (Bound(figure="p99", limit_us=10_000),)
    return Search(
        level=ServiceLevel(bounds=bounds, failed_share_max=options["max_errors"]),
        width=options["width"],
        trials_per_rate=options["trials"],
        duration_s=options["duration"],
        scout_duration_s=min(SCOUT_DURATION_S, options["duration"]),
        trials_max=options["max_trials"],
    )
