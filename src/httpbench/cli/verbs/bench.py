"""``httpbench bench``: measure targets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import click

from httpbench.cli.exit_codes import ExitCode
from httpbench.cli.options import shared
from httpbench.cli.options.fields import Options, command, group, option
from httpbench.cli.options.isolation import IsolationOptions
from httpbench.cli.options.load import LoadOptions, Overrides, ShareOptions
from httpbench.cli.options.load_source import LoadSource, LoadSourceOptions
from httpbench.cli.options.output import ClientExportOptions, RecordOptions
from httpbench.cli.options.params import COUNT, LOAD_GENERATORS, PERCENTAGES, REQUEST_PATH, TIMERS
from httpbench.cli.options.profile import ProfileOptions
from httpbench.cli.options.shared import WORKLOADS, Selection
from httpbench.cli.options.startup import STARTS, StartupOptions, require_startable
from httpbench.cli.options.transport import TransportOptions
from httpbench.cli.terminal import console
from httpbench.errors import SelectionError, UsageError
from httpbench.text import listed

if TYPE_CHECKING:
    from httpbench.catalog import Catalog
    from httpbench.load import Tool
    from httpbench.model import Kind, Suite, Target, Workload
    from httpbench.run import Matrix, OfKind, RunSpec

DEFAULT_SUITE = "quick"
QUICK = {"duration_s": 1.0, "warmup_s": 0.5, "warmup_max_s": None}
HERE, LOAD = "here", "load"
"""Values of ``--backend-host``: this machine, or the load host."""
ROUNDS = 3


class BenchOptions(Options):
    selection: Selection = group(Selection)
    suite: str | None = option(
        "--suite",
        metavar="NAME",
        default_text=f"{DEFAULT_SUITE}, if no target is named",
        help="Suite of targets and loads; other options override it.",
    )
    scaling: tuple[str, ...] = shared.scaling_option(multiple=True)
    isolation: IsolationOptions = group(IsolationOptions)
    share: ShareOptions = group(ShareOptions)
    load: LoadOptions = group(LoadOptions)
    shares_of_peak: tuple[float, ...] | None = option(
        "--shares-of-peak",
        type=PERCENTAGES,
        default_text="the suite's",
        help="Repeat each closed loop as an open loop at these shares of each target's own peak, such as 50%,80%,150%.",
    )
    startup: StartupOptions = group(StartupOptions)
    transport: TransportOptions = group(TransportOptions)
    source: LoadSourceOptions = group(LoadSourceOptions)
    backend_host: str = option(
        "--backend-host", type=click.Choice([HERE, LOAD]), default=HERE, help="With one load host: where the backend of proxies runs."
    )
    rounds: int | None = shared.rounds_option(
        "--rounds", default_text=f"{ROUNDS}; {STARTS} with --startup", help="Rounds; tables show the median."
    )
    retries: int = shared.retries_option()
    interleave: str = shared.interleave_option()
    scale: float = option(
        "--scale",
        type=click.FloatRange(0, 1, min_open=True),
        default=1.0,
        metavar="FACTOR",
        help="Factor for the rates and times of the suite, such as 0.2. Values given by options are not scaled.",
    )
    generators: tuple[str, ...] = option(
        "--load-generator",
        metavar="NAME",
        multiple=True,
        default_text="native",
        help=f"Load generator: {', '.join(LOAD_GENERATORS)}; timer of clients: {', '.join(TIMERS)}.",
    )
    workload: tuple[str, ...] = option(
        "--workload", metavar="NAME", multiple=True, default_text=WORKLOADS, help="Workload, or a mix such as json:3,db:1."
    )
    requests: int | None = option("--requests", type=COUNT, default_text="the workload's", help="Requests per client run.")
    path: str | None = option("--path", type=REQUEST_PATH, default_text="the workload's", help="Request path.")
    port: int | None = shared.port_option(help="Port that targets listen on.")
    start_timeout: float = shared.start_timeout_option()
    quick: bool = option("--quick", is_flag=True, help="Trials of 1 s after a warm-up of 0.5 s. Not for clients.")
    skip_missing: bool = shared.skip_missing_option()
    jobs: int = shared.jobs_option()
    seed: int | None = shared.seed_option()
    profile: ProfileOptions = group(ProfileOptions)
    name: str | None = shared.name_option("--name")
    dry_run: bool = shared.dry_run_option()
    record: RecordOptions = group(RecordOptions)
    exports: ClientExportOptions = group(ClientExportOptions)


@dataclass(frozen=True, slots=True)
class Selected:
    """The selected targets, which are all of one kind, and the suite of the run, if it has one."""

    catalog: Catalog
    suite: Suite | None
    kind: Kind
    of_kind: OfKind
    """How to measure targets of this kind."""
    targets: list[Target]


@command(BenchOptions)
def bench(options: BenchOptions) -> ExitCode:
    """Measure targets of one kind in interleaved rounds.

    Each trial starts the target, warms it up, measures it and stops it. Targets are built first if necessary. TARGET is an id or a part of
    one (c/epoll, nginx), a language or a category. A run measures targets of one kind: servers if each TARGET matches a server,
    otherwise clients if each matches a client, otherwise proxies.

    \b
    httpbench bench c/epoll golang -c 8,64            8 and 64 connections
    httpbench bench c/nginx --load-generator wrk      another load generator
    httpbench bench client:c/curl client:golang       clients, as whole processes
    httpbench bench --suite tcp-proxies --scale 0.2   at a fifth of its rates
    httpbench bench c/nginx --isolate process,docker  also in a container
    httpbench bench c/nginx golang --tls --http2      HTTP/2 over TLS
    httpbench bench c/nginx -r user@host --install    load from another host
    httpbench bench c/nginx golang --startup          how servers start
    httpbench bench c/nginx --shares-of-peak 80%      at 80% of its own peak
    httpbench bench --suite http-servers --dry-run    the plan and its duration
    httpbench bench micro --quick --export-json -     JSON on standard output
    """
    selected = _select(options)  # report an unknown name before the slow imports below
    from httpbench.cli.measure import measure
    from httpbench.cli.terminal import dry_run
    from httpbench.run import Interleave, with_slices

    suite_generators = selected.suite.load_generator if selected.suite else ("native",)
    tools = {name: selected.of_kind.generator(name) for name in options.generators or suite_generators}
    with options.source.opened(selected.targets, tools, port=options.port) as source:
        spec = with_slices(_plan(selected, source, tools, options), Interleave(options.interleave))
        require_startable(spec, source.name)
        spec = options.profile.applied(spec)
        if options.dry_run:
            return dry_run.show(spec, console.stdout(), source.name)
        return measure(spec, source, options.record, options.exports.files)


def _select(options: BenchOptions) -> Selected:
    """Select the targets that the user named or, if there are none, the targets of the named suite or the default suite."""
    from httpbench.model import Kind
    from httpbench.run import KINDS

    selection, catalog = options.selection, options.selection.catalog()
    suite_name = options.suite or (None if selection.words or selection.is_of_other_project else DEFAULT_SUITE)
    suite = catalog.suite(suite_name) if suite_name else None
    kind = _kind(selection, catalog, suite)
    if options.exports.export_hyperfine and kind is not Kind.CLIENT:
        raise UsageError("--export-hyperfine applies to clients only", hint="use --export-json")
    words = suite.targets if suite and not selection.is_of_other_project else ()  # suites name only built-in targets
    targets = selection.of(catalog, words, kind)
    placed = options.transport.applied(options.isolation.applied([target.at(options.path) for target in targets], suite))
    if options.backend_host == LOAD and options.source.only is None:
        raise UsageError("--backend-host load requires exactly one load host", hint="add -r HOST")
    if options.backend_host == LOAD and kind is not Kind.PROXY:
        raise UsageError(f"{kind.plural} have no backend", hint="remove --backend-host")
    return Selected(catalog, suite, kind, KINDS[kind], _skip_missing(placed) if options.skip_missing else placed)


def _kind(selection: Selection, known: Catalog, suite: Suite | None) -> Kind:
    """Return the kind that the user named, else the suite's kind, else the first kind in which every word matches a target."""
    from httpbench import catalog
    from httpbench.model import Kind

    if selection.kind:
        return Kind(selection.kind)
    if suite:
        return suite.kind
    kind = catalog.kind_of(list(known.targets.values()), selection.words)
    if kind is None:
        found = {target.kind for target in selection.of(known)}  # raises an error if a word has no match
        kinds = listed(kind.plural for kind in Kind if kind in found)
        hint = "measure one kind after the other, or choose one with --kind"
        raise SelectionError(f"a run measures targets of one kind, but {' '.join(selection.words)} matches {kinds}", hint=hint)
    return kind


