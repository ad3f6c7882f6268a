"""The results explorer: one page with the results of several runs as a matrix that readers sort and filter.

The page contains its data as JSON and one script. Its Content-Security-Policy allows only this script and the page's own style, by their
hashes, and no requests. The script arranges results and draws curves. Ranks, ratios, bounds and verdicts come from ``analysis``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import Any
from urllib.parse import quote

from markupsafe import Markup

from httpbench.analysis.evidence import memory_is_proportional
from httpbench.analysis.explorer import Explored, ExploredCell, ExploredLoad, ExploredRun, Headline, Why, explored
from httpbench.model import Kind, Target
from httpbench.report.charts.drawing import GLYPHS
from httpbench.report.html.run import answer
from httpbench.report.html.shell import render
from httpbench.report.words import loads, notes
from httpbench.report.words.columns import PARTLY, margin
from httpbench.report.words.explorer import FIGURES, HEADLINES, HIDES_STALLS, ShownFigure, absence_text, legend
from httpbench.report.words.numbers import minute, plural, rank_text
from httpbench.report.words.run import heading
from httpbench.report.words.targets import label
from httpbench.stats.summary import Estimate
from httpbench.text import printable

FOLDER = "httpbench.report.html.explorer"
"""Package with the template, the style sheet and the script."""

PLAIN = "HTTP/1.1"
"""Protocol of a load without TLS and HTTP/2."""
DIGITS = 4
"""Number of significant digits of the values, as in tables."""


def render_explorer(sources: Sequence[ExploredRun], title: str) -> str:
    """Render the page of these runs."""
    return render("explorer.html", {"base": "shell.html", **context(sources, title)}, folders=(FOLDER,), script=script())


def context(sources: Sequence[ExploredRun], title: str) -> dict[str, Any]:
    """Return the values for the template."""
    found = explored(sources)
    machines = dict.fromkeys(heading(source.run).rpartition(" · ")[2] for source in sources)
    several = f"{plural(len(sources), 'run')}, {minute(min(source.run.started_at for source in sources))} UTC and later" if sources else ""
    return {
        "title": title,
        "origin": [*([several] if several else []), *machines],
        "data": Markup(_json(_document(found))),
        "legend": list(legend(found)),
        "sources": [(source.name, source.report) for source in sources],
    }


@cache
def script() -> str:
    """Return the page's script."""
    return files(FOLDER).joinpath("explorer.js").read_text(encoding="utf-8")


