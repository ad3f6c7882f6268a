"""``httpbench bench``: measure rows."""

from __future__ import annotations

import random
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from httpbench.cli import choices, console
from httpbench.cli.exports import exports
from httpbench.cli.options import Selection, database, export, export_hyperfine, load_options, selection
from httpbench.cli.params import COUNT, DURATION, REQUEST_PATH
from httpbench.errors import SelectionError, UsageError

if TYPE_CHECKING:
    from rich.console import Console

    from httpbench import catalog
    from httpbench.model import Kind, Suite, Target, Workload

DEFAULT_SUITE = "quick"


@click.command()
@selection
@click.option(
    "--suite", metavar="NAME", help=f"Take rows and loads from a suite; options override it. [default without rows: {DEFAULT_SUITE}]"
)
@click.option(
    "--scaling",
    type=click.Choice(["single", "multi"]),
    multiple=True,
    help="One core's worth of target, or all cores given. [default: single]",
)
@load_options
@click.option(
    "--rounds", type=click.IntRange(1, 1000), help="How often each trial is made; the median is shown, never the best. [default: 3]"
)
@click.option(
    "--scale",
    type=click.FloatRange(0, 1, min_open=True),
    default=1.0,
    metavar="SHARE",
    help="Lower the rates and shorten the times of a suite, such as 0.2; said in each table. What is typed stays as typed.",
)
@click.option(
    "--load-generator",
    "generator",
    metavar="NAME",
    help=f"{', '.join(choices.LOAD_GENERATORS)}; clients: {', '.join(choices.TIMERS)}. [default: native]",
)
@click.option(
    "--workload", metavar="NAME", multiple=True, help="What is asked. [default: plaintext; clients: client-small-1000; proxies: proxy-10kb]"
)
@click.option("--requests", type=COUNT, help="How many requests each client makes. [default: as the workload says]")
@click.option("--path", type=REQUEST_PATH, help="Ask for another path than the workload's.")
@click.option("--port", type=click.IntRange(1, 65_535), help="Let targets listen on this port. [default: a free one]")
@click.option("--start-timeout", type=DURATION, default=20.0, show_default="20s", help="How long a target may take to answer rightly.")
@click.option("--quick", is_flag=True, help="Short trials, for a first look: 1 s after 0.5 s of warm-up. Not for clients.")
@click.option("--skip-missing", is_flag=True, help="Leave out rows whose toolchain is missing, and name them.")
@click.option("--jobs", type=click.IntRange(1, 64), default=2, show_default=True, help="Builds at the same time.")
@click.option("--seed", type=int, help="Order of the trials within each round. [default: a new one each time]")
@click.option("--name", help="By which the run can be asked for later, in report and compare.")
@click.option("--dry-run", is_flag=True, help="Print the plan and how long it will take, and do nothing.")
@click.option("-q", "--quiet", is_flag=True, help="No progress.")
@database
@export
@export_hyperfine
def bench(selection: Selection, db, export_json, export_csv, export_markdown, **options) -> None:  # type: ignore[no-untyped-def]
    """Measure rows of one kind: build what is missing, start, warm up, measure, stop, in interleaved rounds.

    ROW is an id or a part of one (c/epoll, nginx), a language or a category. Without rows: the suite «quick». Words that name rows of
    several kinds mean servers before clients and clients before proxies; --kind says otherwise.

    \b
    httpbench bench c/epoll golang -c 8,64          rows at 8 and at 64 connections
    httpbench bench c/nginx --load-generator wrk    the same load made by wrk
    httpbench bench client:c/curl client:golang     clients, timed as whole processes
    httpbench bench --suite tcp-proxies --scale 0.2 proxies, and what each adds to the backend's own time
    httpbench bench --suite http-servers --dry-run  what a suite would do, and how long
    httpbench bench micro --quick --export-json -   everything as JSON on standard output
    """
    from httpbench.model import Kind

    known = selection.catalog()
    files = exports(export_json, export_csv, export_markdown, options["export_hyperfine"])
    output = console.stderr() if files.to_stdout else console.stdout()
    errors = console.stderr()
    suite = _suite(selection, known, options["suite"])
    kind = _kind(selection, known, suite)
    if options["export_hyperfine"] and kind is not Kind.CLIENT:
        raise UsageError("--export-hyperfine is for clients: hyperfine's form has only times of whole processes")

    # Below, so that names which do not exist are reported before all this is loaded.
    from httpbench import host
    from httpbench.cli import dry_run
    from httpbench.cli.make import make
    from httpbench.run import KINDS, RunSpec, make_plan

    targets, matrix, workloads = _matrix(selection, known, suite, kind, options)
    if options["skip_missing"]:
        targets = _skip_missing(targets, errors)
        matrix = replace(matrix, targets=targets)
    generator = KINDS[kind].generator(matrix.load_generator)
    topology = host.read_topology()
    seed = random.randrange(2**32) if options["seed"] is None else options["seed"]
    plan = make_plan(matrix, lambda scaling: KINDS[kind].partition(topology, scaling), seed)
    for name, reason in plan.skipped.items():
        errors.print(f"left out: {name} {reason}", markup=False, soft_wrap=True)
    if not plan.trials:
        raise SelectionError("nothing is left to be measured")
    rows = {**known.targets, **({matrix.baseline.id: matrix.baseline} if matrix.baseline else {})}
    if options["dry_run"]:
        dry_run.show(plan, rows, console.stdout())
        return
    files.check()
    spec = RunSpec(
        plan=plan,
        targets=rows,
        workloads=workloads,
        generator=generator,
        topology=topology,
        command=("httpbench", *sys.argv[1:]),
        table=suite.table if suite else KINDS[kind].table,
        parallel_builds=options["jobs"],
        port=options["port"],
        start_limit_s=options["start_timeout"],
        name=options["name"],
        baseline=matrix.baseline.id if matrix.baseline else None,
        scale=options["scale"],
    )
    make(spec, db, files, output, errors, quiet=options["quiet"])


