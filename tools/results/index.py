"""The index of all results: machines and suites, with one line of results for each suite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from httpbench.analysis.groups import groups
from httpbench.model import Run, Trial
from httpbench.report.data.read_json import read_export
from httpbench.report.html.run import answer
from httpbench.report.markdown.parts import escape
from httpbench.report.words.loads import title
from tools.results.folder import ANALYSIS, DATA, REPORT, TABLE
from tools.results.machine import machine_title

INTRO = """\
# Results

`make results` measured these suites and wrote these pages. Results apply only to the machine and the day they were measured on. Each
analysis states conclusions and open questions. `httpbench report results/MACHINE/SUITE/run.json.zst` shows a run again, in any format.
"""

NOTHING = "No suite was measured yet."


def read_results(results: Path) -> dict[Path, tuple[Run, list[Trial]]]:
    """Read all runs, and return them by folder. Raises :class:`UsageError` for data that can't be read."""
    return {path.parent: read_export(path) for path in sorted(results.glob(f"*/*/{DATA}"))}


def index_page(results: Path, found: Mapping[Path, tuple[Run, Sequence[Trial]]]) -> str:
    """Return the page, with a section for each machine and a line for each suite."""
    machines: dict[Path, list[Path]] = {}
    for folder in found:
        machines.setdefault(folder.parent, []).append(folder)
    lines = [INTRO] if found else [INTRO, NOTHING]
    for folders in machines.values():
        newest = max((found[folder][0] for folder in folders), key=lambda run: run.started_at)
        lines += [f"## {escape(machine_title(newest.environment))}", ""]
        lines += [*(_line(folder.relative_to(results).as_posix(), *found[folder]) for folder in folders), ""]
    return "\n".join(lines).strip() + "\n"


def _line(path: str, run: Run, trials: Sequence[Trial]) -> str:
    """Return the line of a suite, in the form ``quick, 2026-11-22: the result of its first table. Links``."""
    first, *others = groups(run, trials)
    more = f", the first of {len(others) + 1} tables" if others else ""
    shown = f"{escape(answer(run, first))} ({escape(title(first))}{more})."
    links = ", ".join(f"[{text}]({path}/{file})" for text, file in (("report", REPORT), ("tables", TABLE), ("data", DATA)))
    return f"- [**{path.partition('/')[2]}**]({path}/{ANALYSIS}), {run.started_at[:10]}: {shown} {links}"
