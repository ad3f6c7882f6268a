"""Build the packages of a release and install the wheel in an environment without Rust, as a user would."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests import packages

PROGRAMS = ("httpbench-loadgen", "httpbench-reference", "httpbench-timer")
SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin"


def environment(folder: Path) -> Path:
    """Create a virtual environment and return the folder with its programs."""
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    return folder / "bin"


def members(archive: Path) -> set[str]:
    """Return the files of a source package, without its folder."""
    with tarfile.open(archive) as source:
        return {name.partition("/")[2] for name in source.getnames()}


def pip(programs: Path, *words: str) -> None:
    subprocess.run([str(programs / "pip"), *words, "--quiet", "--disable-pip-version-check"], check=True)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_the_packages_of_a_release_are_complete_and_the_wheel_installs(tmp_path: Path) -> None:
    """Check all packages in one test, because two tests on two workers could build them twice, which takes minutes."""
    folder = packages.built()
    (wheel,) = folder.glob(f"httpbench-*-py3-none-manylinux_*.musllinux_*_{platform.machine()}.whl")
    (source,) = folder.glob("httpbench-*.*.*[0-9].tar.gz")
    (crate,) = folder.glob("httpbench-loadgen-*.crate")
    (program,) = folder.glob(f"httpbench-loadgen-{platform.machine()}-linux.tar.gz")
    _check_contents(source, wheel)
    assert {"Cargo.lock", "LICENSE", "README.md", "src/main.rs"} <= members(crate)
    _check_program(program, tmp_path)
    _check_installation(wheel, tmp_path)


def _check_contents(source_file: Path, wheel_file: Path) -> None:
    files = members(source_file)
    assert {"LICENSE", "Cargo.lock", "targets/verified.toml", "suites/quick.toml", "src/httpbench/cli/main.py"} <= files
    assert not {name for name in files if name.startswith(("target/", ".venv/", "tests/")) or "__pycache__" in name}
    with zipfile.ZipFile(wheel_file) as wheel:
        names = wheel.namelist()
    assert [name for name in names if name.endswith("httpbench/data/targets/verified.toml")]
    for file in ("report/html/page.html", "report/html/style.css", "load/npm/package-lock.json"):
        assert any(name.endswith(f"httpbench/{file}") for name in names), file
    assert all(any(name.endswith(f".data/scripts/{program}") for name in names) for program in PROGRAMS)


def _check_program(archive: Path, tmp_path: Path) -> None:
    """Check that the load generator runs without a C library, in a root folder that contains nothing else."""
    with tarfile.open(archive) as program:
        program.extractall(tmp_path / "alone", filter="data")
    argv = ["/httpbench-loadgen", "--version"]
    if os.geteuid() == 0:
        printed = subprocess.run(["chroot", str(tmp_path / "alone"), *argv], check=True, capture_output=True, text=True).stdout
        assert printed.startswith("httpbench-loadgen ")


def _check_installation(wheel: Path, tmp_path: Path) -> None:
    programs = environment(tmp_path / "venv")
    pip(programs, "install", "--only-binary", ":all:", f"{wheel}[charts]")
    home = tmp_path / "home"
    home.mkdir()
    env = {"HOME": str(home), "PATH": f"{programs}:{SYSTEM_PATH}", "LANG": "C.UTF-8"}

    def run(*argv: str) -> str:
        done = subprocess.run(argv, cwd=home, env=env, capture_output=True, text=True)
        assert done.returncode == 0, f"{argv}: {done.stderr}"
        return done.stdout

    assert run("httpbench", "--version").startswith("httpbench ")
    for program in PROGRAMS:
        assert run(program, "--version").startswith(f"{program} ")
    rows = {row["id"] for row in json.loads(run("httpbench", "list", "--json"))}
    assert {"c/epoll/level", "proxy:c/haproxy", "client:rust/hyper"} <= rows
    run("httpbench", "new", "mine", "--language", "python")
    assert (home / "mine/server.py").exists()
    run("httpbench", "completion", "bash")
    assert (home / ".local/share/bash-completion/completions/httpbench").exists()
    quick = ("-d", "300ms", "--warmup", "100ms", "--retries", "0", "--export-json", "-")  # counts disturbed trials: other tests run
    server = "python3 -m http.server {port}"
    assert len(json.loads(run("httpbench", "run", server, server, "-c", "2", "--rounds", "2", *quick))["results"]) == 2
    exported = run("httpbench", "bench", "c/epoll/level", "-c", "8", "--rounds", "1", *quick)
    (result,) = json.loads(exported)["results"]
    assert result["rounds"][0]["measurement"]["throughput_rps"] > 0
    (home / "run.json").write_text(exported, encoding="utf-8")
    assert "<svg" in run("httpbench", "report", "run.json", "--format", "html")
