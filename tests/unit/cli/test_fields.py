"""Tests of options declared as fields of a dataclass: a verb gets them with their types, and help lists them in order."""

from __future__ import annotations

import re

import click
from click.testing import CliRunner

from httpbench.cli.exit_codes import ExitCode
from httpbench.cli.options.fields import Options, argument, command, group, option


class Inner(Options):
    rounds: int = option("--rounds", type=click.IntRange(1, 9), default=3, metavar="N", help="Rounds.")
    names: tuple[str, ...] = option("--name", multiple=True, metavar="NAME", help="Name.")


class Outer(Options):
    word: str = argument()
    inner: Inner = group(Inner)
    warmup: float | None = option("--warmup", type=float, metavar="S", default_text="until steady", help="Warm-up.")


SEEN: list[Outer] = []


@command(Outer, name="verb")
def verb(options: Outer) -> ExitCode:
    """Do it."""
    SEEN.append(options)
    return ExitCode.BREACHED


def test_values_reach_nested_groups_and_the_exit_code_is_returned() -> None:
    assert verb.main(["x", "--name", "a", "--name", "b"], standalone_mode=False) is ExitCode.BREACHED
    assert SEEN[-1] == Outer("x", Inner(3, ("a", "b")), None)


def test_help_shows_defaults_without_parentheses_and_ranges() -> None:
    shown = CliRunner().invoke(verb, ["--help"]).output
    lines = [" ".join(line.split()) for line in shown.splitlines() if re.match(r" +--(?!help)", line)]
    assert lines == ["--rounds N Rounds. [default: 3]", "--name NAME Name. May be repeated.", "--warmup S Warm-up. [default: until steady]"]
