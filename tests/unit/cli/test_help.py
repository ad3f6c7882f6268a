"""Tests that help fits on a terminal with 80 columns."""

from __future__ import annotations

import click
import pytest

from httpbench.cli.main import cli

COLUMNS = 80

CONTEXT = click.Context(cli, info_name="httpbench", terminal_width=COLUMNS, max_content_width=COLUMNS)


def test_no_verbs_summary_is_truncated() -> None:
    assert "..." not in cli.get_help(CONTEXT).replace("[ARGS]...", "")


@pytest.mark.parametrize("name", cli.commands)
def test_no_line_is_longer_than_80_columns(name: str) -> None:
    verb = cli.load(name)
    lines = verb.get_help(click.Context(verb, info_name=name, parent=CONTEXT, terminal_width=COLUMNS)).splitlines()
    assert [line for line in lines if len(line) > COLUMNS] == []
