"""Tests of the program to copy to a load host: built by cargo in a checkout, or the local one."""

from __future__ import annotations

import platform
from pathlib import Path

import pytest

from httpbench.cluster import remote_programs
from httpbench.cluster.remote_programs import portable
from httpbench.errors import UsageError
from tests.programs import program

HERE = platform.machine()
OTHER = next(machine for machine in remote_programs.MACHINES if machine != HERE)


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a checkout in which cargo can build for this machine's architecture only."""
    (tmp_path / "Cargo.toml").touch()
    own = tmp_path / "target/release/httpbench-loadgen"
    own.parent.mkdir(parents=True)
    own.touch()
    folder = tmp_path / f"target/{HERE}-unknown-linux-gnu/release"
    builds = f"mkdir -p {folder}; echo built >{folder}/httpbench-loadgen"
    (tmp_path / "bin").mkdir()
    program(tmp_path / "bin", "cargo", f'echo "$PWD $*" >>{tmp_path}/calls; case "$*" in *{HERE}*) {builds};; *) exit 1;; esac')
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    return tmp_path


def test_a_checkout_builds_the_program(checkout: Path) -> None:
    said: list[str] = []
    own = checkout / "target/release/httpbench-loadgen"
    assert portable(own, HERE, said.append).read_text() == "built\n"
    assert said == ["building httpbench-loadgen for load hosts, once; this takes a minute or two"]
    portable(own, HERE, said.append)
    assert len(said) == 1
    calls = (checkout / "calls").read_text().splitlines()
    assert len(calls) == 2, "cargo knows whether it is up to date"
    assert calls[0] == f"{checkout} static --quiet --target {HERE}-unknown-linux-gnu --target-dir {checkout / 'target'}"


def test_the_local_program_is_used_if_the_build_fails(checkout: Path) -> None:
    own = checkout / "target/release/httpbench-loadgen"
    portable(own, HERE, print)
    program(checkout / "bin", "cargo", "exit 1")
    assert portable(own, HERE, print) == own


def test_a_build_for_another_architecture_is_used(checkout: Path) -> None:
    own = checkout / "target/release/httpbench-loadgen"
    with pytest.raises(UsageError, match=f"httpbench-loadgen is not built for {OTHER} here"):
        portable(own, OTHER, print)
    built = checkout / f"target/{OTHER}-unknown-linux-gnu/release/httpbench-loadgen"
    built.parent.mkdir(parents=True)
    built.touch()
    assert portable(own, OTHER, print) == built


def test_an_installed_program_is_copied_as_it_is(tmp_path: Path) -> None:
    own = tmp_path / "bin/httpbench-loadgen"
    assert portable(own, HERE, print) == own


def test_an_unsupported_architecture_gives_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="httpbench-loadgen runs on x86_64 and aarch64, not on riscv64"):
        portable(tmp_path / "httpbench-loadgen", "riscv64", print)
