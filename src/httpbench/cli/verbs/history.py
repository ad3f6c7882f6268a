"""``httpbench history``: one target over many runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from httpbench.cli.options.fields import Options, argument, command, option
from httpbench.cli.options.output import charts_option, db_option
from httpbench.cli.options.params import HISTORY
from httpbench.cli.options.shared import complete_target
from httpbench.cli.terminal import console
from httpbench.errors import SelectionError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from httpbench.analysis.history import Series

NAMED_MAX = 10


class HistoryOptions(Options):
    target: str | None = argument(required=False, shell_complete=complete_target)
    figure: str | None = option(
        "--figure",
        type=click.Choice(HISTORY),
        default_text="rps; p99 with a rate; time for clients",
        help="Result to track.",
    )
    limit: int = option("-n", "--limit", type=click.IntRange(1), default=20, metavar="N", help="Maximum number of runs in a table.")
    all_environments: bool = option("--all-environments", is_flag=True, help="Also show runs from other environments.")
    charts: Path | None = charts_option()
    db: Path = db_option()


@command(HistoryOptions)
def history(options: HistoryOptions) -> None:
    """Show a target's results over many runs, and when they changed.

    TARGET is an id, or a part of one. Without it, the verb lists the targets of all runs. Each load has a table, newest run first. Runs
    share a table only if their environments match. A change is shown if it is significant at the 2% level and lasts for at least 3 runs.
    Its 95% interval and the commits in between are shown too.

    \b
    httpbench history                          the measured targets
    httpbench history c/nginx                  requests/s of the newest 20 runs
    httpbench history c/nginx --figure p99     p99
    httpbench history c/nginx --charts charts  charts
    """
    from httpbench import host
    from httpbench.analysis.history import histories
    from httpbench.report.terminal.history import render_history
    from httpbench.store import Store, browse

    with Store(options.db, reading=True) as store:
        known = browse.target_ids(store)
        if options.target is None:
            if not known:
                raise SelectionError(f"no run in {options.db} measured a target", hint="`httpbench run` measures commands")
            for name in known:
                console.echo(name)
            return
        target = target_named(options.target, known, options.db)
        found = _chosen(histories(store, target, host.commits_between), options.figure)
    if not found:
        what = f"{options.figure} of {target}" if options.figure else target
        raise SelectionError(f"no valid trial has {what}", hint=f"`httpbench history {target}` shows what there is")
    if options.charts is None:
        output = console.stdout()
        output.print(render_history(found, width=output.width, runs=options.limit, everything=options.all_environments))
        return
    from httpbench.report.charts import write_histories

    for path in write_histories(found, options.charts, everything=options.all_environments):
        console.echo(str(path))


def target_named(word: str, known: Sequence[str], db: Path) -> str:
    """Return the target id that ``word`` selects. Raise :class:`SelectionError` if no id matches, or more than one."""
    if word in known:
        return word
    found = [name for name in known if word in name.split("/")] or [name for name in known if word in name]
    if len(found) == 1:
        return found[0]
    if not found:
        raise SelectionError(f"no run in {db} measured {word}", hint="`httpbench runs` lists the runs")
    named = ", ".join(found[:NAMED_MAX]) + (" …" if len(found) > NAMED_MAX else "")
    raise SelectionError(f"{word} matches several targets: {named}", hint="name one of them")


def _chosen(found: Sequence[Series], figure: str | None) -> list[Series]:
    """Return the series of the named metric or, if ``figure`` is ``None``, the first series of each cell."""
    if figure is not None:
        return [series for series in found if series.figure == figure]
    first: dict[tuple[object, ...], str] = {}
    return [series for series in found if first.setdefault(series.cell, series.figure) == series.figure]
