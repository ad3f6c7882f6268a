"""``httpbench runs``: what is stored."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import click

from httpbench.cli import console
from httpbench.cli.options import database


@click.command()
@database
@click.option("-n", "--limit", type=click.IntRange(1), default=20, show_default=True, help="At most so many, newest first.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def runs(db: Path, limit: int, as_json: bool) -> None:
    """List stored runs, newest first.

    \b
    httpbench runs -n 5                     the last five
    httpbench runs --db results.db --json   those of another file, as JSON
    """
    from rich.table import Table

    from httpbench.store import Store

    with Store(db, reading=True) as store:
        lines = store.runs(limit)
    if as_json:
        click.echo(json.dumps([dataclasses.asdict(line) for line in lines], indent=2, ensure_ascii=False))
        return
    if not lines:
        click.echo(f"no run is stored in {db}", err=True)
        return
    table = Table(box=None, pad_edge=False)
    names = ["Name"] if any(line.name for line in lines) else []
    for column in ("Run", *names, "Started", "Status", "Rows", "Trials", "Command"):
        table.add_column(column, overflow="fold", no_wrap=column != "Command")
    for line in lines:
        trials = f"{line.trials_done}/{line.trials_planned}"
        name = [line.name or ""] if names else []
        table.add_row(line.id, *name, line.started_at[:19].replace("T", " "), str(line.status), str(line.targets), trials, line.command)
    console.stdout().print(table, markup=False)