def _plan(selected: Selected, source: LoadSource, tools: dict[str, Tool], options: BenchOptions) -> RunSpec:
    """Return the specification of the run, and print which targets and loads are left out.

    A suite's loads are left out if the load generator can't generate them. Raise :class:`UsageError` if no load remains, or if the command
    line itself requests an impossible load.
    """
    from httpbench import host
    from httpbench.cli.measure import make_spec, refuse_impossible
    from httpbench.model import Table
    from httpbench.run import without_refused

    suite, of_kind = selected.suite, selected.of_kind
    names = options.workload or (suite.workloads if suite else (of_kind.workload,))
    workloads = {name: _workload(selected.catalog.workload(name), selected.kind, options) for name in names}
    matrix = _matrix(selected, list(workloads), source, tools, options)
    is_there = options.backend_host == LOAD
    baseline = [matrix.baseline] if matrix.baseline else []
    spec = make_spec(
        replace(matrix, serves=lambda target, name: workloads[name].is_served_by(target)),
        tools,
        [*selected.catalog.targets.values(), *selected.targets, *baseline],
        workloads,
        source=source,
        share=options.share,
        partition=host.partition if is_there else of_kind.partition,
        seed=options.seed,
    )
    for name, reason in spec.plan.skipped.items():
        console.echo(f"skipped {name}: {reason}", err=True)
    if not spec.plan.trials:
        raise SelectionError("no targets left to measure", hint="choose others; `httpbench list` shows what each target can do")
    spec, sentences = without_refused(spec) if suite else (spec, [])
    for sentence in sentences:
        console.echo(sentence, err=True)
    refuse_impossible(spec)
    return replace(
        spec,
        table=Table.STARTUP if options.startup.startup else suite.table if suite else of_kind.table,
        parallel_builds=options.jobs,
        port=options.port,
        backend_there=is_there,
        start_limit_s=options.start_timeout,
        name=options.name,
        tags=options.record.tags,
        baseline=matrix.baseline.id if matrix.baseline else _itself(selected.targets),
        scale=options.scale,
        retries=options.retries,
    )


