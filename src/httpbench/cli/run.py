"""``httpbench run``: compare commands that serve, and servers that run already. Hyperfine for services."""

from __future__ import annotations

import random
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from httpbench.cli import choices, console
from httpbench.cli.exports import exports
from httpbench.cli.options import database, export, given_load, load_options
from httpbench.cli.params import DOUBLINGS, GATE, SHARE
from httpbench.cli.servers import REQUEST_OPTIONS, SERVER_OPTIONS, asked, asked_workload, together
from httpbench.errors import SelectionError, UsageError

if TYPE_CHECKING:
    from httpbench.model import Load, Precision, Target

ROUNDS = 5
ROUNDS_MIN, ROUNDS_MAX, PRECISION = 5, 30, 0.02

ROUND_OPTIONS = (
    click.option("--rounds", type=click.IntRange(1, 1000), help=f"How often each is measured. [default: {ROUNDS}]"),
    click.option("--precision", type=SHARE, help=f"Go on until the widest interval is within this, such as {PRECISION:.0%}."),
    click.option("--min-rounds", type=click.IntRange(1, 1000), help=f"With --precision: at least so many. [default: {ROUNDS_MIN}]"),
    click.option("--max-rounds", type=click.IntRange(1, 1000), help=f"With --precision: at most so many. [default: {ROUNDS_MAX}]"),
)

NAME_OPTIONS = (
    click.option("--name", "names", multiple=True, help="What a server is called: one for each, commands before URLs."),
    click.option("--baseline", metavar="NAME", help="With which of them the others are compared. [default: the first]"),
)


@click.command()
@click.argument("commands", nargs=-1, metavar="[CMD]...")
@together(SERVER_OPTIONS, NAME_OPTIONS, REQUEST_OPTIONS)
@load_options
@click.option("--scan", type=(click.Choice(["connections"]), DOUBLINGS), metavar="connections FROM..TO", help="Measure at each doubling.")
@together(ROUND_OPTIONS)
@click.option("--load-generator", "generator", metavar="NAME", default="native", show_default=True, help=", ".join(choices.LOAD_GENERATORS))
@click.option("--seed", type=int, help="Order of the trials within each round. [default: a new one each time]")
@click.option(
    "--fail-if", "gates", type=GATE, multiple=True, help="Exit with 3 where one differs more from the baseline, such as 'rps<-3%'."
)
@click.option("--run-name", help="By which the run can be asked for later, in report and compare.")
@click.option("--dry-run", is_flag=True, help="Print the plan and how long it will take, and do nothing.")
@click.option("-q", "--quiet", is_flag=True, help="No progress.")
@database
@export
def run(commands: tuple[str, ...], db: Path, export_json, export_csv, export_markdown, **options) -> None:  # type: ignore[no-untyped-def]
    """Compare servers: start each command on a free port, wait until it answers, measure all in interleaved rounds.

    CMD is a command line that serves HTTP on {port}.

    \b
    httpbench run './old --port {port}' './new --port {port}'   which is faster
    httpbench run --url http://127.0.0.1:8080/hello             what runs already
    httpbench run './base {port}' './head {port}' --fail-if 'rps<-3%'   a gate for a pipeline
    """
    from httpbench import host, load
    from httpbench.cli import dry_run
    from httpbench.cli.make import make
    from httpbench.model import Scaling, Table
    from httpbench.run import Matrix, RunSpec, make_plan, targets_of

    files = exports(export_json, export_csv, export_markdown)
    output = console.stderr() if files.to_stdout else console.stdout()
    errors = console.stderr()
    targets = targets_of(asked(commands, options))
    if options["gates"] and len(targets) < 2:
        raise UsageError("--fail-if compares with the baseline, and there is one server", hint="name two, or compare with an earlier run")
    workload = asked_workload(options)
    precision = _precision(options)
    matrix = Matrix(
        targets=targets,
        scalings=[Scaling(options["scaling"])],
        workloads=[workload.name],
        loads=_loads(options),
        load_generator=options["generator"],
        rounds=precision.rounds_max if precision else options["rounds"] or ROUNDS,
    )
    topology = host.read_topology()
    seed = random.randrange(2**32) if options["seed"] is None else options["seed"]
    plan = make_plan(matrix, lambda scaling: host.partition(topology, scaling), seed)
    spec = RunSpec(
        plan=plan,
        targets={target.id: target for target in targets},
        workloads={workload.name: workload},
        generator=load.get(matrix.load_generator),
        topology=topology,
        command=("httpbench", *sys.argv[1:]),
        table=Table.COMMANDS,
        baseline=_baseline(targets, options["baseline"]),
        precision=precision,
        port=options["port"],
        start_limit_s=options["start_timeout"],
        name=options["run_name"],
    )
    if options["dry_run"]:
        dry_run.show(plan, spec.targets, output)
        return
    files.check()
    make(spec, db, files, output, errors, quiet=options["quiet"], gates=options["gates"])


def _loads(options) -> list[Load]:  # type: ignore[no-untyped-def]
    from pydantic import ValidationError

    from httpbench import catalog
    from httpbench.model import Load
    from httpbench.run import WARMUP_UNTIL_STEADY, load_of

    if options["scan"] and options["connections"]:
        raise UsageError("--scan connections and -c both say how many connections there are", hint="leave one out")
    counts = options["scan"][1] if options["scan"] else options["connections"] or (64,)
    try:
        return [load_of({**WARMUP_UNTIL_STEADY, **given_load(options), "connections": connections}) for connections in counts]
    except ValidationError as error:
        raise UsageError("\n".join(catalog.sentences(Load, error))) from None


def _precision(options) -> Precision | None:  # type: ignore[no-untyped-def]
    from httpbench.model import Precision

    given = [options[name] for name in ("precision", "min_rounds", "max_rounds")]
    if not any(given):
        return None
    if options["rounds"]:
        raise UsageError("--rounds says how many rounds there are", hint="leave it out, or --precision, --min-rounds and --max-rounds")
    rounds_min = options["min_rounds"] or min(ROUNDS_MIN, options["max_rounds"] or ROUNDS_MIN)
    rounds_max = options["max_rounds"] or max(ROUNDS_MAX, rounds_min)
    if rounds_min > rounds_max:
        raise UsageError(f"--min-rounds {rounds_min} is more than --max-rounds {rounds_max}")
    return Precision(rounds_min=rounds_min, rounds_max=rounds_max, half_width=options["precision"] or PRECISION)


def _baseline(targets: Sequence[Target], name: str | None) -> str:
    if name is None:
        return targets[0].id
    found = [target.id for target in targets if name.lower() in (target.framework, target.id)]
    if not found:
        names = ", ".join(target.framework for target in targets)
        raise SelectionError(f"--baseline {name} is none of the servers", hint=f"they are {names}")
    return found[0]
