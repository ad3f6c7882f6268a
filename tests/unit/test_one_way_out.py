"""Tests that httpbench prints only through ``cli/terminal/console.py``, which escapes text from servers."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCES = Path(__file__).parents[2] / "src" / "httpbench"

WAYS = {"print", "input", "Console", "click.echo", "click.secho", "click.style", "click.echo_via_pager", "os.write", "rich.print"}
STREAMS = {"sys.stdout", "sys.stderr", "sys.__stdout__", "sys.__stderr__"}
MODULES = {"logging", "warnings", "pprint", "rich.progress", "rich.prompt", "rich.logging", "rich.pretty", "rich.traceback"}
FILES = {"write_text", "write_bytes", "save"}
"""Methods that write files. The test looks for them only in ``cli`` and ``report``, which write the files that people read."""

ALLOWED: dict[str, set[str]] = {
    "cli/terminal/console.py": {"click.echo", "click.style", "sys.stdout", "sys.stderr", "write_text"},
    "cli/options/output.py": {"save"},  # the console's method
    "cli/verbs/completion.py": {"save"},  # the console's method
    "cli/verbs/explore.py": {"save"},  # the console's method
    "cli/main.py": {"sys.stdout", "sys.stderr"},  # sets their encoding
    "cli/__init__.py": {"print", "sys.stderr"},  # prints one word before other modules are loaded
    "cluster/dask/conductor.py": {"print", "sys.stderr", "sys.stdout"},  # a separate process that prints for the harness
    "cluster/dask/hosts.py": {"logging", "warnings"},  # silences Dask
    "cluster/dask/node.py": {"print", "logging", "warnings"},  # a program on another host that prints for the harness
    "report/charts/__init__.py": {"save"},  # calls the function in theme.py
    "report/charts/theme.py": {"save", "write_text", "write_bytes"},  # charts contain only ids and numbers
    "host/tools/packages.py": {"sys.stderr"},  # apt-get writes to it
    "isolate/agent.py": {"sys.stdout", "os.write"},  # a program on another host that prints for the harness, and passes orders on
    "isolate/burner.py": {"print"},  # a separate process that prints for the harness
    "isolate/guard.py": {"os.write"},  # a separate process whose pipes and logs the harness reads
    "profile/counters.py": {"os.write"},  # sends orders to perf
    "run/load/place.py": {"os.write"},  # sends orders to a load generator
    "run/slices/sampling.py": {"os.write"},  # sends orders to perf
}


def ways_out(source: str, *, writes_files: bool) -> Iterator[str]:
    """Yield each way in which a module prints, writes files or accesses a stream."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(func=ast.Name(id=name)) if name in WAYS:
                yield name
            case ast.Call(func=ast.Attribute(attr=name)) if writes_files and name in FILES:
                yield name
            case ast.Call(func=ast.Attribute(attr="Console")):
                yield "Console"
            case ast.Attribute(value=ast.Name(id=module), attr=name) if f"{module}.{name}" in WAYS | STREAMS:
                yield f"{module}.{name}"
            case ast.Import(names=names):
                yield from (alias.name for alias in names if alias.name in MODULES)
            case ast.ImportFrom(module=str(module), names=names):
                whole = {module, *(f"{module}.{alias.name}" for alias in names)}
                yield from sorted(whole & (WAYS | STREAMS | MODULES))


@pytest.mark.parametrize(
    "source",
    [
        "print('x')",
        "import click\nclick.echo('x')",
        "from click import echo",
        "import sys\nsys.stderr.write('x')",
        "from sys import stdout",
        "from rich.console import Console\nConsole().print('x')",
        "import rich.console\nrich.console.Console()",
        "from rich import print",
        "from rich.progress import track",
        "import logging",
        "import os\nos.write(1, b'x')",
        "path.write_text('x')",
    ],
)
def test_printing_is_detected(source: str) -> None:
    assert list(ways_out(source, writes_files=True))


def test_only_the_console_prints_and_writes_files_for_people() -> None:
    found: dict[str, set[str]] = {}
    for path in sorted(SOURCES.rglob("*.py")):
        name = path.relative_to(SOURCES).as_posix()
        ways = set(ways_out(path.read_text(encoding="utf-8"), writes_files=name.startswith(("cli/", "report/"))))
        if ways:
            found[name] = ways
    assert found == ALLOWED
