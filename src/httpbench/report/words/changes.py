"""What changed from one run to another, in words: its table, sentences and notes; and all of it as Markdown for a pull request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from httpbench.analysis.changes import Cell, Changes, Judged, Side, load_text, place
from httpbench.model import VerdictKind
from httpbench.report.markdown.run import escape, pipe_table
from httpbench.report.words.numbers import three_digits
from httpbench.stats.gates import Passage, leaves_doubt
from httpbench.stats.unpaired import Change

TITLES = {"rps": "Requests/s", "cpu": "CPU/request", "memory": "Memory", "time": "Time"}
"""Titles of figures whose name is not also their title."""

COMMIT_DIGITS = 12

TIE = "= marks no significant difference"

NOT_PAIRED = (
    "Rounds of two runs are not interleaved, so an interval covers only the noise within each run. "
    "`httpbench run BASE HEAD` measures both in one run."
)


def render_changes_markdown(found: Changes) -> str:
    """For a pull request. Ends with a line break."""
    lines = ["### httpbench: base → head", ""]
    for line in banner(found):
        lines += [f"> **{escape(line)}**", ""]
    lines += [f"{escape(origin(name, side))}  " for name, side in (("base", found.base), ("head", found.head))] + [""]
    if found.cells:
        header, rows = table(found)
        lines += [*pipe_table(header, [False] * len(header), rows), ""]
    lines += [f"**{escape(line)}**  " for line in (*gate_sentences(found), *verdict_changes(found))]
    lines += ["", *(f"- {escape(line)}" for line in notes(found))]
    return "\n".join(lines).strip() + "\n"


def gate_sentence(found: Changes, judged: Judged) -> str:
    """How a gate ended: the change with its interval, or why it could not be judged."""
    change = None if judged.cell is None else found.cells[judged.cell].figures.get(judged.gate.figure)
    if judged.passage is Passage.UNKNOWN or change is None or change.interval is None:
        return f"NOT JUDGED {judged.gate}: {judged.place}: {judged.reason}"
    low, high = change.interval.low - 1, change.interval.high - 1
    return f"{judged.passage.upper()} {judged.gate}: {judged.place}: {change.ratio - 1:+.1%}, interval {low:+.1%} to {high:+.1%}"


def banner(found: Changes) -> Iterator[str]:
    if found.environment:
        yield f"DIFFERENT ENVIRONMENTS, which may cause differences: {'; '.join(found.environment)}"


def origin(name: str, side: Side) -> str:
    parts = [f"{name}: run {side.run}", side.name, f"commit {commit_text(side.git_commit)}" if side.git_commit else None]
    return " · ".join(filter(None, (*parts, f"{side.started_at[:16].replace('T', ' ')} UTC")))


def commit_text(name: str, digits: int = COMMIT_DIGITS) -> str:
    """``0123456789ab``, or ``0123456789ab+changes``."""
    commit, plus, changes = name.partition("+")
    return commit[:digits] + plus + changes


def table(found: Changes) -> tuple[list[str], list[list[str]]]:
    names = [name for name in _names(found) if any(name in cell.figures for cell in found.cells)]
    header = ["Target", "Load", *(TITLES.get(name, name) for name in names), "Verdict"]
    rows = [
        [cell.target, load_text(cell), *(figure_text(name, cell.figures.get(name)) for name in names), verdict(cell)]
        for cell in found.cells
    ]
    return header, rows


def _names(found: Changes) -> list[str]:
    return list(dict.fromkeys(name for cell in found.cells for name in cell.figures))


def figure_text(name: str, change: Change | None) -> str:
    """``401,300 → 389,210 ×0.970 (0.961 … 0.979)``; marked if the difference is not significant."""
    if change is None:
        return ""
    values = f"{value_text(name, change.base)} → {value_text(name, change.head)}"
    if change.interval is None:
        return f"{values} ×{change.ratio:.3f}"
    low, high = change.interval.low, change.interval.high
    return f"{values} ×{change.ratio:.3f} ({low:.3f} … {high:.3f})" + ("" if change.differs else " =")


def value_text(name: str, value: float) -> str:
    if name == "rps":
        return f"{value:,.0f}"
    if name == "cpu":
        return f"{three_digits(value)} µs"
    if name == "memory":
        return f"{value / 1e6:,.1f} MB"
    return f"{three_digits(value)} s" if name == "time" else f"{three_digits(value / 1000)} ms"


def verdict(cell: Cell) -> str:
    return cell.verdict_head.value if cell.verdict_base is cell.verdict_head else f"{cell.verdict_base} → {cell.verdict_head}"


def gate_sentences(found: Changes) -> Iterator[str]:
    """What failed, what could not be judged, and at last that the others passed."""
    yield from (gate_sentence(found, judged) for judged in found.gates if judged.passage is not Passage.PASSED)
    passed = [judged for judged in found.gates if judged.passage is Passage.PASSED]
    if passed:
        doubtful = sum(_leaves_doubt(found, judged) for judged in passed)
        doubt = f"; {doubtful} of them cannot exclude a change beyond the bound: more rounds narrow the interval" if doubtful else ""
        yield f"{len(passed)} of {len(found.gates)} gates passed{doubt}"


def _leaves_doubt(found: Changes, judged: Judged) -> bool:
    change = found.cells[judged.cell].figures.get(judged.gate.figure) if judged.cell is not None else None
    return change is not None and change.interval is not None and leaves_doubt(judged.gate, change.interval)


def verdict_changes(found: Changes) -> Iterator[str]:
    """Verdicts that are not those of base."""
    for cell in found.cells:
        if cell.verdict_base is not cell.verdict_head:
            reasons = f": {'; '.join(cell.reasons_head)}" if cell.reasons_head else ""
            yield f"verdict of {place(cell)}, changed from {cell.verdict_base} to {cell.verdict_head}{reasons}"


def notes(found: Changes) -> Sequence[str]:
    lines = [*found.not_compared]
    if found.toolchains:
        lines.append(f"Versions: {'; '.join(found.toolchains)}")
    bounds = {VerdictKind.GENERATOR, VerdictKind.BOTH}
    weak = [cell.target for cell in found.cells if bounds & {cell.verdict_base, cell.verdict_head}]
    if weak:
        lines.append(f"Generator-bound, so figures are not the target's alone: {', '.join(dict.fromkeys(weak))}")
    if not found.cells:
        return [*lines, "The runs share no target with the same load."]
    family = f"; those of a column hold jointly for all {len(found.cells)} lines" if len(found.cells) > 1 else ""
    return [*lines, f"Ratios are head / base with 95% intervals{family}. {TIE}.", NOT_PAIRED]


def caveat(found: Changes) -> str:
    """What to know before a change is believed, in one line."""
    return f"{TIE}. {NOT_PAIRED.partition(', so')[0]}: `httpbench run BASE HEAD` measures both in one run."
