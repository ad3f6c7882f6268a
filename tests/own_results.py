"""A load generator that keeps a copy of its result. Tests can then see what each load generator printed on its host."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

from httpbench.load import programs
from tests.programs import program

LOADGEN = "httpbench-loadgen"
KEEPING = """
case "$1" in --version) exec {loadgen} --version ;; esac
{loadgen} "$@" >{folder}/$$.json
code=$?
cat {folder}/$$.json
exit $code"""


def keeping_programs(folder: Path) -> dict[str, str]:
    """Return an environment for workers whose load generators keep their results in this folder."""
    folder.mkdir()
    program(folder, LOADGEN, KEEPING.format(loadgen=shlex.quote(programs.require(LOADGEN)), folder=shlex.quote(str(folder))))
    return {programs.OVERRIDE: str(folder)}


def take_results(folder: Path) -> list[dict[str, Any]]:
    """Return the results in the folder and remove them."""
    found = []
    for path in folder.glob("*.json"):
        found.append(json.loads(path.read_text()))
        path.unlink()
    return found


def completed(results: list[dict[str, Any]]) -> int:
    """Return the number of requests in the measured windows of all load generators."""
    return sum(result["requests"]["completed"] for result in results)
