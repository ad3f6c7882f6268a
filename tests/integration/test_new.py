"""Tests that a new target passes ``verify``, and that ``verify`` names the limits of one that can do less."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.harness import Harness

COMPILERS = {"c": "gcc", "go": "go", "node": "node", "python": "python3", "rust": "rustc"}


@pytest.mark.parametrize("language", ["c", "python", *(pytest.param(each, marks=pytest.mark.slow) for each in ("go", "node", "rust"))])
def test_a_new_target_passes_verify(harness: Harness, tmp_path: Path, language: str) -> None:
    if shutil.which(COMPILERS[language]) is None:
        pytest.skip(f"{COMPILERS[language]} is not installed")
    made = harness.run("new", "mine", "--language", language, cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    verify = next(line for line in made.stderr.splitlines() if line.startswith("check it: ")).removeprefix("check it: httpbench ")
    done = harness.run(*verify.split(), "--scaling", "single", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "  probe: server\n" in done.stdout
    assert len(list((tmp_path / "mine").iterdir())) == 2


@pytest.mark.slow
def test_verify_prints_the_limits_to_declare(harness: Harness, tmp_path: Path) -> None:
    harness.run("new", "mine", "--language", "python", cwd=tmp_path)
    server = tmp_path / "mine/server.py"
    server.write_text(server.read_text().replace('self.respond(b"")', "self.respond(BODY)"))
    done = harness.run("verify", "--targets", "mine", "python/mine", "--scaling", "single", cwd=tmp_path)
    assert done.returncode == 1
    assert f'write in {tmp_path}/mine/target.toml: limits = ["no-head"]\n' in done.stdout


def test_existing_files_are_not_overwritten(harness: Harness, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    done = harness.run("new", "mine", "--language", "go", cwd=tmp_path)
    assert (done.returncode, done.stderr.splitlines()[0]) == (2, "error: mine exists already")
    assert list((tmp_path / "mine").iterdir()) == []
    done = harness.run("new", "Two words", "--language", "go", cwd=tmp_path)
    assert (done.returncode, done.stderr.splitlines()[0]) == (2, "error: 'Two words' can't be part of an id")
