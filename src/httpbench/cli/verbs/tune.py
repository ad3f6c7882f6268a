"""``httpbench tune``: tune this machine's settings for measuring, or restore them."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from httpbench.cli.options.fields import Options, argument, command, option
from httpbench.cli.options.params import JOURNAL
from httpbench.cli.terminal import console
from httpbench.errors import SelectionError, TuneError

if TYPE_CHECKING:
    from httpbench import host


ALL_SET = "all knobs are set for measuring"


def _complete_knob(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    from httpbench import host

    return [name for name in host.KNOBS if name.startswith(incomplete)]


class TuneOptions(Options):
    action: str = argument(type=click.Choice(["show", "apply", "reset"]), default="show")
    names: tuple[str, ...] = argument(nargs=-1, metavar="[KNOB]...", shell_complete=_complete_knob)
    dry_run: bool = option("--dry-run", is_flag=True, help="With apply: print the changes and exit.")
    json: bool = option("--json", is_flag=True, help="With show: print JSON.")
    journal: Path = option(
        "--journal",
        type=click.Path(path_type=Path, dir_okay=False),
        default=JOURNAL,
        metavar="FILE",
        help="Journal of the original settings.",
    )


@command(TuneOptions)
def tune(options: TuneOptions) -> None:
    """Tune this machine's settings for measuring, or restore them.

    The original settings are stored before the first change. Reset restores them, even after a crash; a reboot does too. Apply and reset
    require root. KNOB is a name listed by show. Default: all knobs.

    \b
    httpbench tune show                  each knob, its setting and the wanted one
    sudo httpbench tune apply            set all knobs
    sudo httpbench tune apply governor   set one
    sudo httpbench tune reset            restore the original settings
    """
    from httpbench import host

    tuning = host.KnobTuning(options.journal.absolute())
    if options.action == "reset":
        if options.names:
            raise SelectionError("reset restores all knobs", hint="remove the names")
        _report(tuning.reset(), "no changes to restore")
        return
    knobs = _knobs(options.names)
    if options.action == "apply" and not options.dry_run:
        _report(tuning.apply(knobs), ALL_SET)
    elif options.json:
        console.echo_json([_entry(shown) for shown in tuning.show(knobs)])
    else:
        _show(knobs, tuning.show(knobs), only_pending=options.dry_run)


def _knobs(names: Sequence[str]) -> list[host.Knob]:
    from httpbench import host

    unknown = [name for name in names if name not in host.KNOBS]
    if unknown:
        raise SelectionError(f"there is no knob {unknown[0]}", hint=f"use one of {', '.join(host.KNOBS)}")
    return [host.KNOBS[name] for name in names or host.KNOBS]


def _report(outcome: host.TuningOutcome, unchanged: str) -> None:
    """Print the changes, or ``unchanged`` if there are none. Raise :class:`TuneError` if a setting could not be changed."""
    if outcome.rebooted:
        console.echo("the machine has rebooted, which restored the original settings", err=True)
    for path, (before, after) in outcome.changed.items():
        console.echo(f"/{path}: {before} → {after}")
    if outcome.failed:
        problems = "\n".join(f"/{path}: {reason}" for path, reason in outcome.failed.items())
        raise TuneError(problems, hint="run it on the host, as root")
    if not outcome.changed and not outcome.rebooted:
        console.echo(unchanged, err=True)


def _show(knobs: Sequence[host.Knob], found: Sequence[host.Shown], *, only_pending: bool) -> None:
    from httpbench.report.terminal.grid import column

    pending = [shown for shown in found if not shown.setting.is_fine]
    listed = pending if only_pending else found
    columns = [
        column("Knob", (shown.knob.name for shown in listed)),
        column("Setting", (shown.setting.label for shown in listed), folds_at=18),
        column("Now", (shown.setting.now for shown in listed)),
        column("Wanted", ("" if shown.setting.is_fine else shown.setting.wanted for shown in listed)),
        column("Before", (shown.before or "" for shown in listed)),
        column("Why", (shown.knob.why for shown in listed), folds_at=18),
    ]
    if listed:
        console.show(columns)
    absent = [knob.name for knob in knobs if knob not in [shown.knob for shown in found]]
    if absent and not only_pending:
        console.echo(f"not on this machine: {', '.join(absent)}", err=True)
    if any(shown.before is not None for shown in found):
        console.echo("to restore the Before column: httpbench tune reset", err=True)
    if not pending:
        console.echo(ALL_SET, err=True)


def _entry(shown: host.Shown) -> dict[str, object]:
    return {
        "knob": shown.knob.name,
        **dataclasses.asdict(shown.setting),
        "before": shown.before,
        "why": shown.knob.why,
        "source": shown.knob.source,
    }
