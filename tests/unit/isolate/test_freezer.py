"""Tests that a control group in a fake tree is frozen, for both cgroup versions, and tests of the fallbacks if there is no group."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from httpbench.errors import FreezeError
from httpbench.host.control_groups import groups_of
from httpbench.isolate import freezer, guard
from httpbench.isolate.freezer import GroupFreezer, SignalFreezer
from tests import control_groups as fake
from tests.waiting import SPIN, until

OWN_PID = 8


def group(folder: Path, *, frozen: bool) -> Path:
    """Make a control group (version 2) whose processes are all frozen, or can't be frozen."""
    fake.write(folder, "cgroup.freeze", "0\n")
    fake.write(folder, "cgroup.events", f"populated 1\nfrozen {int(frozen)}\n")
    return folder / "cgroup.freeze"


def test_a_group_of_version_2_is_frozen_and_thawed(tmp_path: Path) -> None:
    file = group(tmp_path, frozen=True)
    GroupFreezer(file).freeze()
    assert file.read_text() == "1"
    GroupFreezer(file).thaw()
    assert file.read_text() == "0"


def test_freezing_waits_until_the_kernel_reports_it(tmp_path: Path) -> None:
    file = group(tmp_path, frozen=False)
    begin = time.monotonic()
    timer = threading.Timer(0.1, group, [tmp_path], {"frozen": True})
    timer.start()
    GroupFreezer(file).freeze()
    assert time.monotonic() - begin >= 0.1
    timer.join()


def test_a_group_of_version_1_is_frozen_and_thawed(tmp_path: Path) -> None:
    file = tmp_path / "freezer.state"
    file.write_text("THAWED\n")
    GroupFreezer(file).freeze()
    assert file.read_text() == "FROZEN"
    GroupFreezer(file).thaw()
    assert file.read_text() == "THAWED"


def test_what_does_not_freeze_is_thawed_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(freezer, "LIMIT_S", 0.05)
    file = group(tmp_path, frozen=False)
    with pytest.raises(FreezeError, match=r"^a process did not freeze within 0\.05 s: it waits in the kernel$"):
        GroupFreezer(file).freeze()
    assert file.read_text() == "0"


def test_a_group_that_is_gone_counts_as_frozen(tmp_path: Path) -> None:
    GroupFreezer(tmp_path / "gone" / "cgroup.freeze").thaw()


def test_a_tree_uses_its_group_only_if_it_has_all_commands(tmp_path: Path) -> None:
    file = group(tmp_path, frozen=True)
    fake.write(tmp_path, "cgroup.procs", "7\n8\n")
    assert freezer.of_tree(1, str(tmp_path), [7, 8]) == GroupFreezer(file)
    assert freezer.of_tree(1, str(tmp_path), [7, 9]) == SignalFreezer(1)
    assert freezer.of_tree(1, str(tmp_path / "gone"), [7]) == SignalFreezer(1)
    assert freezer.of_tree(1, None, [7]) == SignalFreezer(1)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write any file")
def test_a_tree_does_not_use_a_group_that_it_may_not_change(tmp_path: Path) -> None:
    group(tmp_path, frozen=True).chmod(0o444)
    fake.write(tmp_path, "cgroup.procs", "7\n")
    assert freezer.of_tree(1, str(tmp_path), [7]) == SignalFreezer(1)


@pytest.fixture
def spinning() -> Iterator[int]:
    with subprocess.Popen([sys.executable, "-c", SPIN]) as process:
        yield process.pid
        process.kill()


def test_a_process_that_was_sent_sigkill_counts_as_ended(spinning: int) -> None:
    assert not freezer.has_ended(spinning)
    os.kill(spinning, signal.SIGKILL)
    until(lambda: freezer.has_ended(spinning))  # it is a zombie
    assert freezer.has_ended(2**22 + 1)


def test_a_process_that_does_not_stop_is_named_and_goes_on(monkeypatch: pytest.MonkeyPatch, spinning: int) -> None:
    monkeypatch.setattr(freezer, "LIMIT_S", 0.05)
    sent: list[tuple[int, int]] = []
    monkeypatch.setattr(os, "kill", lambda *call: sent.append(call))
    monkeypatch.setattr(guard, "lister", lambda: {1: [spinning]}.get)
    with pytest.raises(FreezeError, match=rf"^python\S* \(pid {spinning}\) did not stop within 0\.05 s after SIGSTOP$"):
        SignalFreezer(1).freeze()
    monkeypatch.undo()
    assert sent == [(spinning, signal.SIGSTOP), (spinning, signal.SIGCONT)]


