"""Tests with a server that tries to control the terminal through its name, log, status line, headers and bodies."""

from __future__ import annotations

import json
import shlex
import shutil
from pathlib import Path

import pytest

from tests.harness import PYTHON, TARGETS, Harness
from tests.hostile import obeyed

SHOWING = ("report --evidence", "report --export-csv -", "report --export-markdown -", "runs", "runs --json", "compare latest latest")
QUICK = ("-c", "4", "-d", "300ms", "--warmup", "100ms", "--rounds", "1")


@pytest.fixture
def command(tmp_path: Path) -> str:
    """Copy the server to a file with a hostile name and return its command line."""
    script = tmp_path / "\x1b[2Jown\u202eed ::error::x ##[error]`|<b>.py"
    shutil.copy(TARGETS / "hostile" / "server.py", script)
    return f"{PYTHON} {shlex.quote(str(script))} {{port}}"


def test_a_run_and_its_exports_are_harmless(command: str, harness: Harness, tmp_path: Path) -> None:
    done = harness.run("run", f"{command} valid", f"{command} wrong", *QUICK, "--explain", "--export-json", str(tmp_path / "run.json"))
    shown = done.stdout + done.stderr
    assert "hint:" in shown, "one of them is invalid, with its reason"
    for words in (
        "report --evidence",
        "report --export-csv -",
        "report --export-markdown -",
        "runs",
        "runs --json",
        "compare latest latest",
    ):
        again = harness.run(*words.split())
        assert again.returncode == 0, again.stderr
        shown += again.stdout + again.stderr
    assert obeyed(shown) == []
    assert obeyed((tmp_path / "run.json").read_text(encoding="utf-8")) == []
    stored = json.loads((tmp_path / "run.json").read_text(encoding="utf-8"))["results"][0]["rounds"][0]
    assert "\x1b[2J" in stored["response"]["body"], "what a program reads is what the server sent"


@pytest.mark.parametrize("words", ["responses", "verify", "probe", "probe --details", "probe --json", "list", "list --json"])
def test_verbs_that_show_a_server_are_harmless(words: str, harness: Harness) -> None:
    verb, *options = words.split()
    done = harness.run(verb, "--targets", str(TARGETS), "test/hostile", *options)
    assert "Traceback" not in done.stderr
    assert "hostile" in done.stdout + done.stderr
    assert obeyed(done.stdout + done.stderr) == []
