"""Tests of the cache that keeps the versions of programs between commands."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from httpbench.host import check, forget, remembering
from httpbench.host.tools import requirements
from httpbench.model import Requirement
from tests.programs import program


@pytest.fixture
def frobc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Requirement:
    """Return a requirement for a program that counts how often it runs."""
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    write(tmp_path, "1.30")
    return Requirement(program="frobc", version="1.0", install="https://example.org/install")


def write(folder: Path, version: str) -> None:
    program(folder, "frobc", f"echo run >> {folder}/runs; echo {version}")


def version_in_a_new_process(file: Path, requirement: Requirement) -> str:
    forget()
    with remembering(file):
        return str(getattr(check(requirement), "version", None))


def runs(folder: Path) -> int:
    return len((folder / "runs").read_text().splitlines())


def test_a_program_is_run_once(frobc: Requirement, tmp_path: Path) -> None:
    file = tmp_path / "cache" / "versions.json"
    assert [version_in_a_new_process(file, frobc) for _ in range(3)] == ["1.30"] * 3
    assert runs(tmp_path) == 1


def test_a_program_that_was_replaced_is_run_again(frobc: Requirement, tmp_path: Path) -> None:
    file = tmp_path / "versions.json"
    assert version_in_a_new_process(file, frobc) == "1.30"
    (tmp_path / "frobc").unlink()
    write(tmp_path, "2.0")
    assert version_in_a_new_process(file, frobc) == "2.0"


def test_a_cached_version_expires(frobc: Requirement, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "versions.json"
    version_in_a_new_process(file, frobc)
    version_in_a_new_process(file, frobc)  # using an entry does not renew it
    monkeypatch.setattr(requirements, "VALID_S", 0)
    version_in_a_new_process(file, frobc)
    assert runs(tmp_path) == 2


def test_a_run_does_not_use_the_cache(frobc: Requirement, tmp_path: Path) -> None:
    version_in_a_new_process(tmp_path / "versions.json", frobc)
    forget()
    check(frobc)
    assert runs(tmp_path) == 2


@pytest.mark.parametrize("content", ["", "{", "[1]", '[["a", ["b"], [], "1", "now"]]'])
def test_an_invalid_file_is_replaced(frobc: Requirement, tmp_path: Path, content: str) -> None:
    file = tmp_path / "versions.json"
    file.write_text(content)
    assert version_in_a_new_process(file, frobc) == "1.30"
    assert version_in_a_new_process(file, frobc) == "1.30"
    assert runs(tmp_path) == 1


def test_a_cache_that_cannot_be_written_is_not_an_error(frobc: Requirement) -> None:
    assert version_in_a_new_process(Path("/proc/no/versions.json"), frobc) == "1.30"
