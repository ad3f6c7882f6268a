"""``httpbench run``: compare commands that serve, and servers that run already. Hyperfine for services."""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click
from pydantic import ValidationError

from httpbench import catalog, host, load
from httpbench.cli import console, dry_run
from httpbench.cli.exports import exports
from httpbench.cli.make import make
from httpbench.cli.options import Command, database, export, given_load, load_options
from httpbench.cli.params import DOUBLINGS, DURATION, REQUEST_PATH, SHARE
from httpbench.errors import SelectionError, UsageError
from httpbench.model import Expectation, Load, Precision, Request, Scaling, Table, Target, Workload
from httpbench.run import WARMUP_UNTIL_STEADY, Asked, Bench, Matrix, load_of, make_plan, path_of, targets_of

ROUNDS = 5
ROUNDS_MIN, ROUNDS_MAX, PRECISION = 5, 30, 0.02

REQUEST_OPTIONS = (
    click.option("--workload", metavar="NAME", help="Ask as a built-in workload does, and expect its answer. [default: any 2xx]"),
    click.option("--path", type=REQUEST_PATH, help="What is asked for. [default: / or the path of the URL]"),
    click.option("-X", "--method", help="[default: GET, or POST with a body]"),
    click.option("-H", "--header", "headers", multiple=True, metavar="'NAME: VALUE'", help="A header to send; may be repeated."),
    click.option("--body", metavar="TEXT|@FILE", help="The body to send."),
    click.option("--expect-status", type=click.IntRange(100, 599), help="The only right status. [default: any 2xx]"),
    click.option("--expect-body", metavar="TEXT|@FILE", help="The only right body. [default: any]"),
)

ROUND_OPTIONS = (
    click.option("--rounds", type=click.IntRange(1, 1000), help=f"How often each is measured. [default: {ROUNDS}]"),
    click.option("--precision", type=SHARE, help=f"Go on until the widest interval is within this, such as {PRECISION:.0%}."),
    click.option("--min-rounds", type=click.IntRange(1, 1000), help=f"With --precision: at least so many. [default: {ROUNDS_MIN}]"),
    click.option("--max-rounds", type=click.IntRange(1, 1000), help=f"With --precision: at most so many. [default: {ROUNDS_MAX}]"),
)

SERVER_OPTIONS = (
    click.option("--url", "urls", multiple=True, metavar="URL", help="A server that runs already; it is not restarted. May be repeated."),
    click.option("--name", "names", multiple=True, help="What a server is called: one for each, commands before URLs."),
    click.option("--baseline", metavar="NAME", help="With which of them the others are compared. [default: the first]"),
    click.option("--prepare", multiple=True, metavar="CMD", help="Run before each trial: one for all servers, or one for each."),
    click.option("--env", multiple=True, metavar="KEY=VALUE", help="Set in the environment of every command; may be repeated."),
    click.option(
        "--cwd", type=click.Path(exists=True, file_okay=False, path_type=Path), default=Path(), show_default=".", help="Where commands run."
    ),
    click.option("--shell", is_flag=True, help="Let /bin/sh run the commands. [default: split into words and started directly]"),
    click.option("--port", type=click.IntRange(1, 65_535), help="Where commands without {port} listen. [default: a free port]"),
    click.option("--start-timeout", type=DURATION, default=20.0, show_default="20s", help="How long a server may take to answer rightly."),
    click.option(
        "--scaling", type=click.Choice(["single", "multi"]), default="single", show_default=True, help="One core, or half of all cores."
    ),
)


def _together(*groups: Sequence[Callable[[Any], Any]]) -> Callable[[Command], Command]:
    """One decorator of many options, shown in their order."""

    def decorate(command: Command) -> Command:
        for option in reversed([option for group in groups for option in group]):
            command = option(command)
        return command

    return decorate


