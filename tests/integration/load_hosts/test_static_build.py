"""The load generator that is copied to load hosts runs where there is no C library, and resolves names there."""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
from pathlib import Path

import pytest

from httpbench.cluster.remote_programs import portable
from httpbench.load import programs
from tests.servers import Mode, Server

NAME = "target.test"


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_it_runs_where_there_is_nothing_else(tmp_path: Path) -> None:
    """Neither a C library nor a module that ``nsswitch.conf`` names."""
    if os.geteuid() != 0:
        pytest.skip("only root can change the root folder of a process")
    own = Path(programs.require("httpbench-loadgen"))
    found = portable(own, platform.machine(), print)
    if found == own:
        pytest.skip("it cannot be built without shared libraries here: cargo static says why")
    shutil.copy(found, tmp_path / "loadgen")
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/hosts").write_text(f"127.0.0.1 {NAME}\n")
    (tmp_path / "etc/nsswitch.conf").write_text("hosts: of-another-library\n")
    with Server(Mode.OK) as server:
        url = f"http://{NAME}:{server.port}/"
        done = subprocess.run(
            ["chroot", str(tmp_path), "/loadgen", "-c", "2", "-d", "200ms", "--json", "-", url],
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["requests"]["ok"] > 0
