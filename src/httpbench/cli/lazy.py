"""A group of verbs, each imported only when it is used.

Based on "Lazily Loading Subcommands" in click's documentation. Help and completion ask a group for every verb, which would import them
all. Here they get the first sentence of each verb's help from a table.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click
from click.shell_completion import CompletionItem


class LazyGroup(click.Group):
    """A group of verbs in a fixed order. Each verb is the only command in the module of its name in ``package``."""

    def __init__(self, *args: Any, package: str, verbs: Mapping[str, str], **options: Any):
        super().__init__(*args, **options)
        self._package = package
        self.commands = {name: click.Command(name, help=summary) for name, summary in verbs.items()}  # enough for lists of verbs

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the module of a verb; return the verb."""
        if cmd_name not in self.commands:
            return None
        module = import_module(f"{self._package}.{cmd_name}")
        return next(value for value in vars(module).values() if isinstance(value, click.Command))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        limit = formatter.width - 6 - max(map(len, self.commands))  # as in click
        with formatter.section("Commands"):
            formatter.write_dl([(name, listed.get_short_help_str(limit)) for name, listed in self.commands.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        verbs = {name: verb.get_short_help_str() for name, verb in self.commands.items() if name.startswith(incomplete)}
        return [*(CompletionItem(name, help=text) for name, text in verbs.items()), *click.Command.shell_complete(self, ctx, incomplete)]
