"""A run as Markdown with every gate, column and note, for a README, a wiki, a pull request or a CI job summary."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from httpbench.analysis.compared import composite_of
from httpbench.analysis.gates import RunGate, gated
from httpbench.analysis.groups import groups
from httpbench.analysis.profiles import Profiled, grown_in
from httpbench.analysis.rows import Group
from httpbench.model import Run, Search, Table, Trial
from httpbench.report.markdown.parts import escape, fenced, pipe_table
from httpbench.report.words import curves, loads, notes, profiles, tables
from httpbench.report.words.claims import claims
from httpbench.report.words.columns import Column, columns
from httpbench.report.words.gates import gate_place, gate_sentence, interval_text, ratio_text
from httpbench.report.words.run import origin, precision
from httpbench.stats.level import saturation

CURVE_COLUMNS = 100


def render_markdown(run: Run, trials: Sequence[Trial]) -> str:
    """Render the tables of a run. The text ends with a line break."""
    if run.search:
        return "\n".join(_search(run.search, run, trials)).strip() + "\n"
    found = groups(run, trials)
    every = columns(found, run.table)
    grown = grown_in(run)
    lines = list(_gates(gated(run, trials)))
    for group in found:
        lines += [*_section(group, every), *_overhead(group, run), *_claims([*claims(run, group), *profiles.changes_in(run, grown, group)])]
    lines += _profiles(run, found)
    lines += _composite(trials)
    lines += _claims(precision(run, trials))
    lines += [f"- {escape(line)}" for line in notes.legend(found, run.table)]
    lines += ["", *(f"{escape(line)}  " for line in origin(run, trials))]
    return "\n".join(lines).strip() + "\n"


def _gates(judged: Sequence[RunGate]) -> Iterator[str]:
    """Yield the result of each gate. Gates come first, because people who read the output of a CI job look for them first."""
    if not judged:
        return
    yield from ("### Gates", "")
    rows = [[str(each.gate), str(each.passage), ratio_text(each.ratio), interval_text(each.interval), gate_place(each)] for each in judged]
    yield from pipe_table(("Gate", "Result", "Change", "95% interval", "Where"), (False, False, True, True, False), rows)
    yield ""
    unknown = [f"- {escape(gate_sentence(each))}" for each in judged if each.obstacle]
    yield from (*unknown, "") if unknown else ()


def _section(group: Group, every: Sequence[Column]) -> Iterator[str]:
    yield from (f"### {escape(loads.title(group))}", "", escape(loads.method(group)), "")
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


def _overhead(group: Group, run: Run) -> Iterator[str]:
    table = tables.overhead_table(group, run.baseline) if run.table is Table.TCP_PROXIES else None
    if table is not None:
        columns, rows = table
        yield from (f"#### {tables.OVERHEAD}", "")
        texts = [[column.text(row) for column in columns] for row in rows]
        yield from pipe_table([column.heading for column in columns], [column.is_number for column in columns], texts)
        yield from ("", escape(tables.OVERHEAD_MEANING), "")


def _profiles(run: Run, found: Sequence[Group]) -> Iterator[str]:
    """Yield the functions of each profile, with the overhead of the profiler."""
    for profiled in map(Profiled, run.profiles):
        table = profiles.functions(profiled)
        if not table.rows:
            continue
        yield from (f"#### Functions of {escape(profiles.place_text(run, profiled))}", "", escape(profiles.method(profiled)), "")
        yield from pipe_table(table.headings, table.is_number, table.rows)
        overhead = profiles.overhead_text(profiled, found)
        yield from ("", " ".join(filter(None, (f"By area: {profiles.shares(profiled)}.", overhead))), "")
    if run.profiles:
        yield from (f"- {escape(line)}" for line in profiles.TABLE_MEANING)


def _composite(trials: Sequence[Trial]) -> Iterator[str]:
    if found := composite_of(trials):
        table = tables.composite_table(found)
        yield from (f"### {escape(tables.COMPOSITE)}", "")
        yield from pipe_table(table.headings, table.is_number, table.rows)
        yield from ("", escape(tables.composite_note(found)), "")


def _claims(sentences: Sequence[str]) -> list[str]:
    """Return a paragraph of bold lines."""
    return [*(f"**{escape(sentence)}**  " for sentence in sentences), ""] if sentences else []


def _search(search: Search, run: Run, trials: Sequence[Trial]) -> Iterator[str]:
    """Yield the curve as a code block, the table of rates, and the result."""
    result = saturation(search, trials)
    table = curves.table(result, curves.figures(search))
    yield f"### {escape(curves.title(run, trials))}"
    yield from ("", escape(curves.method(search, trials)), "")
    yield from fenced("\n".join(curves.curve(search, result, CURVE_COLUMNS)))
    yield from ("", *pipe_table(table.headings, [heading != curves.WHY_NOT for heading in table.headings], table.rows), "")
    yield from _claims(curves.sentences(search, result, trials, run.status))
    yield from (f"{escape(line)}  " for line in origin(run, trials))
