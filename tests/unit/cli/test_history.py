"""Tests of ``httpbench history``: selecting a target and a metric, and the table at 80 columns."""

from __future__ import annotations

from pathlib import Path

import pytest

from httpbench.cli.main import cli
from httpbench.errors import SelectionError
from httpbench.store import Store
from tests.factories import make_environment
from tests.histories import A, fall, keep, rounds


@pytest.fixture
def db(tmp_path: Path) -> Path:
    path = tmp_path / "results.db"
    with Store(path) as store:
        fall(store)
        keep(store, 100, rounds(90_000), environment=make_environment(kernel="5.10"))
        keep(store, 101, rounds(95_000), name="v2", commit="0123456789abcdef0123456789abcdef01234567+changes")
    return path


def shown(db: Path, capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert cli.main(["history", *words, "--db", str(db)], prog_name="httpbench", standalone_mode=False) == 0
    return capsys.readouterr().out


def test_the_table_has_a_line_with_the_change_for_each_run(db: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(db, capsys, A, "-n", "14")
    lines = [line.rstrip() for line in text.splitlines()]
    assert lines[0] == "c/a, plaintext single -c 64 -d 10s, native: Requests/s"
    assert "v2" in lines[3]
    assert "01234567+" in lines[3]
    assert sum("▼ -" in line for line in lines) == 2, "at the run, and below the table"
    assert "since run run-0012" in text
    assert "commits aaaa..bbbb" in text
    assert "11 older runs not shown: add -n 25" in text
    assert "1 more series from other environments: add --all-environments" in text


def test_a_metric_can_be_chosen_and_other_environments_can_be_shown(db: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(db, capsys, "a", "--figure", "p99", "--all-environments")
    assert "native: p99" in text
    assert "environment: kernel (5.10 → 6.1.0-28-amd64)" in text
    assert "1 run is not enough to find a change; at least 6 are required." in text


def test_missing_data_is_an_error(db: Path) -> None:
    for words, said in ((["nosuch"], "measured nosuch"), ([A, "--figure", "time"], "no valid trial has time of c/a")):
        with pytest.raises(SelectionError, match=said):
            cli.main(["history", *words, "--db", str(db)], prog_name="httpbench", standalone_mode=False)


def test_an_ambiguous_part_of_an_id_is_refused_with_all_matches(tmp_path: Path) -> None:
    with Store(tmp_path / "results.db") as store:
        for number, target in enumerate(("c/one", "c/two")):
            keep(
                store, number, [trial.model_copy(update={"plan": trial.plan.model_copy(update={"target": target})}) for trial in rounds(1)]
            )
    with pytest.raises(SelectionError, match=r"c/ matches several targets: c/one, c/two"):
        cli.main(["history", "c/", "--db", str(tmp_path / "results.db")], prog_name="httpbench", standalone_mode=False)


def test_a_whole_part_of_an_id_comes_before_a_longer_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Store(tmp_path / "results.db") as store:
        for number, target in enumerate(("command/srv.py", "command/srv.py-new")):
            trials = [trial.model_copy(update={"plan": trial.plan.model_copy(update={"target": target})}) for trial in rounds(1000)]
            keep(store, number, trials)
    assert shown(tmp_path / "results.db", capsys, "srv.py").startswith("command/srv.py, plaintext")


def test_without_a_target_the_measured_targets_are_listed(db: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert A in shown(db, capsys).splitlines()
    with Store(tmp_path / "empty.db"):
        pass
    with pytest.raises(SelectionError, match="measured a target"):
        shown(tmp_path / "empty.db", capsys)
