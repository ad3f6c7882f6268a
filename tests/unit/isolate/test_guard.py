"""Tests that a guard creates a control group only if the group is useful and has no side effects."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from httpbench.isolate import guard
from tests import control_groups as fake


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return this process's folder in a fake hierarchy."""
    lines = Path("/proc/self/cgroup").read_text().splitlines()
    path = next((line[3:] for line in lines if line.startswith("0::")), None)
    if path is None:
        pytest.skip("the kernel has no control groups of version 2")
    monkeypatch.setattr(guard, "CGROUP_MOUNTS", (str(tmp_path / "none"), str(tmp_path)))
    fake.write(tmp_path, "cgroup.procs", "")
    folder = tmp_path / path.strip("/")
    fake.write(folder, "cgroup.subtree_control", "\n")
    return folder


def groups(own: Path) -> list[Path]:
    return [path for path in own.iterdir() if path.is_dir()]


def test_without_a_mounted_hierarchy_there_is_no_group(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "CGROUP_MOUNTS", (str(own / "none"),))
    assert guard.make_group() is None


def test_a_group_that_passes_on_controllers_gets_no_other_below_it(own: Path) -> None:
    """In a subgroup, all commands together would get no more CPU time than one process of the parent group."""
    fake.write(own, "cgroup.subtree_control", "cpu memory\n")
    assert guard.make_group() is None
    assert groups(own) == []


def test_a_group_that_cannot_be_frozen_is_removed(own: Path) -> None:
    assert guard.make_group() is None
    assert groups(own) == []


def test_a_hierarchy_that_may_not_be_changed_is_left_alone(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: str) -> None:
        raise OSError("Read-only file system")

    monkeypatch.setattr(os, "mkdir", refuse)
    assert guard.make_group() is None


def test_a_group_that_another_guard_takes_for_abandoned_is_given_up(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os.path, "exists", lambda path: not path.startswith(str(own / "none")))
    monkeypatch.setattr(guard, "lock", lambda _: None)
    assert guard.make_group() is None
    assert groups(own) == []


def test_only_one_process_holds_the_lock(tmp_path: Path) -> None:
    assert guard.lock(str(tmp_path)) is not None
    assert guard.lock(str(tmp_path)) is None


@pytest.mark.parametrize(
    ("told", "found"),
    [
        ("", (None, "")),
        ("No such file or directory", (None, "No such file or directory")),
        ("123456789\n", (123_456_789, "")),
        ("123456789\nPermission denied\n", (123_456_789, "Permission denied")),
    ],
)
def test_a_child_tells_the_time_or_why_it_failed(told: str, found: tuple[int | None, str]) -> None:
    assert guard.time_and_problem(told) == found
