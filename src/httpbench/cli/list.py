"""``httpbench list``: every row, its state, and what would mend it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from httpbench.cli import console
from httpbench.cli.options import Selection, selection

if TYPE_CHECKING:
    from httpbench.model import Target
    from httpbench.run import RowState


@click.command(name="list")
@selection
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def list_rows(selection: Selection, as_json: bool) -> None:
    """List rows: their state, and the command that would mend what is missing.

    \b
    httpbench list                         all of them
    httpbench list golang c/epoll          those of a language, and one framework's
    httpbench list --targets ~/mine mine   those of a folder of your own
    """
    from httpbench import host
    from httpbench.run import cache_folder, states

    targets = selection.of(selection.catalog())
    with host.remembering(cache_folder() / "versions.json"):
        rows = list(zip(targets, states(targets), strict=True))
    if as_json:
        click.echo(json.dumps([_entry(target, state) for target, state in rows], indent=2, ensure_ascii=False))
        return
    _show(rows)


def _show(rows: Sequence[tuple[Target, RowState]]) -> None:
    from rich.table import Table
    from rich.text import Text

    from httpbench.run import State

    styles = {State.READY: "green", State.BUILT: "green", State.NOT_BUILT: "", State.NEEDS: "yellow", State.BROKEN: "red"}
    output = console.stdout()
    table = Table(box=None, pad_edge=False)
    for column in ("Row", "Category", "Tuning", "Scaling", "State", "What would mend it"):
        table.add_column(column, overflow="fold", no_wrap=column == "Row")
    for target, state in rows:
        text = f"{state.state} {state.reason}" if state.reason else f"{state.state} {state.version or ''}"
        table.add_row(
            target.id,
            str(target.category),
            str(target.tuning),
            ", ".join(target.scaling),
            Text(text.strip(), style=styles[state.state]),
            Text(state.mend or ""),
        )
    output.print(table)
    unchecked = sorted({name for _, state in rows for name in state.unchecked})
    if unchecked:
        click.echo(f"not checked, because list runs no version_command of a --targets folder: {', '.join(unchecked)}", err=True)


def _entry(target: Target, state: RowState) -> dict[str, Any]:
    return {
        "id": target.id,
        "kind": target.kind,
        "language": target.language,
        "framework": target.framework,
        "variant": target.variant,
        "category": target.category,
        "tuning": target.tuning,
        "scaling": target.scaling,
        "limits": target.limits,
        "upstream": target.upstream,
        "notes": target.notes,
        "state": state.state,
        "reason": state.reason,
        "mend": state.mend,
        "version": state.version,
        "unchecked": state.unchecked,
    }
