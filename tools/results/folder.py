"""Write the folder ``MACHINE/SUITE`` of one run.

The data and the list of skipped targets come from the run. The pages are generated from both, except for the hand-written part of the
analysis.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import zstandard

from httpbench.analysis.groups import groups
from httpbench.model import Run, Trial
from httpbench.report.data.read_json import read_export
from httpbench.report.html import render_html
from httpbench.report.markdown.parts import fenced
from httpbench.report.markdown.run import render_markdown
from httpbench.text import printable
from tools.results.analysis import analysis_page
from tools.results.machine import machine_name

DATA, SKIPPED, REPORT, TABLE, ANALYSIS = "run.json.zst", "skipped.txt", "report.html", "table.md", "analysis.md"
CHARTS = ("chart-light.svg", "chart-dark.svg")
LEVEL = 19
"""Compression level. It is high because the data is written once and cloned often."""


def write_folder(export: bytes, results: Path, suite: str, skipped: Sequence[str] = ()) -> Path:
    """Write the folder of a JSON export below ``results``, completely or not at all, and return it.

    ``skipped`` lists targets of the suite that were not measured, each with its reason. Raises :class:`UsageError` for an invalid export,
    and ``OSError`` if a file can't be written.
    """
    results.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=results, prefix=".new-") as name:
        new = Path(name)
        (new / DATA).write_bytes(zstandard.compress(export, LEVEL))
        if skipped:
            (new / SKIPPED).write_text("".join(f"{line}\n" for line in skipped), encoding="utf-8")
        run, _ = read_export(new / DATA)
        folder = results / machine_name(run.environment) / suite
        _write_pages(new, suite, folder)
        folder.mkdir(parents=True, exist_ok=True)
        for name in (SKIPPED, *CHARTS):
            (folder / name).unlink(missing_ok=True)
        for path in sorted(new.iterdir()):
            path.replace(folder / path.name)
    return folder


def rewrite(folder: Path) -> None:
    """Regenerate the pages of a folder from its data, using this version's rules and wording."""
    _write_pages(folder, folder.name, folder)


def _write_pages(folder: Path, suite: str, before: Path) -> None:
    """Write the pages from the data in ``folder``. The hand-written part is copied from the folder ``before``."""
    run, trials = read_export(folder / DATA)
    skipped = (folder / SKIPPED).read_text(encoding="utf-8").splitlines() if (folder / SKIPPED).exists() else []
    analysis = (before / ANALYSIS).read_text(encoding="utf-8") if (before / ANALYSIS).exists() else ""
    charts = _charts(run, trials, folder)
    texts = {
        REPORT: render_html(run, trials),
        TABLE: table_page(run, trials, suite),
        ANALYSIS: analysis_page(run, trials, suite, charts, skipped, analysis),
    }
    for file, text in texts.items():
        (folder / file).write_text(printable(text), encoding="utf-8")


def table_page(run: Run, trials: Sequence[Trial], suite: str) -> str:
    """Render all tables and notes, below the command that produced them."""
    return "\n".join([f"# {suite}", "", *fenced(f"$ {' '.join(run.command)}"), "", render_markdown(run, trials)])


def _charts(run: Run, trials: Sequence[Trial], folder: Path) -> Sequence[str]:
    """Draw the first chart of the run's first table. Return the names of its files, or an empty tuple if there is no chart."""
    charts = importlib.import_module("httpbench.report.charts.run")  # altair takes a second to load
    theme = importlib.import_module("httpbench.report.charts.theme")
    _, drawing = next(charts.of_group(run, groups(run, trials)[0]), (None, None))
    if drawing is None:
        return ()
    theme.save(drawing, folder, "chart", png=False)
    return CHARTS
