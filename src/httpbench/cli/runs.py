"""``httpbench runs``: what is stored, how large it is, and how to delete it."""

from __future__ import annotations

import dataclasses
import json
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click

from httpbench.cli import console
from httpbench.cli.options import database
from httpbench.cli.retention import Retention, outdated
from httpbench.errors import UsageError

if TYPE_CHECKING:
    from httpbench.store import RunLine

ALL = -1


@click.command()
@database
@click.option("-n", "--limit", type=click.IntRange(1), default=20, show_default=True, help="At most so many, newest first.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.option("--delete", multiple=True, metavar="RUN", help="Delete this run; may be repeated.")
@click.option(
    "--prune",
    type=Retention(),
    metavar="COUNT|AGE",
    help="Delete old runs: keep the newest 20, or those of 30d or 8w. Runs with a name stay.",
)
def runs(db: Path, limit: int, as_json: bool, delete: tuple[str, ...], prune: int | timedelta | None) -> None:
    """List stored runs, newest first, or delete some of them.

    \b
    httpbench runs -n 5                     the last five
    httpbench runs --db results.db --json   those of another file, as JSON
    httpbench runs --delete latest~1        delete the run before the last
    httpbench runs --prune 30d              delete runs older than 30 days
    """
    from httpbench.store import Store

    if delete and prune is not None:
        raise UsageError("--delete and --prune both choose what is deleted", hint="leave one out")
    if delete or prune is not None:
        _delete(db, delete, prune)
        return
    with Store(db, reading=True) as store:
        lines = store.runs(limit)
    if as_json:
        click.echo(json.dumps([dataclasses.asdict(line) for line in lines], indent=2, ensure_ascii=False))
        return
    if not lines:
        click.echo(f"no run is stored in {db}", err=True)
        return
    _show(lines)


def _delete(db: Path, words: tuple[str, ...], prune: int | timedelta | None) -> None:
    from httpbench.store import Store

    with Store(db, reading=True) as store:
        known = {line.id: line for line in store.runs(ALL)}
        chosen = [store.run(word)[0].id for word in words] if prune is None else outdated(list(known.values()), prune)
    if not chosen:
        click.echo("nothing to delete", err=True)
        return
    with Store(db) as store:
        store.delete(chosen)
    for name in dict.fromkeys(chosen):
        click.echo(f"deleted {name} ({_size(known[name].size_bytes)})")


def _size(size_bytes: int) -> str:
    return f"{size_bytes / 1e6:,.1f} MB"


def _show(lines: list[RunLine]) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    names = ["Name"] if any(line.name for line in lines) else []
    for column in ("Run", *names, "Started", "Status", "Rows", "Trials", "Size", "Command"):
        table.add_column(column, overflow="fold", no_wrap=column != "Command", justify="right" if column == "Size" else "left")
    for line in lines:
        trials = f"{line.trials_done}/{line.trials_planned}"
        name = [line.name or ""] if names else []
        started = line.started_at[:19].replace("T", " ")
        table.add_row(line.id, *name, started, str(line.status), str(line.targets), trials, _size(line.size_bytes), line.command)
    console.stdout().print(table, markup=False)
