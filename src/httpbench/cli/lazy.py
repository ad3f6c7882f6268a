"""A group of verbs, each imported only when it is used.

Based on "Lazily Loading Subcommands" in click's documentation. Help and completion ask a group for every verb, which would import them
all. Here they get the first sentence of each verb's help from a table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import click
from click.shell_completion import CompletionItem


@dataclass(frozen=True, slots=True)
class Verb:
    """The location of a verb, and its line in the list of verbs."""

    command: str
    """``module:attribute``."""
    summary: str
    """The first sentence of its help, as checked by a test."""


class LazyGroup(click.Group):
    """A group of verbs in a fixed order."""

    def __init__(self, *args: Any, verbs: Mapping[str, Verb], **options: Any):
        super().__init__(*args, **options)
        self._verbs = verbs
        self.commands = {name: click.Command(name, help=verb.summary) for name, verb in verbs.items()}  # enough for lists of verbs

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self._verbs)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the module of a verb; return the verb."""
        if cmd_name not in self._verbs:
            return None
        module, _, name = self._verbs[cmd_name].command.partition(":")
        command = getattr(import_module(module), name)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        limit = formatter.width - 6 - max(map(len, self.commands))  # as in click
        with formatter.section("Commands"):
            formatter.write_dl([(name, listed.get_short_help_str(limit)) for name, listed in self.commands.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        listed = [(name, verb.get_short_help_str()) for name, verb in self.commands.items() if name.startswith(incomplete)]
        return [*(CompletionItem(name, help=text) for name, text in listed), *click.Command.shell_complete(self, ctx, incomplete)]
