"""``httpbench list --images``: the images that targets are built from in containers, and whether they are here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from httpbench.cli.options import choices
from httpbench.cli.terminal import console

if TYPE_CHECKING:
    from httpbench.model import Target
    from httpbench.run import Base

TARGETS_SHOWN = 3


def show_images(targets: Sequence[Target], place: str | None, *, as_json: bool) -> None:
    """Prints each base image of the targets that can be run. Raises :class:`ContainerError` if the engine does not respond."""
    from httpbench.model import Engine
    from httpbench.run import bases_of

    engine = Engine.DOCKER if place in (None, choices.PLACES[0]) else Engine(place)
    possible = [target for target in targets if target.entry is None or target.entry.refusal is None]
    found = bases_of(possible, engine)
    if as_json:
        console.echo_json([asdict(base) for base in found])
        return
    _show(found)
    here = sum(base.is_here for base in found)
    console.echo(f"{here:,} of {len(found):,} base images of {len(possible):,} targets are on this machine", err=True)
    if here < len(found):
        console.echo(f"to add one: {engine} pull IMAGE", err=True)
    if refused := len(targets) - len(possible):
        console.echo(f"not counted: {refused:,} refused target{'' if refused == 1 else 's'}", err=True)


def _show(found: Sequence[Base]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False)
    table.add_column("Base image", overflow="fold")
    table.add_column("State", no_wrap=True)
    table.add_column("Targets", overflow="fold")
    for base in found:
        state = Text("here", style="green") if base.is_here else Text("to pull", style="yellow")
        table.add_row(Text(base.image), state, Text(_targets(base)))
    console.stdout().print(table)


def _targets(base: Base) -> str:
    """How many, and the first ones."""
    shown = ", ".join(base.targets[:TARGETS_SHOWN])
    return f"{len(base.targets):,}: {shown}" + (", …" if len(base.targets) > TARGETS_SHOWN else "")