def _itself(targets: Sequence[Target]) -> str | None:
    """Return the first target's id, for use as the baseline, if all targets are the same target in different places.

    Otherwise, return ``None``.
    """
    sources = {(target.folder, target.variant) for target in targets}
    return targets[0].id if len(sources) == 1 and len(targets) > 1 else None


def _matrix(selected: Selected, workloads: Sequence[str], source: LoadSource, tools: dict[str, Tool], options: BenchOptions) -> Matrix:
    """Return the suite's matrix or, without a suite, the usual matrix for this kind of target, with the options applied."""
    from httpbench.model import Kind, Scaling, Table
    from httpbench.run import Matrix

    suite, share = selected.suite, options.share
    if selected.kind is Kind.CLIENT and (share.cores or share.workers):
        raise UsageError("--cores and --workers apply to servers and proxies only: a client makes one request at a time")
    if options.shares_of_peak and (selected.kind is Kind.CLIENT or options.startup.startup):
        raise UsageError("--shares-of-peak applies to servers and proxies under load only", hint="remove it")
    parts = suite.load if suite else (selected.of_kind.load,)
    quick = QUICK if options.quick and selected.kind is not Kind.CLIENT else {}
    given = {**options.load.given(), **options.transport.load_fields()}
    usual = options.startup.load_fields(given) or {**source.warmup(given), **quick}
    overrides = Overrides({**usual, **given}, options.load.connections, options.scale, options.shares_of_peak)
    rounds = STARTS if options.startup.startup else suite.rounds if suite else ROUNDS
    return Matrix(
        targets=selected.targets,
        scalings=share.scalings(options.scaling, suite.scaling if suite else (Scaling.SINGLE,)),
        workloads=workloads,
        loads=overrides.loads(parts),
        load_generators=list(tools),
        rounds=options.rounds or rounds,
        own_loads=overrides.capped(parts),
        baseline=None if suite and suite.table is Table.FAILOVER else selected.of_kind.baseline,
        workers=share.workers,
    )


def _workload(workload: Workload, kind: Kind, options: BenchOptions) -> Workload:
    """Return the workload with the path and the number of requests from the options."""
    from httpbench.cli.targets import check_kind

    check_kind(workload, kind)
    if options.path and workload.parts:
        raise UsageError(f"--path applies to one request, and {workload.name} has several", hint="remove --path")
    if options.path:
        workload = workload.model_copy(update={"request": workload.request.model_copy(update={"path": options.path})})
    if options.requests:
        if workload.client is None:
            raise UsageError("--requests applies to clients only", hint="use --duration")
        workload = workload.model_copy(update={"client": workload.client.model_copy(update={"requests": options.requests})})
    return workload


def _skip_missing(targets: Sequence[Target]) -> list[Target]:
    """Return the targets that can run, and print why the other targets are skipped."""
    from httpbench.run import State, states

    kept = []
    for target, state in zip(targets, states(targets), strict=True):
        if state.state is State.MISSING:
            console.echo(f"skipped {target.id}: requires {state.reason}; fix: {state.fix}", err=True)
        elif state.state is State.REFUSED:
            console.echo(f"skipped {target.id}: {state.reason}", err=True)
        else:
            kept.append(target)
    if not kept:
        raise SelectionError("no targets left to measure: all of them were skipped", hint="`httpbench list` shows what each requires")
    return kept
