"""Tests that httpbench accepts every command in the README and the docs."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from markdown_it import MarkdownIt

from httpbench.cli.main import cli

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]

UNKNOWN = re.compile(r"\b(DIR|FILE|VERB|TARGET|RUN|ADDRESS|OPTIONS|SUITE|MACHINE|LANGUAGE)\b|…|\[")
"""Placeholders. A command that contains one is a pattern and isn't checked."""


def commands(page: Path) -> Iterator[str]:
    """Yield the commands in code blocks. Text after two spaces or after ``#`` is a comment."""
    for token in MarkdownIt("commonmark").parse(page.read_text(encoding="utf-8")):
        if token.type not in ("fence", "code_block"):
            continue
        for line in token.content.replace("\\\n", " ").splitlines():
            match = re.match(r"\s*(?:\$ |sudo |- run: )?httpbench (.*)", line)
            if match and not UNKNOWN.search(match[1]):
                yield re.split(r"  +", match[1].strip())[0]


SHOWN = [pytest.param(command, id=f"{page.name}: {command}") for page in PAGES for command in dict.fromkeys(commands(page))]


@pytest.mark.parametrize("command", SHOWN)
def test_a_shown_command_is_accepted(command: str) -> None:
    words = shlex.split(command, comments=True)
    for end in ("|", ">>", ">", "&&", "||", "&"):
        words = words[: words.index(end)] if end in words else words
    context = click.Context(cli, info_name="httpbench")
    if words[0] == "--version":
        return
    name, verb, rest = cli.resolve_command(context, words)
    assert name and verb
    try:
        found = verb.make_context(name, rest, parent=context)
    except click.exceptions.Exit:
        return  # the command contains --help
    if isinstance(verb, click.Group):
        sub, inner, further = verb.resolve_command(found, [*found._protected_args, *found.args])
        assert sub and inner
        inner.make_context(sub, further, parent=found)
