"""Test that the load generator for load hosts runs and resolves names on systems without a C library."""

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
def test_the_static_load_generator_runs_in_an_empty_root_folder(tmp_path: Path) -> None:
    """The folder has no C library and none of the modules that ``nsswitch.conf`` names."""
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
