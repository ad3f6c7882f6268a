"""Tests of ``httpbench tune`` on this machine: it restores a kernel setting even if the process that changed the setting was killed."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.harness import Harness

KNOB = Path("/proc/sys/net/core/netdev_max_backlog")

DIES_HALFWAY = """
import os, signal, sys
from dataclasses import replace
from pathlib import Path
from httpbench.host import KNOBS, KnobTuning

def one_more(root):
    (found,) = KNOBS["packet-queue"].settings(root)
    return [replace(found, wanted=str(int(found.now) + 1))]

class Dies(KnobTuning):
    def _forget_restored(self):
        os.kill(os.getpid(), signal.SIGKILL)

Dies(Path(sys.argv[1])).apply([replace(KNOBS["packet-queue"], settings=one_more)])
"""


@pytest.fixture(autouse=True)
def alone() -> Iterator[None]:
    """Let only one of these tests of this user run at a time, because they change and compare the same setting of the machine."""
    with (Path(tempfile.gettempdir()) / f"httpbench-tests-tune-{os.getuid()}.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Path]:
    before = KNOB.read_text()
    try:
        KNOB.write_text(before)
    except OSError as error:
        pytest.skip(f"{KNOB} cannot be set here ({error.strerror}): it requires root and a writable /proc")
    yield tmp_path / "journal" / "tune.json"
    KNOB.write_text(before)


def test_a_reset_restores_the_setting_after_kill_9(harness: Harness, journal: Path) -> None:
    before = KNOB.read_text()
    died = subprocess.run([sys.executable, "-c", DIES_HALFWAY, str(journal)], check=False, timeout=60)
    assert died.returncode == -signal.SIGKILL
    assert KNOB.read_text() == f"{int(before) + 1}\n"
    shown = json.loads(harness.run("tune", "show", "packet-queue", "--json", "--journal", str(journal)).stdout)
    assert [(entry["now"], entry["before"]) for entry in shown] == [(str(int(before) + 1), before.strip())]
    done = harness.run("tune", "reset", "--journal", str(journal))
    assert (done.returncode, done.stdout) == (0, f"{KNOB}: {int(before) + 1} → {before}"), done.stderr
    assert KNOB.read_text() == before
    assert not journal.exists()
    again = harness.run("tune", "reset", "--journal", str(journal))
    assert (again.returncode, again.stdout) == (0, "")


def test_without_write_permission_nothing_is_changed_and_an_error_is_shown(harness: Harness, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    before = KNOB.read_text()
    refused = harness.run("tune", "apply", "--journal", str(tmp_path / "file" / "tune.json"))
    assert (refused.returncode, "nothing was changed" in refused.stderr, "hint:" in refused.stderr) == (1, True, True)
    assert KNOB.read_text() == before


def test_a_dry_run_lists_settings_and_changes_nothing(harness: Harness, tmp_path: Path) -> None:
    journal = tmp_path / "tune.json"
    dry = harness.run("tune", "apply", "--dry-run", "--journal", str(journal))
    assert dry.returncode == 0
    assert not list(tmp_path.iterdir())  # not even a lock file


def test_an_unknown_knob_is_a_usage_error(harness: Harness) -> None:
    wrong = harness.run("tune", "apply", "swappiness")
    assert (wrong.returncode, "there is no knob swappiness" in wrong.stderr) == (2, True)
