"""Tests that the list of verbs shows each verb's first sentence without importing the verb."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from httpbench.cli.lazy import LazyGroup
from httpbench.cli.main import cli

WIDE = 1000  # wide enough that nothing is truncated


@pytest.mark.parametrize("name", cli.commands)
def test_the_list_of_verbs_shows_the_first_sentence_of_each(name: str) -> None:
    command = cli.load(name)
    assert command.name == name
    assert cli.commands[name].get_short_help_str(WIDE) == command.get_short_help_str(WIDE)


def test_a_verb_is_imported_only_when_it_is_used() -> None:
    group = LazyGroup(package="httpbench.cli.verbs", verbs={"gone": "Nothing.", "list": "List."})
    listed = CliRunner().invoke(group, ["--help"])
    assert listed.exit_code == 0
    assert "gone  Nothing." in listed.output
    assert CliRunner().invoke(group, ["list", "--help"]).exit_code == 0
    assert isinstance(CliRunner().invoke(group, ["gone"]).exception, ModuleNotFoundError)


def test_the_verb_closest_to_an_unknown_one_is_suggested() -> None:
    done = CliRunner().invoke(cli, ["benhc"])
    assert done.exit_code == 2
    assert "bench" in done.output
