"""Build a wheel from the source distribution and install it in an environment without Rust, as a user would."""

from __future__ import annotations

import json
import platform
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

from httpbench.catalog import root

PROGRAMS = ("httpbench-loadgen", "httpbench-reference", "httpbench-timer")
SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin"


def environment(folder: Path) -> Path:
    """Create a virtual environment and return the folder with its programs."""
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    return folder / "bin"


def pip(programs: Path, *words: str) -> None:
    subprocess.run([str(programs / "pip"), *words, "--quiet", "--disable-pip-version-check"], check=True)


def distributions(folder: Path) -> tuple[Path, Path]:
    """Build the source distribution, and then build the wheel from nothing but the source distribution."""
    folder.mkdir()
    programs = environment(folder / "builder")
    pip(programs, "install", *tomllib.loads((root() / "pyproject.toml").read_text())["build-system"]["requires"])
    subprocess.run([str(programs / "python"), "-m", "hatchling", "build", "-t", "sdist", "-d", str(folder)], cwd=root(), check=True)
    (source,) = folder.glob("*.tar.gz")
    pip(programs, "wheel", "--no-deps", "--wheel-dir", str(folder), str(source))
    (wheel,) = folder.glob("httpbench-*.whl")
    return source, wheel


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_distributions_are_complete_and_the_wheel_installs(tmp_path: Path) -> None:
    """Check both distributions in one test, because two tests on two workers would build the wheel twice, which takes minutes."""
    source, wheel = distributions(tmp_path / "dist")
    _check_contents(source, wheel)
    _check_installation(wheel, tmp_path)


def _check_contents(source_file: Path, wheel_file: Path) -> None:
    with tarfile.open(source_file) as source:
        files = {name.partition("/")[2] for name in source.getnames()}
    assert {"LICENSE", "Cargo.lock", "targets/verified.toml", "suites/quick.toml", "src/httpbench/cli/main.py"} <= files
    assert not {name for name in files if name.startswith(("target/", ".venv/", "tests/")) or "__pycache__" in name}
    with zipfile.ZipFile(wheel_file) as wheel:
        names = wheel.namelist()
    assert [name for name in names if name.endswith("httpbench/data/targets/verified.toml")]
    for file in ("report/html/page.html", "report/html/style.css", "load/npm/package-lock.json"):
        assert any(name.endswith(f"httpbench/{file}") for name in names), file
    assert all(any(name.endswith(f".data/scripts/{program}") for name in names) for program in PROGRAMS)
    assert any(name.endswith(f"httpbench/data/programs/httpbench-loadgen-{platform.machine()}") for name in names)


def _check_installation(wheel: Path, tmp_path: Path) -> None:
    programs = environment(tmp_path / "venv")
    pip(programs, "install", f"{wheel}[charts]")
    home = tmp_path / "home"
    home.mkdir()
    env = {"HOME": str(home), "PATH": f"{programs}:{SYSTEM_PATH}", "LANG": "C.UTF-8"}

    def run(*argv: str) -> str:
        return subprocess.run(argv, cwd=home, env=env, check=True, capture_output=True, text=True).stdout

    assert run("httpbench", "--version").startswith("httpbench ")
    for program in PROGRAMS:
        assert run(program, "--version").startswith(f"{program} ")
    rows = {row["id"] for row in json.loads(run("httpbench", "list", "--json"))}
    assert {"c/epoll/level", "proxy:c/haproxy", "client:rust/hyper"} <= rows
    run("httpbench", "completion", "bash")
    assert (home / ".local/share/bash-completion/completions/httpbench").exists()
    quick = ("-c", "8", "-d", "300ms", "--warmup", "100ms", "--rounds", "1", "--retries", "0")
    exported = run("httpbench", "bench", "c/epoll/level", *quick, "--export-json", "-")
    (result,) = json.loads(exported)["results"]
    assert result["rounds"][0]["measurement"]["throughput_rps"] > 0
    (home / "run.json").write_text(exported, encoding="utf-8")
    assert "<svg" in run("httpbench", "report", "run.json", "--format", "html")
