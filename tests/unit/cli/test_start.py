"""Tests that commands import neither models nor libraries that they don't need.

``benchmarks/start.py`` measures how long commands take to start. What they import doesn't depend on the machine.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from httpbench.cli.main import cli
from tests.harness import MISBEHAVING_SERVER, Harness

HEAVY = {"altair", "asyncio", "dask", "distributed", "hdrh", "numpy", "psutil", "pydantic", "rich", "scipy", "sqlite3"}
RESULTS = {"altair", "asyncio", "dask", "h2", "hdrh", "jinja2", "numpy", "psutil", "rich", "scipy", "starlette", "zstandard"}
"""Libraries that a run needs only after its first server has started."""

LIGHT = {"cli", "errors", "paths", "text"}
"""Packages and modules of httpbench that help, completion and usage errors may import."""

WORDS = ["--help", "--version", "nosuch", "--nosuch", *(f"{verb} --help" for verb in cli.commands)]
WORDS += ["bench --nosuch", "bench -d soon", "bench --kind mouse", "saturate --slo p98<1ms", "compare --fail-if fast", "runs -n 0"]

LINES = ["httpbench ve", "httpbench bench --qu", "httpbench bench c/epo", "httpbench bench --kind s"]

PROGRAM = """
import atexit, os, sys
from httpbench.cli import main
for line in sys.stdin.read().split("\\0"):
    *env, words = line.split("\\n")
    if os.fork() == 0:
        os.environ.update(dict(pair.split("=", 1) for pair in env))
        sys.argv[1:] = words.split()
        atexit.register(lambda: print("\\nloaded", *sys.modules))
        sys.exit(main())
    os.wait()
"""
"""Runs commands, each in a fork, because starting Python and importing click take most of the time."""


def loaded(*commands: str) -> dict[str, list[str]]:
    """Run the commands, and return the modules that each has imported. Lines before a command set environment variables."""
    argv = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(argv, input="\0".join(commands), capture_output=True, text=True, check=True, timeout=60)
    found = [line.split() for line in done.stdout.splitlines() if line.startswith("loaded ")]
    return dict(zip(commands, found, strict=True))


def heavy(modules: list[str]) -> set[str]:
    ours = {name.split(".")[1] for name in modules if name.startswith("httpbench.")}
    return (HEAVY & {name.split(".")[0] for name in modules}) | (ours - LIGHT)


def test_help_and_usage_errors_import_nothing_heavy() -> None:
    assert {words: found for words, modules in loaded(*WORDS).items() if (found := heavy(modules))} == {}


def test_completion_imports_nothing_heavy() -> None:
    commands = (f"_HTTPBENCH_COMPLETE=bash_complete\nCOMP_WORDS={line}\nCOMP_CWORD={len(line.split()) - 1}\n" for line in LINES)
    assert {line: found for line, modules in loaded(*commands).items() if (found := heavy(modules))} == {}


def test_a_heavy_import_is_found() -> None:
    assert heavy(["click.core", "numpy.linalg", "httpbench.cli.main", "httpbench.model.plan"]) == {"numpy", "model"}


def test_the_package_runs_as_a_program() -> None:
    done = subprocess.run([sys.executable, "-m", "httpbench", "--version"], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.startswith("httpbench ")


def test_the_list_of_verbs_imports_no_verb() -> None:
    ours = {name for name in loaded("--help")["--help"] if name.startswith("httpbench.")}
    own = {f"httpbench.cli.{name}" for name in ("exit_codes", "lazy", "main", "options", "options.foreign", "terminal", "terminal.console")}
    assert ours == {"httpbench.cli", *own, "httpbench.errors", "httpbench.text"}


FIRST_SERVER = """
import os, sys
def watch(event, arguments):
    if event == "subprocess.Popen" and str(arguments[1][-1]).endswith("guard.py"):
        print("\\nloaded", *sys.modules, flush=True)
        os._exit(0)
sys.addaudithook(watch)
from httpbench.cli import main
main()
"""


def test_a_run_starts_its_first_server_before_it_imports_what_results_need(tmp_path: Path) -> None:
    server = f"{MISBEHAVING_SERVER} {{host}} {{port}} good"
    argv = [sys.executable, "-c", FIRST_SERVER, "run", server, server, "--name", "a", "--name", "b"]
    done = subprocess.run(argv, env=Harness(tmp_path).env, capture_output=True, text=True, check=True, timeout=60)
    modules = done.stdout.splitlines()[-1].split()
    assert "httpbench.run.server.trial" in modules, done.stderr
    assert RESULTS & {name.split(".")[0] for name in modules} == set()
    ours = {name.removeprefix("httpbench.") for name in modules if name.startswith("httpbench.")}
    assert {"catalog.catalog", "probe", "profile", "report.formats", "run.client", "run.proxy.trial"} & ours == set()
    assert {"analysis", "cluster", "web"} & {name.split(".")[0] for name in ours} == set()


def test_a_verb_without_results_imports_nothing_for_results(tmp_path: Path) -> None:
    needed: dict[str, set[str]] = {"list --json": set(), "runs": set(), "runs --json": set(), "bench c/epoll --dry-run": {"rich"}}
    folders = "".join(f"{name}={tmp_path}\n" for name in ("XDG_DATA_HOME", "XDG_STATE_HOME", "HTTPBENCH_LOCKS"))
    found = loaded(*(folders + words for words in needed)).values()
    assert [RESULTS & {name.split(".")[0] for name in modules} for modules in found] == list(needed.values())


def test_scipy_is_imported_only_for_a_distribution() -> None:
    program = "import sys, httpbench.cli.results, httpbench.report.formats; print('scipy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "False"
