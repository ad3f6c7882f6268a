"""``httpbench list``: every target, its state, and the fix for what is missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from httpbench.cli import console
from httpbench.cli.exit_codes import ExitCode
from httpbench.cli.fields import command, group
from httpbench.cli.options import Selection, json_option

if TYPE_CHECKING:
    from httpbench.model import Target
    from httpbench.run import TargetState


@dataclass(frozen=True, slots=True)
class ListOptions:
    selection: Selection = group(Selection)
    json: bool = json_option()


@command(ListOptions, name="list")
def list_targets(options: ListOptions) -> ExitCode:
    """List targets, their state, and the fix for what is missing.

    \b
    httpbench list                         all targets
    httpbench list golang c/epoll          a language, and one framework
    httpbench list --targets ~/mine mine   targets of your own
    """
    from httpbench import host
    from httpbench.run import cache_folder, states

    targets = options.selection.of(options.selection.catalog())
    with host.remembering(cache_folder() / "versions.json"):
        found = list(zip(targets, states(targets), strict=True))
    if options.json:
        console.echo_json([_entry(target, state) for target, state in found])
    else:
        _show(found)
    return ExitCode.OK


def _show(found: Sequence[tuple[Target, TargetState]]) -> None:
    from rich.table import Table
    from rich.text import Text

    from httpbench.run import State

    styles = {State.READY: "green", State.BUILT: "green", State.NOT_BUILT: "", State.MISSING: "yellow", State.BROKEN: "red"}
    table = Table(box=None, pad_edge=False)
    for column in ("Target", "Category", "Tuning", "Scaling", "State", "Fix"):
        table.add_column(column, overflow="fold", no_wrap=column == "Target")
    for target, state in found:
        text = f"{state.state} {state.reason}" if state.reason else f"{state.state} {state.version or ''}"
        table.add_row(
            target.id,
            str(target.category),
            str(target.tuning),
            ", ".join(target.scaling),
            Text(text.strip(), style=styles[state.state]),
            Text(state.fix or ""),
        )
    console.stdout().print(table)
    unchecked = sorted({name for _, state in found for name in state.unchecked})
    if unchecked:
        console.echo(f"version not checked, because list runs no version_command of a --targets folder: {', '.join(unchecked)}", err=True)


def _entry(target: Target, state: TargetState) -> dict[str, Any]:
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
        "fix": state.fix,
        "version": state.version,
        "unchecked": state.unchecked,
    }
