"""A group of verbs that are imported when they are used says of each what the verb itself says."""

from __future__ import annotations

import click
import pytest
from click.testing import CliRunner

from httpbench.cli.lazy import LazyGroup, Verb
from httpbench.cli.main import cli

CONTEXT = click.Context(cli)
WIDE = 1000  # nothing is cut


@pytest.mark.parametrize("name", cli.list_commands(CONTEXT))
def test_the_list_of_verbs_says_what_a_verb_says_of_itself(name: str) -> None:
    command = cli.get_command(CONTEXT, name)
    assert command is not None
    assert command.name == name
    assert cli.commands[name].get_short_help_str(WIDE) == command.get_short_help_str(WIDE)


def test_a_verb_is_imported_when_it_is_used_and_no_sooner() -> None:
    group = LazyGroup(verbs={"gone": Verb("no.such.module:verb", "Nothing."), "list": Verb("httpbench.cli.list:list_targets", "List.")})
    listed = CliRunner().invoke(group, ["--help"])
    assert listed.exit_code == 0
    assert "gone  Nothing." in listed.output
    assert CliRunner().invoke(group, ["list", "--help"]).exit_code == 0
    assert isinstance(CliRunner().invoke(group, ["gone"]).exception, ModuleNotFoundError)


def test_a_name_that_is_nearly_right_is_suggested() -> None:
    told = CliRunner().invoke(cli, ["benhc"])
    assert told.exit_code == 2
    assert "bench" in told.output
