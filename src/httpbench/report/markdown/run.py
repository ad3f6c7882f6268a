"""Tables as Markdown (GitHub's flavour): every gate, every column, every note; for a README, a wiki, a pull request or a job page."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from httpbench.analysis.gates import Gated, gated
from httpbench.analysis.groups import groups
from httpbench.analysis.rows import Group
from httpbench.model import Run, Search, Table, Trial
from httpbench.report.words import curves, notes
from httpbench.report.words.claims import claims, precision
from httpbench.report.words.columns import Column, columns
from httpbench.report.words.composite import COLUMNS, composite_note, composite_of, composite_rows
from httpbench.report.words.composite import TITLE as TITLE_OF_COMPOSITE
from httpbench.report.words.overhead import MEANING, TITLE, overhead_table
from httpbench.stats.level import saturation

SHORTEST_FENCE = 3
CURVE_COLUMNS = 100


def render_markdown(run: Run, trials: Sequence[Trial]) -> str:
    """The tables of a run. Ends with a line break."""
    if run.search:
        return "\n".join(_search(run.search, run, trials)).strip() + "\n"
    found = groups(run, trials)
    every = columns(found, run.table)
    lines = list(_gates(gated(run, trials)))
    lines += [line for group in found for line in (*_section(group, every), *_overhead(group, run), *_claims(claims(run, group)))]
    lines += _composite(trials)
    lines += _claims(precision(run, trials))
    lines += [f"- {escape(line)}" for line in notes.legend(found, run.table)]
    lines += ["", *(f"{escape(line)}  " for line in notes.origin(run, trials))]
    return "\n".join(lines).strip() + "\n"


def _composite(trials: Sequence[Trial]) -> Iterator[str]:
    """The composite ranking, if the run has several of TechEmpower's tests."""
    found = composite_of(trials)
    if found is not None:
        yield from (f"### {escape(TITLE_OF_COMPOSITE)}", "")
        yield from pipe_table(COLUMNS, (False, True, True), composite_rows(found))
        yield from ("", escape(composite_note(found)), "")


def pipe_table(
    header: Sequence[str], numbers: Sequence[bool], rows: Sequence[Sequence[str]], struck: Sequence[Sequence[bool]] = ()
) -> list[str]:
    """The lines of a table, its columns padded so that the source can be read too.

    ``numbers``: columns that are flush right. ``struck``: cells that are struck through; empty: none.
    """
    cells = [[escape(text) for text in row] for row in (header, *rows)]
    for row, marks in zip(cells[1:], struck, strict=False):
        row[:] = [f"~~{text}~~" if mark else text for text, mark in zip(row, marks, strict=True)]
    widths = [max(3, *(len(row[index]) for row in cells)) for index in range(len(header))]
    ruler = [("-" * (width - 1) + ":") if number else "-" * width for width, number in zip(widths, numbers, strict=True)]
    padded = [
        [text.rjust(width) if number else text.ljust(width) for text, width, number in zip(row, widths, numbers, strict=True)]
        for row in cells
    ]
    return [f"| {' | '.join(row)} |" for row in (padded[0], ruler, *padded[1:])]


def escape(text: str) -> str:
    """So that Markdown shows the text as it is, in a table's cell too."""
    text = re.sub(r"([\\|*`\[\]])", r"\\\1", text)
    return text.replace("&", "&amp;").replace("<", "&lt;").replace("\n", "<br>")


def fenced(text: str) -> list[str]:
    """A block of code, in a fence longer than any in the text."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(SHORTEST_FENCE, longest + 1)
    return [fence, *text.splitlines(), fence]


def _gates(judged: Sequence[Gated]) -> Iterator[str]:
    """How each gate ended. First, because a pipeline's reader looks for it."""
    if not judged:
        return
    yield from ("### Gates", "")
    rows = [[str(each.gate), str(each.passage), each.change_text, each.interval_text, each.place] for each in judged]
    yield from pipe_table(("Gate", "Result", "Change", "95% interval", "Where"), (False, False, True, True, False), rows)
    yield ""
    unknown = [f"- {escape(each.sentence)}" for each in judged if each.reason]
    yield from (*unknown, "") if unknown else ()


def _overhead(group: Group, run: Run) -> Iterator[str]:
    table = overhead_table(group, run.baseline) if run.table is Table.TCP_PROXIES else None
    if table is None:
        return
    yield f"#### {TITLE}"
    yield ""
    rows = [[column.text(row) for column in table.columns] for row in table.rows]
    yield from pipe_table([column.heading for column in table.columns], [column.is_number for column in table.columns], rows)
    yield ""
    yield escape(MEANING)
    yield ""


def _search(search: Search, run: Run, trials: Sequence[Trial]) -> Iterator[str]:
    """The curve as a block of code, the rates that count, and the result."""
    result = saturation(search, trials)
    header, rows = curves.table(search, result)
    yield f"### {escape(curves.title(run, trials))}"
    yield from ("", escape(curves.method(search, trials)), "")
    yield from fenced("\n".join(curves.curve(search, result, CURVE_COLUMNS)))
    yield from ("", *pipe_table(header, [True] * (len(header) - 1) + [False], rows), "")
    yield from _claims(curves.sentences(search, result, trials))
    yield from (f"{escape(line)}  " for line in notes.origin(run, trials))


def _claims(sentences: Sequence[str]) -> list[str]:
    """A paragraph of bold lines."""
    return [*(f"**{escape(sentence)}**  " for sentence in sentences), ""] if sentences else []


def _section(group: Group, every: Sequence[Column]) -> Iterator[str]:
    yield f"### {escape(notes.title(group))}"
    yield ""
    yield escape(notes.method(group))
    yield ""
    rows = [[column.shown(row) for column in every] for row in group.rows]
    struck = [[column.is_struck(row) for column in every] for row in group.rows]
    yield from pipe_table([column.heading for column in every], [column.is_number for column in every], rows, struck)
    yield ""
    row_notes = notes.row_notes(group)
    for note in row_notes:
        yield f"- **{escape(note.id)}** {note.kind}: {escape('; '.join(note.reasons))}"
        if note.next_step:
            yield f"  - hint: {note.next_step}"
        if note.log:
            yield ""
            yield from (f"  {line}" for line in fenced("\n".join(note.log)))
    if row_notes:
        yield ""
