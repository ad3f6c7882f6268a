"""Tests that httpbench detects whether a run's process still exists. The check doesn't depend on the wall clock."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from httpbench.host import owner
from httpbench.host.owner import Owner, is_alive, this_process
from httpbench.model import RunStatus
from httpbench.store import Store
from tests.factories import make_run, make_trial


def test_this_process_is_alive() -> None:
    assert is_alive(this_process())


def test_another_process_with_the_same_pid_is_not_the_owner() -> None:
    me = this_process()
    assert not is_alive(me._replace(start_ticks=me.start_ticks - 1))


def test_a_process_from_an_earlier_boot_is_not_alive() -> None:
    assert not is_alive(this_process()._replace(boot_id="0f3c"))


def test_a_zombie_is_not_alive() -> None:
    child = subprocess.Popen(["sleep", "1000"])
    there = Owner(this_process().boot_id, child.pid, owner._start_ticks(child.pid) or 0)
    assert is_alive(there)
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert not is_alive(there)
    child.wait()
    assert not is_alive(there)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount /proc")
def test_a_process_that_proc_hides_is_alive() -> None:
    """With ``hidepid``, other users can't see root's processes. ``unshare`` keeps the mount from affecting the rest of the machine."""
    with subprocess.Popen(["sleep", "1000"]) as child:
        found = [seen_by_nobody(pid) for pid in (child.pid, free_pid())]
        child.kill()
    assert found == ["True", "False"]


def seen_by_nobody(pid: int) -> str:
    """Return whether a process seems alive to a user who can see only their own processes in ``/proc``."""
    code = f"""
import os
from httpbench.host.owner import Owner, is_alive, this_process
os.setgroups([])
os.setresgid(65534, 65534, 65534)
os.setresuid(65534, 65534, 65534)
print(is_alive(Owner(this_process().boot_id, {pid}, 1)))
"""
    script = 'mount -t proc -o hidepid=invisible proc /proc && exec "$0" -c "$1"'
    argv = ["unshare", "--mount", "sh", "-c", script, sys.executable, code]
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout.strip()


def free_pid() -> int:
    """Return the id of a process that has ended."""
    ended = subprocess.Popen(["true"])
    ended.wait()
    return ended.pid


def test_liveness_does_not_depend_on_the_wall_clock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Store(tmp_path / "results.db") as store:
        store.begin(make_run([make_trial()], status=RunStatus.RUNNING))
        monkeypatch.setattr(time, "time", lambda: 0.0)
        assert store.runs()[0].status is RunStatus.RUNNING
        store._connection.execute("UPDATE run SET boot_id = 'another'")
        assert store.runs()[0].status is RunStatus.INTERRUPTED
