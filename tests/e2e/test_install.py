"""``pip install .`` gives the command and the load generator, with the catalog inside."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from httpbench.catalog import root


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_an_installed_package_is_whole(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "venv")], check=True)
    bin_folder = tmp_path / "venv" / "bin"
    subprocess.run([str(bin_folder / "pip"), "install", "--quiet", "--disable-pip-version-check", str(root())], check=True)

    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    env |= {"XDG_DATA_HOME": str(tmp_path / "data"), "PATH": f"{bin_folder}:{env['PATH']}"}

    def run(*argv: str) -> str:
        return subprocess.run(argv, cwd=tmp_path, env=env, check=True, capture_output=True, text=True).stdout

    assert run("httpbench", "--version").startswith("httpbench ")
    for program in ("httpbench-loadgen", "httpbench-reference", "httpbench-timer"):
        assert run(program, "--version").startswith(f"{program} ")
    rows = {row["id"] for row in json.loads(run("httpbench", "list", "--json"))}
    assert {"c/epoll/level", "proxy:c/haproxy", "client:rust/hyper"} <= rows
    measured = run(
        "httpbench",
        "bench",
        "c/epoll/level",
        "-c",
        "8",
        "-d",
        "300ms",
        "--warmup",
        "100ms",
        "--rounds",
        "1",
        "--retries",
        "0",
        "--export-json",
        "-",
    )
    (result,) = json.loads(measured)["results"]
    assert result["rounds"][0]["measurement"]["throughput_rps"] > 0
