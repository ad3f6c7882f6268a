"""Tests that a container that doesn't start reports why."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from httpbench.errors import StartError
from httpbench.isolate import Launch, container
from httpbench.model import Engine, Isolation
from tests.programs import program

GONE = 2**31 - 1
"""A process id that no kernel assigns."""

INSPECT = f'[ "$1" != inspect ] || {{ echo "{GONE} sha256:0 false"; exit; }}; [ "$1" = run ] || exit 0; '


def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: str) -> StartError:
    """Return the error of a container that fails to start. ``run`` is a shell script that replaces ``docker run``."""
    program(tmp_path, "docker", INSPECT + run)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    launch = Launch(isolation=Isolation(engine=Engine.DOCKER), image="web:1", cpuset=(0,), name="httpbench-test-container")
    with pytest.raises(StartError) as caught:
        container.Container(launch, tmp_path / "log")
    return caught.value


def test_a_container_that_ends_during_inspection_is_reported_as_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    error = start(tmp_path, monkeypatch, "sleep 0.3; echo no module; exit 3")
    assert error.message == "the container ended immediately (exit code 3)"
    assert "no module" in (error.log_tail or "")


def test_a_container_on_another_machine_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(container, "END_LIMIT_S", 0.2)
    error = start(tmp_path, monkeypatch, "exec sleep 30")
    assert error.message == "the container's control groups cannot be read: the docker daemon runs on another machine"
