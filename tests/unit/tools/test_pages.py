"""Tests that generated pages are current and explain every verb, option and target."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from httpbench import catalog
from httpbench.cli.main import cli
from tools.pages import STATES, ambiguous_page, cli_page, targets_page

ROOT = Path(__file__).parents[3]
GENERATE = "run: python -m tools.pages"

VERBS = {name: cli.load(name) for name in cli.commands}

OPTIONS = [
    pytest.param(parameter, id=f"{name} {parameter.opts[0]}")
    for name, command in VERBS.items()
    for parameter in command.params
    if isinstance(parameter, click.Option)
]


def committed(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_page_of_the_command_line_is_current() -> None:
    assert committed("docs/cli.md") == cli_page(), GENERATE


def test_the_page_of_ambiguous_requests_is_current() -> None:
    assert committed("docs/ambiguous-requests.md") == ambiguous_page(), GENERATE


def test_the_page_of_targets_is_current_on_any_machine() -> None:
    assert committed("targets/README.md").partition(f"\n{STATES}")[0] == targets_page(), GENERATE


def test_the_page_of_targets_has_the_state_of_exactly_the_catalog_targets() -> None:
    table = committed("targets/README.md").partition(STATES)[2]
    assert set(re.findall(r"^\| (\S+/\S+) +\|", table, re.MULTILINE)) == set(catalog.load().targets), GENERATE


@pytest.mark.parametrize("option", OPTIONS)
def test_every_option_is_explained(option: click.Option) -> None:
    assert option.help


@pytest.mark.parametrize("name", VERBS)
def test_every_verb_is_explained(name: str) -> None:
    assert VERBS[name].help
