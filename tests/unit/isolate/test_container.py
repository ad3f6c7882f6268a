"""A container that does not start says why, whatever the engine has told of it before."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from httpbench.errors import StartError
from httpbench.isolate import Launch, container
from httpbench.model import Engine, Isolation
from tests.programs import program

GONE = 2**31 - 1
"""A process id that no kernel gives."""

INSPECT = f'[ "$1" != inspect ] || {{ echo "{GONE} sha256:0 false"; exit; }}; [ "$1" = run ] || exit 0; '


def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: str) -> StartError:
    """How starting a container fails. ``run`` is what the engine's client does."""
    program(tmp_path, "docker", INSPECT + run)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    launch = Launch(isolation=Isolation(engine=Engine.DOCKER), image="web:1", cpuset=(0,), name="httpbench-test-container")
    with pytest.raises(StartError) as caught:
        container.Container(launch, tmp_path / "log")
    return caught.value


def test_one_that_ends_while_it_is_looked_at_has_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    error = start(tmp_path, monkeypatch, "sleep 0.3; echo no module; exit 3")
    assert error.message == "its container ended at once (exit code 3)"
    assert "no module" in (error.log_tail or "")


def test_one_that_runs_on_another_machine_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(container, "END_LIMIT_S", 0.2)
    error = start(tmp_path, monkeypatch, "exec sleep 30")
    assert error.message == "the container's control groups cannot be read: the docker daemon runs on another machine"
