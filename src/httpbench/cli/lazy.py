"""A group of verbs, each imported only when it is used.

Help and completion look up every verb of a group, so an ordinary group would import all verbs. This group reads the first sentence of each
verb's help from a table, and imports only the verb that runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click


class LazyGroup(click.Group):
    """A group of verbs in a fixed order. Each verb is the only command in the module of ``package`` that has the verb's name."""

    def __init__(self, *args: Any, package: str, verbs: Mapping[str, str], **options: Any):
        super().__init__(*args, **options)
        self._package = package
        self.commands = {name: click.Command(name, help=summary) for name, summary in verbs.items()}  # placeholders for help and completion

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)

    def load(self, name: str) -> click.Command:
        """Import the module of a verb, and return the verb."""
        module = import_module(f"{self._package}.{name}")
        return next(value for value in vars(module).values() if isinstance(value, click.Command))

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        name, listed, rest = super().resolve_command(ctx, args)
        return name, self.load(name) if name else listed, rest
