"""Run every command of docs/tutorial.md in order, with shorter trials."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from httpbench.paths import root
from tests.harness import PYTHON, Harness

SHORTER = {
    "run": ("-d", "300ms", "--warmup", "100ms", "--retries", "0"),
    "noise": ("--rounds", "3", "-d", "200ms", "--retries", "0"),
    "saturate": ("-d", "300ms", "--warmup", "100ms", "--max-trials", "6"),
}
"""Options added to the commands of each verb. They come last, so they override the page's options."""

MAY_FAIL = ("saturate",)
"""Verbs that may fail. There are only a few short trials, so `saturate` might not find a sustainable rate."""


def blocks(language: str) -> list[str]:
    tokens = MarkdownIt("commonmark").parse((root() / "docs" / "tutorial.md").read_text(encoding="utf-8"))
    return [token.content for token in tokens if token.type == "fence" and token.info == language]


def commands() -> list[str]:
    return [line.removeprefix("$ ") for block in blocks("console") for line in block.splitlines() if line.startswith("$ ")]


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_every_command_works(harness: Harness, tmp_path: Path) -> None:
    (program,) = blocks("python")
    (tmp_path / "server.py").write_text(program)
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()
    own = bin_folder / "httpbench"
    own.write_text(f'#!/bin/sh\nexec {PYTHON} -m httpbench "$@"\n')
    own.chmod(0o755)
    env = {**harness.env, "PATH": f"{bin_folder}:{harness.env['PATH']}"}
    assert shutil.which("python3", path=env["PATH"])
    for line in commands():
        if not line.startswith("httpbench "):
            continue  # the test has already done the setup
        verb = line.split()[1]
        words = " ".join([line, *SHORTER.get(verb, ())])
        words = re.sub(r"--precision \S+", "--precision 50% --min-rounds 3", words)
        done = subprocess.run(words, shell=True, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0 or verb in MAY_FAIL, f"{line}\n{done.stdout}\n{done.stderr}"
    assert (tmp_path / "claim.md").stat().st_size and (tmp_path / "claim.json").stat().st_size
