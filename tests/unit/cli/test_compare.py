"""Tests of the exit code of ``httpbench compare`` for gates that are passed, breached or unknown."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner

from httpbench.cli.main import cli
from httpbench.errors import UsageError
from httpbench.model import Trial
from httpbench.report.data.json import render_json
from httpbench.store import Store
from tests.factories import make_failed, make_plan, make_rounds, make_run

STEADY = (100_000, 101_000, 99_000)
CRASHED = [make_failed(make_plan("c/a", number), "exited with status 139") for number in range(3, 15)]


def exported(path: Path, trials: Sequence[Trial]) -> str:
    numbered = [trial.model_copy(update={"plan": trial.plan.model_copy(update={"number": n})}) for n, trial in enumerate(trials)]
    path.write_text(render_json(make_run(numbered), numbered))
    return str(path)


@pytest.mark.parametrize(
    ("head", "code", "said"),
    [
        (make_rounds("c/a", STEADY), 0, "1 of 1 gates passed"),
        (make_rounds("c/a", [101_000, 90_000, 109_000]), 0, "INCONCLUSIVE rps<-3%: c/a"),
        (make_rounds("c/a", [rate * 1.2 for rate in STEADY]), 0, "1 of 1 gates passed = marks"),
        (make_rounds("c/a", [rate / 2 for rate in STEADY]), 3, "BREACHED rps<-3%: c/a"),
        ([*make_rounds("c/a", STEADY), *CRASHED], 1, "in head 12 of 15 rounds failed or are invalid: exited with status 139"),
        ([*make_rounds("c/a", [rate / 2 for rate in STEADY]), *CRASHED], 1, "NOT JUDGED rps<-3%: c/a"),
        (make_rounds("c/b", STEADY), 1, "head lacks this target under this load"),
    ],
    ids=["passed", "inconclusive", "passed and faster", "breached", "rounds failed", "breached and rounds failed", "target missing"],
)
def test_the_exit_code_depends_on_the_gate(
    head: list[Trial], code: int, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [exported(tmp_path / "base.json", make_rounds("c/a", STEADY)), exported(tmp_path / "head.json", head)]
    ended = cli.main(["compare", *words, "--fail-if", "rps<-3%", "--db", str(tmp_path / "x.db")], standalone_mode=False)
    assert ended == code
    assert said in " ".join(capsys.readouterr().out.split())


def test_an_inconclusive_gate_fails_only_on_request(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    head = make_rounds("c/a", [103_000, 97_000, 106_000])
    words = ["compare", exported(tmp_path / "base.json", make_rounds("c/a", STEADY)), exported(tmp_path / "head.json", head)]
    words += ["--fail-if", "rps<-3%", "--db", str(tmp_path / "x.db"), "--export-junit", str(tmp_path / "gates.xml")]
    assert cli.main(words, standalone_mode=False) == 0
    assert "rounds in each run would decide" in " ".join(capsys.readouterr().out.split())
    assert "<skipped" in (tmp_path / "gates.xml").read_text()
    assert cli.main([*words, "--fail-if-inconclusive"], standalone_mode=False) == 1
    assert "<error" in (tmp_path / "gates.xml").read_text()


def test_gates_are_written_as_junit(tmp_path: Path) -> None:
    words = [exported(tmp_path / f"{name}.json", make_rounds("c/a", STEADY)) for name in ("base", "head")]
    more = ["--db", str(tmp_path / "x.db"), "--export-junit", str(tmp_path / "gates.xml")]
    with pytest.raises(UsageError, match="--export-junit exports gates, but none is given"):
        cli.main(["compare", *words, *more], standalone_mode=False)
    assert cli.main(["compare", *words, *more, "--fail-if", "rps<-3%"], standalone_mode=False) == 0
    assert '<testcase classname="gates" name="rps&lt;-3% c/a, plaintext single -c 64"' in (tmp_path / "gates.xml").read_text()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((), 'no run "'),
        (("no-such", "latest"), 'no run "no-such"'),
        (("a", "b", "--fail-if", "rps"), "\"rps\" is not a gate; write it as 'rps<-3%'"),
        (("a", "b", "--fail-if", "speed<3%"), "with one of rps, mean, p50"),
        (("a", "b", "--fail-if", "rps<-100%"), "a change must be above −100%"),
    ],
)
def test_invalid_comparisons_are_refused(words: tuple[str, ...], sentence: str, tmp_path: Path) -> None:
    Store(tmp_path / "x.db").close()
    done = CliRunner().invoke(cli, ["compare", *words, "--db", str(tmp_path / "x.db")])
    assert done.exit_code == 2 or isinstance(done.exception, UsageError), done.output
    assert sentence in done.output + str(done.exception)