@click.command()
@click.argument("commands", nargs=-1, metavar="[CMD]...")
@_together(SERVER_OPTIONS, REQUEST_OPTIONS)
@load_options
@click.option("--scan", type=(click.Choice(["connections"]), DOUBLINGS), metavar="connections FROM..TO", help="Measure at each doubling.")
@_together(ROUND_OPTIONS)
@click.option("--load-generator", "generator", metavar="NAME", default="native", show_default=True, help=", ".join(load.GENERATORS))
@click.option("--seed", type=int, help="Order of the trials within each round. [default: a new one each time]")
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
    """
    files = exports(export_json, export_csv, export_markdown)
    output = console.stderr() if files.to_stdout else console.stdout()
    errors = console.stderr()
    targets = targets_of(_asked(commands, options))
    workload = _workload(options)
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
    job = Bench(
        plan=plan,
        targets={target.id: target for target in targets},
        workloads={workload.name: workload},
        generator=load.get(matrix.load_generator),
        command=("httpbench", *sys.argv[1:]),
        table=Table.COMMANDS,
        baseline=_baseline(targets, options["baseline"]),
        precision=precision,
        port=options["port"],
        start_limit_s=options["start_timeout"],
    )
    if options["dry_run"]:
        dry_run.show(plan, job.targets, output)
        return
    files.check()
    make(job, db, files, output, errors, quiet=options["quiet"])


def _asked(commands: tuple[str, ...], options) -> Asked:  # type: ignore[no-untyped-def]
    env = dict(_pair(text, "=", "--env", "KEY=VALUE") for text in options["env"])
    return Asked(
        commands=commands,
        urls=options["urls"],
        names=options["names"],
        prepare=options["prepare"],
        shell=options["shell"],
        port=options["port"],
        folder=options["cwd"],
        env=env,
        scaling=Scaling(options["scaling"]),
    )


def _workload(options) -> Workload:  # type: ignore[no-untyped-def]
    """A built-in one, or any success; with what the options say otherwise."""
    path = options["path"] or path_of(options["urls"])
    base = (
        catalog.load(()).workload(options["workload"])
        if options["workload"]
        else Workload(name="request", description="Asked for on the command line", expect=Expectation(status=None))
    )
    body = None if options["body"] is None else _text(options["body"], "--body")
    request = {
        "method": options["method"] or ("POST" if body else None),
        "path": path,
        "headers": dict(_pair(text, ":", "-H", "'Name: value'") for text in options["headers"]) or None,
        "body": body,
    }
    expect = {
        "status": options["expect_status"],
        "body": None if options["expect_body"] is None else _text(options["expect_body"], "--expect-body"),
    }
    try:
        asked = Request.model_validate({**base.request.model_dump(), **_given(request)})
    except ValidationError as error:
        raise UsageError("\n".join(catalog.sentences(Request, error))) from None
    return Workload(
        name=base.name if options["workload"] else _name(asked),
        description=base.description,
        request=asked,
        expect=Expectation.model_validate({**base.expect.model_dump(), **_given(expect)}),
    )


def _name(request: Request) -> str:
    """As a title of a table: ``get-json`` for ``GET /json``."""
    return re.sub(r"[^a-z0-9_.+]+", "-", f"{request.method}{request.path}".lower()).strip("-")


def _given(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _pair(text: str, mark: str, option: str, form: str) -> tuple[str, str]:
    name, found, value = text.partition(mark)
    if not found or not name.strip():
        raise UsageError(f"{option} {text}: there is no name", hint=f"write it as {form}")
    return name.strip(), value.strip() if mark == ":" else value


def _text(given: str, option: str) -> str:
    """A text, or that of the file whose path stands after an @."""
    if not given.startswith("@"):
        return given
    try:
        return Path(given[1:]).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{option}: {given[1:]} cannot be read: {getattr(error, 'strerror', None) or error}") from None


def _loads(options) -> list[Load]:  # type: ignore[no-untyped-def]
    if options["scan"] and options["connections"]:
        raise UsageError("--scan connections and -c both say how many connections there are", hint="leave one out")
    counts = options["scan"][1] if options["scan"] else options["connections"] or (64,)
    try:
        return [load_of({**WARMUP_UNTIL_STEADY, **given_load(options), "connections": connections}) for connections in counts]
    except ValidationError as error:
        raise UsageError("\n".join(catalog.sentences(Load, error))) from None


def _precision(options) -> Precision | None:  # type: ignore[no-untyped-def]
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
