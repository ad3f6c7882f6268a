"""Tests that help, completion and usage errors import neither models nor heavy libraries."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from httpbench.cli.main import cli

HEAVY = {"altair", "asyncio", "dask", "distributed", "hdrh", "numpy", "psutil", "pydantic", "rich", "scipy", "sqlite3"}

LIGHT = {"cli", "errors", "paths", "text"}
"""Packages and modules of httpbench that help, completion and usage errors may import."""

WORDS = ["--help", "--version", "nosuch", "--nosuch", *(f"{verb} --help" for verb in cli.commands)]
WORDS += ["bench --nosuch", "bench -d soon", "bench --kind mouse", "saturate --slo p98<1ms", "compare --fail-if fast", "runs -n 0"]

LINES = ["httpbench ve", "httpbench bench --qu", "httpbench bench c/epo", "httpbench bench --kind s"]

PROGRAM = """
import atexit, sys
from httpbench.cli import main
atexit.register(lambda: print("\\nloaded", *sys.modules))
main()
"""


def loaded(*words: str, **env: str) -> list[str]:
    """Run the command and return the modules that it has imported."""
    argv = [sys.executable, "-c", PROGRAM, *words]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=60, env={**os.environ, **env})
    return done.stdout.splitlines()[-1].split()


def heavy(modules: list[str]) -> set[str]:
    ours = {name.split(".")[1] for name in modules if name.startswith("httpbench.")}
    return (HEAVY & {name.split(".")[0] for name in modules}) | (ours - LIGHT)


@pytest.mark.parametrize("words", WORDS)
def test_help_and_usage_errors_import_nothing_heavy(words: str) -> None:
    assert heavy(loaded(*words.split())) == set()


@pytest.mark.parametrize("line", LINES)
def test_completion_imports_nothing_heavy(line: str) -> None:
    modules = loaded(_HTTPBENCH_COMPLETE="bash_complete", COMP_WORDS=line, COMP_CWORD=str(len(line.split()) - 1))
    assert heavy(modules) == set()


def test_the_package_runs_as_a_program() -> None:
    done = subprocess.run([sys.executable, "-m", "httpbench", "--version"], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.startswith("httpbench ")


def test_the_list_of_verbs_imports_no_verb() -> None:
    ours = {name for name in loaded("--help") if name.startswith("httpbench.")}
    own = {f"httpbench.cli.{name}" for name in ("exit_codes", "lazy", "main", "options", "options.foreign", "terminal", "terminal.console")}
    assert ours == {"httpbench.cli", *own, "httpbench.errors", "httpbench.text"}


def test_scipy_is_imported_only_for_a_distribution() -> None:
    program = "import sys, httpbench.cli.measure, httpbench.report; print('scipy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "False"