def _suite(selection: Selection, known: catalog.Catalog, name: str | None) -> Suite | None:
    """The one that was named; without rows, the default one."""
    name = name or (None if selection.words else DEFAULT_SUITE)
    return known.suite(name) if name else None


def _kind(selection: Selection, known: catalog.Catalog, suite: Suite | None) -> Kind:
    """The one that was named; that of the suite; the first that has a row for each word."""
    from httpbench import catalog
    from httpbench.model import Kind

    words = selection.words
    kind = Kind(selection.kind) if selection.kind else suite.kind if suite else catalog.kind_of(list(known.targets.values()), words)
    if kind is None:
        found = {target.kind for target in selection.of(known)}
        if len(found) > 1:
            kinds = " and ".join(kind.plural for kind in Kind if kind in found)
            hint = "measure them one after the other, or choose with --kind"
            raise SelectionError(f"a run measures rows of one kind, and {' '.join(words)} names {kinds}", hint=hint)
        kind = found.pop()
    from httpbench.run import KINDS

    if kind not in KINDS:
        raise SelectionError(f"bench cannot measure a {kind}")
    return kind


def _matrix(selection: Selection, known: catalog.Catalog, suite: Suite | None, kind: Kind, options):  # type: ignore[no-untyped-def]
    """What is crossed: the suite's, where there is one, with what the options override."""
    from httpbench.cli.loads import loads, own_loads
    from httpbench.model import Scaling
    from httpbench.run import KINDS, Matrix

    targets = selection.of(known, suite.targets if suite else (), kind)
    names = options["workload"] or (suite.workloads if suite else (KINDS[kind].workload,))
    workloads = {name: _workload(known.workload(name), kind, options) for name in names}
    parts = suite.load if suite else (KINDS[kind].load,)
    matrix = Matrix(
        targets=targets,
        scalings=[Scaling(word) for word in options["scaling"]] or list(suite.scaling if suite else (Scaling.SINGLE,)),
        workloads=list(workloads),
        loads=loads(parts, kind, options),
        load_generator=options["generator"] or (suite.load_generator if suite else "native"),
        rounds=options["rounds"] or (suite.rounds if suite else 3),
        own_loads=own_loads(parts, kind, options),
        baseline=KINDS[kind].baseline,
    )
    return targets, matrix, workloads


def _workload(workload: Workload, kind: Kind, options) -> Workload:  # type: ignore[no-untyped-def]
    """With what the options change of it."""
    if workload.kind is not kind:
        raise SelectionError(f"workload {workload.name} is for {workload.kind.plural}, not for {kind.plural}")
    if options["path"]:
        workload = workload.model_copy(update={"request": workload.request.model_copy(update={"path": options["path"]})})
    if options["requests"]:
        if workload.client is None:
            raise UsageError("--requests is for clients: how many requests a load generator makes is a matter of --duration")
        workload = workload.model_copy(update={"client": workload.client.model_copy(update={"requests": options["requests"]})})
    return workload


def _skip_missing(targets: Sequence[Target], errors: Console) -> list[Target]:
    from httpbench.run import State, states

    kept = []
    for target, state in zip(targets, states(targets), strict=True):
        if state.state is State.MISSING:
            errors.print(f"left out: {target.id} needs {state.reason}; {state.fix} would add it", markup=False, soft_wrap=True)
        else:
            kept.append(target)
    if not kept:
        raise SelectionError("nothing is left to be measured: no row has its toolchain here", hint="httpbench list shows what each needs")
    return kept
