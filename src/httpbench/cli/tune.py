"""``httpbench tune``: set this machine's knobs for measuring, and put them back."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from httpbench.cli import choices, console
from httpbench.errors import SelectionError, TuneError

if TYPE_CHECKING:
    from httpbench import host


def _complete_knob(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    from httpbench import host

    return [name for name in host.KNOBS if name.startswith(incomplete)]


@click.command()
@click.argument("action", type=click.Choice(["show", "apply", "reset"]), default="show")
@click.argument("names", nargs=-1, metavar="[KNOB]...", shell_complete=_complete_knob)
@click.option("--dry-run", is_flag=True, help="With apply: print what would be set, and do nothing.")
@click.option("--json", "as_json", is_flag=True, help="With show: as JSON.")
@click.option(
    "--journal",
    type=click.Path(path_type=Path, dir_okay=False),
    default=choices.JOURNAL,
    show_default=True,
    metavar="FILE",
    help="Where it is written down what knobs were before.",
)
def tune(action: str, names: tuple[str, ...], dry_run: bool, as_json: bool, journal: Path) -> None:
    """Set this machine's knobs for measuring, and put them back as they were.

    What each knob was is written down before the first is touched, so that «reset» puts all back, also after a crash; the next boot does so
    too. «apply» and «reset» are for root. KNOB is a name that «show» lists; without any, all.

    \b
    httpbench tune show                  what knobs are here, what they are and should be
    sudo httpbench tune apply            set what disturbs measurements
    sudo httpbench tune apply governor   one of them
    sudo httpbench tune reset            all as before
    """
    from httpbench import host

    tuning = host.Tuning(journal.absolute())
    if action == "reset":
        if names:
            raise SelectionError("reset puts back all that was changed, and takes no names")
        _told(tuning.reset(), "nothing was changed, or all is put back already")
        return
    knobs = _knobs(names)
    if action == "apply" and not dry_run:
        _told(tuning.apply(knobs), "every knob is as it should be")
    elif as_json:
        click.echo(json.dumps([_entry(shown) for shown in tuning.show(knobs)], indent=2, ensure_ascii=False))
    else:
        _show(knobs, tuning.show(knobs), only_pending=dry_run)


def _knobs(names: Sequence[str]) -> list[host.Knob]:
    from httpbench import host

    unknown = [name for name in names if name not in host.KNOBS]
    if unknown:
        raise SelectionError(f"there is no knob {unknown[0]!r}", hint=f"there are {', '.join(host.KNOBS)}")
    return [host.KNOBS[name] for name in names or host.KNOBS]


def _told(outcome: host.Outcome, otherwise: str) -> None:
    """What was changed, on standard output. Raises :class:`TuneError` for what could not be."""
    if outcome.rebooted:
        click.echo("the machine was started anew since, which has put everything back", err=True)
    for path, (before, after) in outcome.changed.items():
        click.echo(f"/{path}: {before} → {after}")
    if outcome.failed:
        raise TuneError(
            "\n".join(f"/{path}: {reason}" for path, reason in outcome.failed.items()),
            hint="/proc and /sys belong to root, and in a container mostly to nobody: run it on the host, as root",
        )
    if not outcome.changed and not outcome.rebooted:
        click.echo(otherwise, err=True)


def _show(asked: Sequence[host.Knob], found: Sequence[host.Shown], *, only_pending: bool) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for column in ("Knob", "Setting", "Now", "Wanted", "Before", "Why"):
        table.add_column(column, overflow="fold", no_wrap=column not in ("Setting", "Why"))
    pending = [shown for shown in found if not shown.setting.is_fine]
    for shown in pending if only_pending else found:
        setting = shown.setting
        wanted = "" if setting.is_fine else setting.wanted
        table.add_row(shown.knob.name, setting.label, setting.now, wanted, shown.before or "", shown.knob.why)
    if table.rows:
        console.stdout().print(table, markup=False)
    absent = [knob.name for knob in asked if knob not in [shown.knob for shown in found]]
    if absent and not only_pending:
        click.echo(f"not on this machine: {', '.join(absent)}", err=True)
    if any(shown.before is not None for shown in found):
        click.echo("httpbench tune reset puts back what stands under «Before»", err=True)
    if not pending:
        click.echo("every knob is as it should be", err=True)


def _entry(shown: host.Shown) -> dict[str, object]:
    return {
        "knob": shown.knob.name,
        **dataclasses.asdict(shown.setting),
        "before": shown.before,
        "why": shown.knob.why,
        "source": shown.knob.source,
    }
