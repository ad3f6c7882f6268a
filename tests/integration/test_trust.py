"""Tests that commands in an untrusted folder don't run until the user starts the folder's targets."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.harness import Harness

MANIFEST = """
kind = "server"
language = "c"
framework = "strange"
category = "micro"
upstream = "https://example.org/"
version = ["touch", "{marker}"]

[[requires]]
program = "sh"
version = "1"
version_command = ["sh", "-c", "touch {marker}; echo 2.0"]
apt = ["dash"]

[[requires]]
program = "deploy"
apt = ["deploy"]

[[variant]]
run = ["./server", "{{port}}"]
"""


@pytest.fixture
def marker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "theirs" / "strange"
    folder.mkdir(parents=True)
    (folder / "target.toml").write_text(MANIFEST.format(marker=tmp_path / "marker"))
    program = tmp_path / "deploy"
    program.write_text(f"#!/bin/sh\ntouch {tmp_path}/marker\necho 1.0\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    return tmp_path / "marker"


@pytest.mark.parametrize("words", [("list",), ("list", "--json"), ("bench", "--dry-run")])
def test_listing_an_untrusted_folder_runs_no_program_that_it_names(harness: Harness, marker: Path, words: tuple[str, ...]) -> None:
    done = harness.run(*words, "--targets", str(marker.parent / "theirs"), "c/strange")
    assert done.returncode == 0, done.stderr
    assert "c/strange" in done.stdout
    assert not marker.exists()


def test_unchecked_versions_are_listed(harness: Harness, marker: Path) -> None:
    folder = str(marker.parent / "theirs")
    assert (
        "version not checked, because list runs no program that a --targets folder names: sh ≥ 1"
        in harness.run("list", "--targets", folder, "c/strange").stderr
    )
    (entry,) = json.loads(harness.run("list", "--targets", folder, "--json", "c/strange").stdout)
    assert entry["unchecked"] == ["sh ≥ 1"]


def test_a_verb_that_runs_the_target_runs_its_version_command(harness: Harness, marker: Path) -> None:
    harness.run("build", "--targets", str(marker.parent / "theirs"), "c/strange")
    assert marker.exists()
