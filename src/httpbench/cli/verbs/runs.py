"""``httpbench runs``: list and delete stored runs, and import published results."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import click

from httpbench.cli.options.fields import Options, command, option
from httpbench.cli.options.output import db_option, json_option
from httpbench.cli.options.params import PUBLISHED, Parsed
from httpbench.cli.options.shared import name_option
from httpbench.cli.terminal import console
from httpbench.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from httpbench.store import RunLine

ALL = -1

COMMAND_MIN = 36
"""Minimum width of the column of commands, in characters."""
DAYS = {"d": 1, "w": 7}

FIELDS = ("id", "started_at", "status", "targets", "trials_done", "trials_planned", "command", "name", "size_bytes")
"""Fields of a run in the JSON output."""


def retention(text: str) -> int | timedelta:
    """Parse which runs to keep: ``20`` for the newest 20 runs, ``30d`` or ``8w`` for the runs of the last 30 days or 8 weeks."""
    match = re.fullmatch(r"(\d{1,5})([dw]?)", text)
    if not match:
        raise ValueError(f'"{text}" is neither a number of runs nor an age; write it as 20, 30d or 8w')
    number = int(match[1])
    return timedelta(days=number * DAYS[match[2]]) if match[2] else number


class RunsOptions(Options):
    db: Path = db_option()
    limit: int = option("-n", "--limit", type=click.IntRange(1), default=20, metavar="N", help="Maximum number of runs.")
    json: bool = json_option()
    published: tuple[str, Path] | None = option(
        "--import",
        type=PUBLISHED,
        metavar="PROJECT:PATH",
        help="Store results that another project has published: techempower:FILE, web-frameworks:FILE or httparena:DIR.",
    )
    name: str | None = name_option("--name")
    delete: tuple[str, ...] = option("--delete", multiple=True, metavar="RUN", help="Delete this run.")
    prune: int | timedelta | None = option(
        "--prune",
        type=Parsed("count|age", retention),
        metavar="COUNT|AGE",
        help="Delete old runs without a name; keep the newest COUNT, or those younger than AGE, such as 30d or 8w.",
    )


@command(RunsOptions)
def runs(options: RunsOptions) -> None:
    """List stored runs, delete some, or store published results.

    \b
    httpbench runs -n 5                     the last five
    httpbench runs --db results.db --json   another database, as JSON
    httpbench runs --delete latest~1        delete the run before the last
    httpbench runs --prune 30d              delete runs older than 30 days
    httpbench runs --import techempower:results.json --name round-23
    httpbench runs --import httparena:HttpArena --name arena
    """
    from httpbench.store import Store

    if options.published is not None:
        _import(options, *options.published)
        return
    if options.name is not None:
        raise UsageError("--name requires --import", hint="add --import techempower:FILE, or the results of another project")
    if options.delete and options.prune is not None:
        raise UsageError("--delete and --prune cannot be combined", hint="use one of them")
    if options.delete or options.prune is not None:
        _delete(options.db, options.delete, options.prune)
        return
    with Store(options.db, reading=True) as store:
        lines = store.runs(options.limit)
    if options.json:
        console.echo_json([{name: getattr(line, name) for name in FIELDS} | {"targets": len(line.targets)} for line in lines])
    elif lines:
        _show(lines)
    else:
        console.echo(f"no runs in {options.db}", err=True)


def _import(options: RunsOptions, project: str, path: Path) -> None:
    """Store published results as a run."""
    import sys

    from httpbench import catalog
    from httpbench.store import Store

    if options.delete or options.prune is not None or options.json:
        raise UsageError("--import cannot be combined with --delete, --prune and --json", hint="use one of them")
    run, trials = catalog.read_published(project, path, catalog.load().workloads, ("httpbench", *sys.argv[1:]), options.name)
    with Store(options.db) as store:
        if any(line.id == run.id for line in store.runs(ALL)):
            raise UsageError(f"{path} is stored already, as {run.id}", hint=f"to replace it: httpbench runs --delete {run.id}")
        store.put(run, trials)
    console.echo(f"stored {len(trials)} results of {len(run.targets)} targets in {options.db} as {run.id}")


def _delete(db: Path, words: tuple[str, ...], prune: int | timedelta | None) -> None:
    from httpbench.store import Store

    with Store(db, reading=True) as store:
        known = {line.id: line for line in store.runs(ALL)}
        chosen = [store.run(word)[0].id for word in words] if prune is None else _outdated(list(known.values()), prune)
    if not chosen:
        console.echo("no runs to delete", err=True)
        return
    with Store(db) as store:
        store.delete(chosen)
    for name in dict.fromkeys(chosen):
        size = f" ({_size(known[name].size_bytes)})" if name in known else ""  # a damaged file may contain runs that it doesn't list
        console.echo(f"deleted {name}{size}")


def _outdated(lines: Sequence[RunLine], keep: int | timedelta) -> list[str]:
    """Return the ids of the runs to delete. ``lines`` must be sorted from newest to oldest. Named runs and runs in progress are kept."""
    if isinstance(keep, timedelta):
        oldest = (datetime.now(UTC) - keep).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        old = [line for line in lines if line.started_at < oldest]
    else:
        old = list(lines[keep:])
    return [line.id for line in old if line.name is None and line.status != "running"]


def _size(size_bytes: int) -> str:
    return f"{size_bytes / 1e6:,.1f} MB"


def _show(lines: Sequence[RunLine]) -> None:
    from httpbench.report.terminal.grid import column

    # A narrow terminal omits the start time first, because the run's id begins with the same time.
    columns = [
        column("Run", (line.id for line in lines)),
        column("Name", (line.name or "" for line in lines)),
        column("Started", (line.started_at[:19].replace("T", " ") for line in lines), need=4),
        column("Status", (str(line.status) for line in lines)),
        column("Targets", (str(len(line.targets)) for line in lines), need=2, is_number=True),
        column("Trials", (f"{line.trials_done}/{line.trials_planned}" for line in lines), need=1, is_number=True),
        column("Size", (_size(line.size_bytes) for line in lines), need=3, is_number=True),
        column("Command", (line.command.removeprefix("httpbench ") for line in lines), folds_at=COMMAND_MIN),
    ]
    console.show(columns)