def _json(value: Any) -> str:
    """Return JSON that can't end the script element that contains it."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")


def _document(found: Explored) -> dict[str, Any]:
    """Return the data of the page. Cells refer to targets and texts by their numbers."""
    texts: dict[str, int] = {}
    numbers = {name: number for number, name in enumerate(found.targets)}
    sources = list({id(load.source): load.source for load in found.loads}.values())
    keys: dict[str, int] = {}
    return {
        "figures": {name: _figure(shown) for name, shown in FIGURES.items()},
        "glyphs": {str(kind): glyph for kind, glyph in GLYPHS.items()},
        "marks": {"partly": PARTLY, "stalls": HIDES_STALLS},
        "runs": [_run(source) for source in sources],
        "targets": [_target(name, target) for name, target in found.targets.items()],
        "loads": [_load(load, sources.index(load.source), numbers, keys, texts) for load in found.loads],
        "texts": list(texts),
    }


def _figure(shown: ShownFigure) -> dict[str, Any]:
    return {"title": shown.title, "unit": shown.unit, "better": 1 if shown.is_higher_better else -1, "bound": shown.bound}


def _run(source: ExploredRun) -> dict[str, Any]:
    return {"name": printable(source.name), "heading": printable(heading(source.run)), "report": source.report}


def _target(name: str, target: Target | None) -> dict[str, Any]:
    if target is None:
        return {"id": printable(name), "name": printable(name), "language": name.rpartition(":")[2].partition("/")[0]}
    return {
        "id": printable(name),
        "name": printable(label(target)),
        "language": target.language if target.is_declared else "",
        "category": str(target.category or ""),
        "isolation": str(target.isolation.engine) if target.isolation else "process",
        "link": quote(name, safe="/:@+."),
    }


def _load(load: ExploredLoad, run: int, numbers: dict[str, int], keys: dict[str, int], texts: dict[str, int]) -> dict[str, Any]:
    group, shown = load.group, HEADLINES[load.headline]
    if load.headline is Headline.THROUGHPUT:
        shown = replace(shown, title=loads.throughput_unit(group).capitalize())
    reasons = {note.id: [*note.reasons, *([f"Hint: {note.next_step}"] if note.next_step else [])] for note in notes.row_notes(group)}
    memory = "pss_bytes_peak" if memory_is_proportional(load.source.groups) else "rss_bytes_peak"
    key = printable(f"{load.source.name} {loads.load_text(group.rows[0].summary)} {group.load_generator}")
    keys[key] = keys.get(key, 0) + 1
    workload = load.source.run.workloads.get(group.workload)
    return {
        "key": key if keys[key] == 1 else f"{key} {keys[key]}",
        "run": run,
        "parts": [printable(part) for part in loads.title(group).split(" · ")],
        "workload": printable(group.workload),
        "protocol": loads.protocol(group.load) or PLAIN,
        "kind": str(workload.kind if workload else Kind.SERVER),
        "cores": loads.scaling_words(group.scaling, group.target_cores, group.workers),
        "connections": group.load.connections,
        "family": load.family,
        "speed": _figure(shown),
        "answer": printable(answer(load.source.run, group)),
        "cells": [_cell(cell, shown.divisor, memory, numbers, reasons, texts) for cell in load.cells],
        # The page has one text for targets that the run never planned, because they are many.
        "absent": {
            numbers[name]: _number(absence_text(absence, load.source.run), texts)
            for name, absence in load.absences.items()
            if absence.why is not Why.NOT_PLANNED
        },
    }


def _cell(
    cell: ExploredCell, divisor: float, memory: str, numbers: dict[str, int], reasons: dict[str, list[str]], texts: dict[str, int]
) -> dict[str, Any]:
    """Return one cell. Fields without a value are left out."""
    row, shown, relative = cell.row, cell.row.as_measured, cell.relative
    values = {
        "speed": _median(cell.estimate, divisor),
        "relative": None if relative is None else _rounded(relative.ratio * 100),
        **{name: _median(shown.latency_estimate(name), 1000) for name in ("p50", "p99", "p99_9")},
        "cpu": _median(shown.summary.cpu_us_per_request, 1),
        "memory": _median(getattr(shown.summary, memory), 1e6),
    }
    interval = relative.interval if relative else None
    found = {
        "target": numbers[row.target.id],
        "verdict": str(row.summary.verdict.kind),
        "rank": rank_text(cell.rank) if cell.rank else None,
        "margin": margin(cell.estimate) or None,
        "ends": [_rounded(interval.low * 100), _rounded(interval.high * 100)] if interval else None,
        "leads": relative is not None and relative.interval is None and relative.ratio == 1,
        "lower": relative is not None and relative.may_be_lower,
        "higher": relative is not None and relative.may_be_higher,
        "bound": row.is_lower_bound,
        "invalid": not row.counts,
        "partly": row.counts_partly,
        "stalls": cell.hides_stalls,
        "why": [_number(text, texts) for text in reasons.get(row.target.id, ())],
        **values,
    }
    return {name: value for name, value in found.items() if value is not None and value is not False and value != []}


def _median(estimate: Estimate | None, divisor: float) -> float | None:
    return None if estimate is None else _rounded(estimate.median / divisor)


def _rounded(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")


def _number(text: str, texts: dict[str, int]) -> int:
    """Return the number of a text, so that the page contains each text once."""
    return texts.setdefault(printable(text), len(texts))