def test_a_process_of_another_user_is_named(monkeypatch: pytest.MonkeyPatch, spinning: int) -> None:
    def refuse(pid: int, number: int) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "kill", refuse)
    monkeypatch.setattr(guard, "lister", lambda: {1: [spinning]}.get)
    with pytest.raises(FreezeError, match=rf"\(pid {spinning}\) belongs to another user, so this user may not stop it$"):
        SignalFreezer(1).freeze()
    monkeypatch.undo()


def test_parents_stop_before_their_children_and_go_on_after_them(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[tuple[int, int]] = []
    monkeypatch.setattr(os, "kill", lambda *call: sent.append(call))
    monkeypatch.setattr(guard, "lister", lambda: {1: [5, 6], 5: [4]}.get)
    monkeypatch.setattr(freezer, "_states", lambda pid: {b"T" if (pid, signal.SIGSTOP) in sent else b"R"})
    stop, go_on = signal.SIGSTOP, signal.SIGCONT
    found = SignalFreezer(1)
    found.freeze()
    assert sent == [(5, stop), (6, stop), (4, stop)]
    found.thaw()
    assert sent[3:] == [(4, go_on), (6, go_on), (5, go_on)]


def test_a_process_that_appears_during_the_scans_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """A child that was forked just before its parent stopped may appear only in a later scan."""
    sent: list[tuple[int, int]] = []
    scans = iter([{1: [5]}, {1: [5]}, {1: [5, 6]}])
    monkeypatch.setattr(os, "kill", lambda *call: sent.append(call))
    monkeypatch.setattr(guard, "lister", lambda: next(scans, {1: [5, 6]}).get)
    monkeypatch.setattr(freezer, "_states", lambda pid: {b"T" if (pid, signal.SIGSTOP) in sent else b"R"})
    SignalFreezer(1).freeze()
    assert sent == [(5, signal.SIGSTOP), (6, signal.SIGSTOP)]


def test_a_process_that_stays_in_the_kernel_counts_as_stopped_later(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "kill", lambda *_: None)
    monkeypatch.setattr(guard, "lister", lambda: {1: [5]}.get)
    monkeypatch.setattr(freezer, "_states", lambda _: {b"D", b"T"})
    begin = time.monotonic()
    SignalFreezer(1).freeze()
    assert time.monotonic() - begin >= freezer.HELD_S


@pytest.mark.parametrize("version", [1, 2])
def test_a_container_is_frozen_by_its_own_group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: int) -> None:
    (fake.version_1 if version == 1 else fake.version_2)(tmp_path)
    fake.write(tmp_path, f"proc/{OWN_PID}/cgroup", "3:freezer:/\n0::/user\n")
    groups = groups_of(fake.PID, tmp_path)
    assert groups is not None
    monkeypatch.setattr(freezer, "groups_of", lambda pid: groups_of(pid, tmp_path))
    found = freezer.of_container(groups, [OWN_PID])
    assert isinstance(found, GroupFreezer)
    assert found.file == tmp_path / ("sys/fs/cgroup/freezer" if version == 1 else "sys/fs/cgroup") / fake.OWN / (
        "freezer.state" if version == 1 else "cgroup.freeze"
    )


@pytest.mark.parametrize("own", [fake.OWN, f"{fake.OWN}/below"])
def test_a_group_that_holds_the_harness_is_never_frozen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own: str) -> None:
    """If a container has no control group of its own, it runs in the group of its engine's client."""
    fake.version_2(tmp_path)
    fake.write(tmp_path, f"proc/{OWN_PID}/cgroup", f"0::/{own}\n")
    groups = groups_of(fake.PID, tmp_path)
    assert groups is not None
    monkeypatch.setattr(freezer, "groups_of", lambda pid: groups_of(pid, tmp_path))
    assert freezer.of_container(groups, [OWN_PID]) is None


def test_a_container_without_a_freezer_is_left_to_its_engine(tmp_path: Path) -> None:
    group = fake.version_2(tmp_path)
    (group / "cgroup.freeze").unlink()
    groups = groups_of(fake.PID, tmp_path)
    assert groups is not None
    assert freezer.of_container(groups, []) is None
