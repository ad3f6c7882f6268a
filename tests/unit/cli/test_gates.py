"""Tests of gates that are refused, or that cause a warning, before anything is measured."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from httpbench.cli.main import cli
from httpbench.errors import UsageError

SERVERS = ("run", "./a {port}", "./b {port}", "--dry-run")


@pytest.mark.parametrize("words", [("--rounds", "2"), ("--precision", "2%", "--max-rounds", "2")])
def test_a_gate_with_too_few_rounds_is_refused(words: tuple[str, ...]) -> None:
    done = CliRunner().invoke(cli, [*SERVERS, "--fail-if", "rps<-3%", *words])
    assert isinstance(done.exception, UsageError)
    assert done.exception.message == "--fail-if requires at least 3 rounds, not 2"


@pytest.mark.parametrize(
    ("gate", "warning"),
    [
        ("rps<3%", "warning: rps<+3% is breached if nothing changes; did you mean rps<-3%?"),
        ("p99>-10%", "warning: p99>-10% is breached if nothing changes; did you mean p99>+10%?"),
        ("rps<-3%", ""),
        ("p99>10%", ""),
    ],
)
def test_a_gate_that_probably_lacks_its_sign_causes_a_warning(gate: str, warning: str) -> None:
    done = CliRunner().invoke(cli, [*SERVERS, "--fail-if", gate])
    assert (done.exit_code, done.stderr.strip()) == (0, warning)
