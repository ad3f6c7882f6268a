"""Tests of ``httpbench`` without a verb."""

from __future__ import annotations

from collections.abc import Sequence

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


def test_ten_lines_show_ready_targets_and_next_steps(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    found = lines(monkeypatch, capsys, "c/nginx", "golang/fasthttp", "c/epoll/edge", "client:c/curl")
    assert len(found) == 10
    assert max(map(len, found)) <= COLUMNS
    assert found[1] == "Ready on this machine: 3 servers, 1 client"
    assert found[3].endswith(" require software")
    assert all(line.startswith("  httpbench ") for line in found[5:])
    assert "httpbench bench c/epoll/edge golang/fasthttp " in found[6], "of two languages"
    assert "httpbench saturate c/epoll/edge " in found[7]


def test_the_welcome_says_so_if_nothing_is_ready(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    found = lines(monkeypatch, capsys)
    assert found[1] == "Ready on this machine: no target"
    assert "--suite quick --skip-missing" in found[6]


def test_a_missing_verb_is_not_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    monkeypatch.setattr(welcome, "welcome", lambda: calls.append("welcome"))
    monkeypatch.setattr("sys.argv", ["httpbench"])
    monkeypatch.setattr("sys.excepthook", None)
    with pytest.raises(SystemExit) as ended:
        run_command_line()
    assert (ended.value.code, calls) == (ExitCode.OK, ["welcome"])
