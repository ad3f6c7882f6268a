"""Changes from one run to another on a terminal: as percentages, or with the values of both runs."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group as Stack
from rich.console import RenderableType
from rich.text import Text

from httpbench.analysis.changes import Cell, Changes
from httpbench.report.terminal.grid import Cells, column, fitted, names_column
from httpbench.report.words import ALWAYS
from httpbench.report.words import changes as words
from httpbench.report.words.columns import View
from httpbench.report.words.gates import change_gate_sentences, other_growth_sentences
from httpbench.report.words.loads import load_parts, load_text
from httpbench.stats.figures import BY_NAME
from httpbench.stats.unpaired import Change

NAMES = ("target", "load", *BY_NAME, "verdict")
"""Column names that ``--columns`` accepts."""

UNUSUAL = ("p50",)
"""Metrics that are shown only on request, because they don't fit into 80 columns."""

NEEDS = {"memory-rest": 5, "size": 4, "memory": 2, "to-steady": 1, "cpu": 1}
"""How soon a narrow terminal omits a column; see ``Column.need``."""

SHORT = {"cpu": "CPU/req", "memory": "Mem", "memory-ready": "Mem ready", "memory-rest": "Mem after"}

LINES_MAX = 5
"""Maximum number of lines below the table, not counting gates."""


def render_changes(found: Changes, *, width: int, view: View | None = None) -> RenderableType:
    """Render the changes for a console of ``width`` columns."""
    view = view or View()
    parts: list[RenderableType] = [Text(line, style="bold yellow") for line in words.banner(found)]
    parts += map(Text, words.origins(found))
    alike, loads = _loads(found.cells)
    if alike:
        parts.append(Text(f"load: {alike}"))
    parts.append(Text())
    if found.cells:
        parts += [*fitted(_columns(found, loads, view), width), Text()]
    parts += [Text(line, style="bold") for line in change_gate_sentences(found)]
    parts += [Text(line, style="bold", overflow="fold") for line in other_growth_sentences(found)]
    if view.explain or not found.cells:
        parts += [Text(line, style="bold") for line in words.verdict_changes(found)]
        parts += [Text(f"· {line}", style="dim") for line in words.notes(found)]
    else:
        parts += [Text(line, style="dim", overflow="fold") for line in _brief(found)]
    return Stack(*parts)


def _brief(found: Changes) -> list[str]:
    lines = [*words.verdict_changes(found), *words.not_compared(found)]
    if len(lines) >= LINES_MAX:
        lines = [*lines[: LINES_MAX - 2], f"{len(lines) - LINES_MAX + 2} more notes: add --explain"]
    return [*lines, words.caveat()]


def _columns(found: Changes, loads: Sequence[str], view: View) -> list[Cells]:
    cells = found.cells
    known = {
        "target": names_column("Target", [cell.target for cell in cells]),
        "load": column("Load", [load_text(cell) for cell in cells] if view.wide else loads),
        **{name: _figures(name, cells, wide=view.wide) for name in found.figures},
        "verdict": column("Verdict", [words.verdict_text(cell) for cell in cells]),
    }
    usual = [name for name in known if name not in UNUSUAL and (name != "load" or any(loads))]
    return [known[name] for name in (known if view.wide else view.names or usual) if name in known]


def _figures(name: str, cells: Sequence[Cell], *, wide: bool) -> Cells:
    changes = [cell.figures.get(name) for cell in cells]
    texts = [Text(words.change_text(name, change) if wide else _percent(change)) for change in changes]
    need = ALWAYS if wide else NEEDS.get(name, ALWAYS)
    return Cells(words.figure_title(name), "" if wide else "%", texts, need, is_number=not wide, short=SHORT.get(name, ""))


def _percent(change: Change | None) -> str:
    """Format a change: ``-3.0 ± 0.9``, or ``= ± 0.9`` if it isn't significant."""
    if change is None:
        return ""
    if change.interval is None:
        return "unknown"
    half = (change.interval.high - change.interval.low) / 2 * 100
    return f"{f'{(change.ratio - 1) * 100:+.1f}' if change.differs else '='} ± {half:.1f}"


def _loads(cells: Sequence[Cell]) -> tuple[str, list[str]]:
    """Return the parts of the load that all cells share, and the other parts of each cell's load."""
    parts = [load_parts(cell) for cell in cells]
    is_shared = [len(set(own)) == 1 for own in zip(*parts, strict=True)]
    alike = [part for part, shared in zip(parts[0], is_shared, strict=True) if shared and part] if parts else []
    return " ".join(alike), [" ".join(part for part, shared in zip(own, is_shared, strict=True) if part and not shared) for own in parts]
