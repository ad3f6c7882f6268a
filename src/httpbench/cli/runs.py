"""``httpbench runs``: the stored runs."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from httpbench.cli import console
from httpbench.cli.exit_codes import ExitCode
from httpbench.cli.fields import command, option
from httpbench.cli.options import db_option, json_option

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class RunsOptions:
    db: Path = db_option()
    limit: int = option("-n", "--limit", type=click.IntRange(1), default=20, metavar="N", help="Maximum number of runs.")
    json: bool = json_option()


@command(RunsOptions)
def runs(options: RunsOptions) -> ExitCode:
    """List stored runs, newest first.

    \b
    httpbench runs -n 5                     the last five
    httpbench runs --db results.db --json   another database, as JSON
    """
    from rich.table import Table

    from httpbench.store import Store

    with Store(options.db, reading=True) as store:
        lines = store.runs(options.limit)
    if options.json:
        click.echo(json.dumps([dataclasses.asdict(line) for line in lines], indent=2, ensure_ascii=False))
        return ExitCode.OK
    if not lines:
        click.echo(f"no runs in {options.db}", err=True)
        return ExitCode.OK
    table = Table(box=None, pad_edge=False)
    names = ["Name"] if any(line.name for line in lines) else []
    for column in ("Run", *names, "Started", "Status", "Targets", "Trials", "Command"):
        table.add_column(column, overflow="fold", no_wrap=column != "Command")
    for line in lines:
        trials = f"{line.trials_done}/{line.trials_planned}"
        name = [line.name or ""] if names else []
        table.add_row(line.id, *name, line.started_at[:19].replace("T", " "), str(line.status), str(line.targets), trials, line.command)
    console.stdout().print(table, markup=False)
    return ExitCode.OK
