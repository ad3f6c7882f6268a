from __future__ import annotations

import os
import subprocess
import sys

from httpbench.host import examine
from httpbench.host.doctor import _busy, _Process, _steal
from tests.waiting import SPIN


def test_steal_is_measured() -> None:
    before = [100, 0, 50, 9000, 10, 0, 5, 20, 0, 0]
    after = [110, 0, 55, 9030, 10, 0, 5, 25, 0, 0]
    (finding,) = _steal(before, after)
    assert (finding.severity, finding.what) == ("warning", "the hypervisor took 10.0% of this machine's CPU time")
    assert [finding.severity for finding in _steal(before, before)] == ["ok"]
    assert list(_steal([], [])) == []


def test_a_reused_process_id_is_not_counted() -> None:
    finding = _busy({7: _Process("old", 10)}, {7: _Process("new", 500)}, 1.0)
    assert finding.severity == "ok"


def test_a_busy_process_is_reported_but_httpbench_itself_is_not() -> None:
    with subprocess.Popen([sys.executable, "-c", f"print(flush=True)\n{SPIN}"], stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout
            process.stdout.readline()
            findings = {finding.name: finding for finding in examine()}
        finally:
            process.kill()
    busy = findings["busy-processes"]
    assert busy.severity == "warning"
    # On a busy machine, the process may be among those that are counted but not named.
    assert f"(pid {process.pid}," in busy.what or "more" in busy.what
    assert f"(pid {os.getpid()}," not in busy.what
