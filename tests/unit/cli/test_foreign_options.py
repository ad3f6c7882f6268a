"""Tests that the error for another tool's option suggests httpbench's own option."""

from __future__ import annotations

import sys

import pytest

from httpbench.cli.main import cli, run_command_line
from httpbench.cli.options import foreign as foreign_options


def errors(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, words: str) -> str:
    """Return the standard error of a command that must fail with wrong usage."""
    monkeypatch.setattr(sys, "argv", ["httpbench", *words.split()])
    with pytest.raises(SystemExit) as ended:
        run_command_line()
    assert ended.value.code == 2
    return capfd.readouterr().err


@pytest.mark.parametrize(
    ("words", "ours"),
    [
        ("bench --tool wrk", "--load-generator wrk"),
        ("bench --type singleCore", "--scaling single"),
        ("bench --type=multiCore", "--scaling multi"),
        ("noise -r foo@192.0.2.3", "`bench`, `run` and `saturate` have -r, --load-host"),
        ("noise --host 192.0.2.2", "`bench`, `run` and `saturate` have -r, --load-host"),
        ("bench -b 2", "--rounds N"),
        ("bench -n 10000", "-d DURATION"),
        ("run -z 10s", "-d DURATION"),
        ("run -R 2000", "--rate RATE"),
        ("saturate -p 10", "`bench` and `run` have -p, --pipeline"),
    ],
)
def test_the_hint_for_another_tools_option_is_ours(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, words: str, ours: str
) -> None:
    verb, option = words.partition("=")[0].split()[:2]
    error, hint = errors(capfd, monkeypatch, words).splitlines()
    assert error == f"error: {verb} has no option {option}"
    assert hint.startswith("hint: ") and ours in hint


@pytest.mark.parametrize("words", ["list -z", "bench --durration 10s"])
def test_any_other_unknown_option_gets_the_usual_hint(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    assert errors(capfd, monkeypatch, words).splitlines()[-1] == f"hint: httpbench {words.split()[0]} --help"


def test_each_foreign_option_is_unknown_to_a_verb_that_has_ours() -> None:
    have = [{name for parameter in cli.load(verb).params for name in parameter.opts} for verb in cli.commands]
    for foreign, (ours, _) in foreign_options.OURS.items():
        assert any(ours in names and foreign not in names for names in have), foreign


@pytest.mark.parametrize("verb", ["bench", "run"])
def test_p_is_the_pipeline_depth(verb: str) -> None:
    (option,) = [parameter for parameter in cli.load(verb).params if "-p" in parameter.opts]
    assert option.name == "pipeline" and "--pipeline" in option.opts
