"""Tests of ``httpbench`` without a verb."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from httpbench import run
from httpbench.cli import welcome
from httpbench.cli.exit_codes import ExitCode
from httpbench.cli.main import run_command_line
from httpbench.model import Target
from httpbench.run import State, TargetState

COLUMNS = 80


def lines(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *ready: str) -> list[str]:
    """Return the output on a machine where these targets are ready."""

    def states(targets: Sequence[Target]) -> list[TargetState]:
        return [TargetState(State.BUILT if target.id in ready else State.MISSING) for target in targets]

    monkeypatch.setattr(run, "states", states)
    welcome.welcome()
    return capsys.readouterr().out.splitlines()


@pytest.fixture(autouse=True)
def data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    return tmp_path


def test_the_summary_shows_ready_targets_and_the_next_step(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    found = lines(monkeypatch, capsys, "c/nginx", "golang/fasthttp", "c/epoll/edge", "client:c/curl")
    assert max(map(len, found)) <= COLUMNS
    assert found[1] == "Ready on this machine: 3 servers, 1 client"
    assert found[3].endswith(" require software")
    step = found[found.index("Next step:") + 1]
    assert step.startswith("  httpbench bench c/epoll/edge golang/fasthttp "), "of two languages"
    others = found[found.index("Other commands:") + 1 :]
    assert all(line.startswith("  httpbench ") for line in others)
    assert any("httpbench saturate c/epoll/edge " in line for line in others)


def test_the_next_step_without_a_ready_server_installs_some(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    found = lines(monkeypatch, capsys)
    assert found[1] == "Ready on this machine: no target"
    assert found[found.index("Next step:") + 1].startswith("  httpbench setup c/nginx c/epoll ")
    assert any("--suite quick --skip-missing" in line for line in found)


def test_the_next_step_after_a_run_is_its_report(
    data_folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (data_folder / "httpbench").mkdir()
    (data_folder / "httpbench/httpbench.db").touch()
    found = lines(monkeypatch, capsys, "c/nginx", "c/epoll/edge")
    assert found[found.index("Next step:") + 1].startswith("  httpbench report ")


def test_a_missing_verb_is_not_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    monkeypatch.setattr(welcome, "welcome", lambda: calls.append("welcome"))
    monkeypatch.setattr("sys.argv", ["httpbench"])
    monkeypatch.setattr("sys.excepthook", None)
    with pytest.raises(SystemExit) as ended:
        run_command_line()
    assert (ended.value.code, calls) == (ExitCode.OK, ["welcome"])
