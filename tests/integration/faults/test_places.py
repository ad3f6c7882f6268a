"""Tests of storage faults: full, read-only or missing folders, and a locked or corrupt store."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import subprocess
from pathlib import Path

import pytest

from httpbench.store import Store
from tests.factories import make_run, make_trial
from tests.integration.faults.disk import read_only, small_disk
from tests.integration.faults.fault import GOOD, Fault, ended
from tests.waiting import until

NOBODY = "54321"  # a user without an entry in /etc/passwd
READ_CAPABILITIES = {"dac_read_search": 2, "dac_override": 1}


def test_full_disk(fault: Fault) -> None:
    """The export has all trials. The store keeps those that fit and stays readable."""
    with small_disk(fault.harness.db.parent, "164k"):
        fault.holds(fault.bench("-c", "2,3,4,5,6"), trials=5)
        assert 1 <= len(fault.stored()) < 5
        assert len(fault.exported()) == 5


def test_read_only_home(fault: Fault) -> None:
    home = fault.home / "home"
    home.mkdir()
    env = {**fault.env, "HOME": str(home)}
    del env["XDG_DATA_HOME"]
    with read_only(home):
        fault.holds(fault.bench(env=env), trials=0)


@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("setpriv") is None, reason="requires root and setpriv")
def test_no_home(fault: Fault) -> None:
    env = {name: value for name, value in fault.env.items() if name not in ("HOME", "XDG_DATA_HOME")}
    drop = ("setpriv", "--reuid", NOBODY, "--clear-groups", *keep_read_access())
    done = subprocess.run([*drop, *fault.harness.argv("bench", GOOD)], capture_output=True, text=True, env=env, check=False, timeout=60)
    fault.holds(ended(done.returncode, done.stdout + done.stderr), trials=0)


def keep_read_access() -> list[str]:
    """Return options that make ``setpriv`` keep the capability to read every file.

    Without this capability, the new user can't import the package from a checkout in a private folder. Containers lack
    ``dac_read_search`` by default, so ``dac_override`` is used there instead.
    """
    status = Path("/proc/self/status").read_text()
    held = int(re.findall(r"^CapPrm:\s*(\w+)$", status, re.MULTILINE)[0], 16)
    name = next((name for name, number in READ_CAPABILITIES.items() if held >> number & 1), None)
    return ["--inh-caps", f"+{name}", "--ambient-caps", f"+{name}"] if name else []


@pytest.mark.slow
def test_store_is_locked(fault: Fault) -> None:
    """Another program locks the store during a run. The harness stores the waiting trials once the lock is released."""
    process = fault.start("-c", "2,3,4,5,6,7", "-d", "1s", GOOD)
    until(fault.stored, limit_s=60)
    other = sqlite3.connect(fault.harness.db, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    assert process.stderr
    said = ""
    while "database is locked" not in said and (line := process.stderr.readline()):
        said += line
    other.execute("ROLLBACK")
    other.close()
    end = fault.end(process)
    fault.holds(ended(end.exit_code, said + end.output), trials=6)
    assert len(fault.stored()) == 6


def test_store_is_corrupt(fault: Fault) -> None:
    """The harness refuses to start and leaves the file unchanged, because the user may be able to rescue data from it."""
    db = fault.harness.db
    with Store(db) as store:
        store.begin(make_run([make_trial()], id="a"))
        store.add("a", make_trial())
    content = db.read_bytes()
    broken = content[:1024] + os.urandom(len(content) - 1024)  # the header stays intact
    db.write_bytes(broken)
    end = fault.bench()
    assert db.read_bytes() == broken
    db.write_bytes(content)
    fault.holds(end, trials=1)
