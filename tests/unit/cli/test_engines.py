"""Tests of which container engines a command contacts before it starts to measure."""

from __future__ import annotations

import contextlib
import io
import os
from pathlib import Path

import pytest

from httpbench.cli.targets import prepare_engines
from httpbench.isolate import engine as command_line
from httpbench.isolate import labels, marks
from httpbench.model import Engine, Isolation, Target
from tests.factories import make_target
from tests.programs import program

PROCESS = make_target()
CONTAINER = make_target(isolation=Isolation(engine=Engine.DOCKER))


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a fake ``docker`` in PATH that records its commands and lists one container that a killed harness left behind."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    script = f'echo "$@" >>{tmp_path}/calls\ncase $1 in ps) echo left;; inspect) echo "left 0 {gone()}";; esac'
    docker(tmp_path, monkeypatch, script)
    return tmp_path / "calls"


def docker(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    program(folder, "docker", script)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}/usr/bin{os.pathsep}/bin")
    command_line.version.cache_clear()


def gone() -> str:
    """Return the label of a container whose owner has ended."""
    process, _, ticks = labels.owner_label().rpartition("/")
    return f"{process}/{int(ticks) + 1}"


def leave_mark(tmp_path: Path) -> None:
    folder = tmp_path / "state" / "httpbench" / "containers"
    folder.mkdir(parents=True)
    (folder / "left").write_text(f"docker {gone()}")


def messages(*targets: Target) -> str:
    """Return the first messages of a command that measures these targets."""
    with contextlib.redirect_stderr(io.StringIO()) as errors:
        prepare_engines(targets)
    return errors.getvalue()


def test_processes_contact_an_engine_only_if_something_was_left(calls: Path) -> None:
    assert messages(PROCESS) == ""
    assert not calls.exists()


def test_leftovers_of_a_killed_run_are_removed_once(calls: Path, tmp_path: Path) -> None:
    leave_mark(tmp_path)
    assert messages(PROCESS) == "removed 1 container left behind when an earlier run of httpbench was killed\n"
    assert calls.read_text().splitlines()[-1] == "rm --force --volumes left"
    calls.unlink()
    assert messages(PROCESS) == ""
    assert not calls.exists()


def test_without_a_client_no_engine_is_contacted(calls: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    leave_mark(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path / "state"))
    assert messages(PROCESS) == ""


def test_an_engine_that_does_not_respond_is_only_a_warning_for_processes(
    calls: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    leave_mark(tmp_path)
    docker(tmp_path, monkeypatch, "echo 'Cannot connect to the Docker daemon' >&2; exit 1")
    text = messages(PROCESS)
    assert text.startswith(
        "warning: a container from an earlier run of httpbench may still be running: the docker daemon does not respond; fix: systemctl"
    )
    assert marks.engines_left() == [Engine.DOCKER]


def test_a_container_always_contacts_its_engine(calls: Path) -> None:
    assert messages(CONTAINER).startswith("removed 1 container")
