"""Tests of ``httpbench setup`` with fake package lists."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.harness import TARGETS, Harness

NEEDY = ("setup", "--targets", str(TARGETS), "test/needy")


@pytest.fixture
def debian(tmp_path: Path) -> Path:
    """Make a folder of programs that takes precedence in PATH, with an apt-get that only logs its arguments."""
    folder = tmp_path / "bin"
    folder.mkdir()
    program(folder / "apt-get", f'echo "$@" >>{folder}/log')
    return folder


def program(path: Path, script: str) -> None:
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def candidate(folder: Path, version: str) -> None:
    """Make apt-cache find this version of every package."""
    program(folder / "apt-cache", f'shift 2; for package; do printf "%s:\\n  Candidate: {version}\\n" "$package"; done')


def setup(harness: Harness, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    env = {**harness.env, "PATH": f"{folder}{os.pathsep}{harness.env['PATH']}"}
    return harness.run(*NEEDY, *words, env=env, stdin=subprocess.DEVNULL)


def test_the_commands_are_printed_but_not_run(harness: Harness, debian: Path) -> None:
    candidate(debian, "1.31.0-2")
    done = setup(harness, debian, "--print")
    assert done.returncode == 0
    assert "apt-get install --yes --quiet --no-install-recommends -- no-such-package" in done.stdout
    assert subprocess.run(["sh", "-n"], input=done.stdout, text=True, check=False).returncode == 0
    assert not (debian / "log").exists()


def test_without_a_terminal_nothing_is_installed(harness: Harness, debian: Path) -> None:
    candidate(debian, "1.31.0-2")
    program(debian / "sudo", "exit 9")
    done = setup(harness, debian)
    assert done.returncode == 2
    assert "setup requires a terminal to confirm" in done.stderr
    assert "--yes" in done.stderr
    assert not (debian / "log").exists()


def test_an_outdated_package_is_listed_with_its_target(harness: Harness, debian: Path) -> None:
    candidate(debian, "1.19-1")
    done = setup(harness, debian, "--yes")
    assert done.returncode == 1
    assert "install by hand: no-such-compiler ≥ 1.30, for test/needy (not found in PATH): " in done.stderr
    assert not (debian / "log").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="writes the policy on services, which is root's")
def test_root_sees_the_commands_and_what_is_still_missing_afterwards(harness: Harness, debian: Path) -> None:
    candidate(debian, "1.31.0-2")
    done = setup(harness, debian, "--yes")
    assert "as root:" in done.stderr
    assert (debian / "log").read_text().splitlines()[-1].endswith("no-such-package")
    assert done.returncode == 1  # this apt-get installs nothing
    assert "install by hand: no-such-compiler" in done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="writes the policy on services, which is root's")
def test_a_newly_installed_program_is_found(harness: Harness, debian: Path) -> None:
    candidate(debian, "1.31.0-2")
    program(debian / "apt-get", f"printf '#!/bin/sh\\necho 1.31.0\\n' >{debian}/no-such-compiler; chmod +x {debian}/no-such-compiler")
    done = setup(harness, debian, "--yes")
    assert done.returncode == 0, done.stderr
    assert "nothing is missing" in done.stderr


@pytest.mark.parametrize(("name", "version"), [("oha", "1.16.0"), ("perf-gauge", "0.1.20")])
def test_a_load_generator_without_a_package_is_built_into_the_users_cache(
    name: str, version: str, harness: Harness, debian: Path, tmp_path: Path
) -> None:
    """Use a fake cargo that creates the same files as the real one."""
    built = f'mkdir -p "$4/bin" && printf "#!/bin/sh\necho {name} {version}\n" >"$4/bin/{name}"'
    program(debian / "cargo", f'[ "$1" = install ] || exec echo cargo 1.95.0\n{built}')
    others = [path for path in harness.env["PATH"].split(os.pathsep) if shutil.which(name, path=path) is None]
    programs = os.pathsep.join([str(debian), *others])
    env = {**harness.env, "PATH": programs, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    words = ("setup", "--load-generator", name)
    refused = harness.run(*words, env=env, stdin=subprocess.DEVNULL)
    assert refused.returncode == 1 and "--yes" in refused.stderr
    done = harness.run(*words, "--yes", env=env, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stderr
    assert f"cargo install {name}@{version}" in done.stderr and "nothing is missing" in done.stderr
    again = harness.run(*words, env=env, stdin=subprocess.DEVNULL)
    assert again.returncode == 0 and "cargo" not in again.stderr


def test_a_load_generator_from_npm_is_installed_from_its_lock_file(harness: Harness, debian: Path, tmp_path: Path) -> None:
    """Use a fake npm that requires and creates the same files as the real one."""
    program(debian / "npm", 'cd "$3" && test -e package-lock.json && mkdir -p node_modules/.bin && touch node_modules/.bin/autocannon')
    programs = ":".join([str(debian), *(path for path in harness.env["PATH"].split(os.pathsep) if not Path(path, "autocannon").exists())])
    env = {**harness.env, "PATH": programs, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    done = harness.run("setup", "--load-generator", "autocannon", "--yes", env=env, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stderr
    assert "npm ci" in done.stderr and "nothing is missing" in done.stderr


def test_targets_are_built_ahead_and_failed_builds_are_listed(harness: Harness) -> None:
    known = ("--targets", str(TARGETS))
    done = harness.run("build", *known, "test/unbuildable", "c/epoll/level")
    assert done.returncode == 1
    assert "failed test/unbuildable: its build failed, exit code 7" in done.stdout
    assert "1 of 2 targets are built" in done.stdout
    again = harness.run("build", *known, "c/epoll/level", "test/needy", "--skip-missing")
    assert again.returncode == 0, again.stderr
    assert "building" not in again.stderr
    assert "skipped test/needy: " in again.stdout
    assert harness.run("build", *known, "test/needy").returncode == 1


def test_a_suite_in_containers_requires_the_engine_and_no_toolchain(harness: Harness, debian: Path) -> None:
    candidate(debian, "20.10.24")
    done = harness.run("setup", "--suite", "containers", "--print", env={**harness.env, "PATH": str(debian)})
    assert done.returncode == 0, done.stderr
    assert " docker.io" in done.stdout
    assert not [name for name in ("dotnet", "cargo", "golang") if name in done.stdout + done.stderr]


def test_several_suites_are_set_up_at_once(harness: Harness, debian: Path) -> None:
    candidate(debian, "20.10.24")
    done = harness.run("setup", "--suite", "containers", "--suite", "app-servers", "--print", env={**harness.env, "PATH": str(debian)})
    assert done.returncode == 0, done.stderr
    assert " docker.io" in done.stdout and " ruby" in done.stdout
