"""The results committed to this repository, each read once per process."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from httpbench.model import Run, Trial
from httpbench.paths import root
from httpbench.report.data.read_json import read_export
from tools.results.folder import DATA

FOLDERS = sorted(path.parent for path in (root() / "results").glob(f"*/*/{DATA}"))


@cache
def results(folder: Path) -> tuple[Run, tuple[Trial, ...]]:
    run, trials = read_export(folder / DATA)
    return run, tuple(trials)
