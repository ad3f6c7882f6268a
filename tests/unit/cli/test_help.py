"""Help fits a terminal of 80 columns."""

from __future__ import annotations

import click
import pytest

from httpbench.cli.main import cli

COLUMNS = 80

CONTEXT = click.Context(cli, info_name="httpbench", terminal_width=COLUMNS, max_content_width=COLUMNS)


def test_no_summary_of_a_verb_is_cut() -> None:
    assert "..." not in cli.get_help(CONTEXT).replace("[ARGS]...", "")


@pytest.mark.parametrize("name", cli.list_commands(CONTEXT))
def test_no_line_is_longer(name: str) -> None:
    verb = cli.get_command(CONTEXT, name)
    assert verb
    lines = verb.get_help(click.Context(verb, info_name=name, parent=CONTEXT, terminal_width=COLUMNS)).splitlines()
    assert [line for line in lines if len(line) > COLUMNS] == []
