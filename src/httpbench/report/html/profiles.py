"""The section of profiles on a page: flame graphs, the largest functions, and what grew."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from httpbench.analysis.changes import Changes
from httpbench.analysis.profiles import Grown, Profiled, grown_in
from httpbench.analysis.rows import Group
from httpbench.model import Run
from httpbench.report.html import flame
from httpbench.report.html.parts import HtmlTable
from httpbench.report.html.shell import render
from httpbench.report.words import profiles as words


def of_run(run: Run, found: Sequence[Group]) -> dict[str, Any]:
    """Return the section of a run in the form that the template expects. Without profiles, it has no parts."""
    parts = [*_differences(grown_in(run), run), *(_profile(run, found, Profiled(one)) for one in run.profiles)]
    return _section(parts)


def of_changes(found: Changes) -> dict[str, Any]:
    """Return the section of two runs that profiled the same targets."""
    return _section(_differences(found.grown))


def render_with_profiles(template: str, page: dict[str, Any], section: dict[str, Any]) -> str:
    """Render a page. Only a page with profiles contains the script of flame graphs, which its policy allows."""
    context = {**page, "profiles": section}
    if not section["parts"]:
        return render(template, context)
    return render(template, context, folders=(flame.FOLDER,), script=flame.script())


def _section(parts: Iterable[dict[str, Any]]) -> dict[str, Any]:
    return {
        "parts": list(parts),
        "areas": list(words.AREAS.items()),
        "changes": list(zip(flame.CHANGE_COLORS, words.DIFFERENCES, strict=True)),
        "help": words.KEYS,
        "meaning": [words.GRAPH_MEANING, *words.TABLE_MEANING],
    }


def _differences(found: Sequence[Grown], run: Run | None = None) -> Iterator[dict[str, Any]]:
    for one in found:
        title = words.difference_title(one, run)
        yield {
            "title": title,
            "method": words.difference_method(one, run),
            "sentences": [*words.what_changed(one), *words.vanished(one)],
            "graph": flame.differential(one, title),
            "table": None,
        }


def _profile(run: Run, found: Sequence[Group], profiled: Profiled) -> dict[str, Any]:
    title, table = words.place_text(run, profiled), words.functions(profiled)
    overhead = words.overhead_text(profiled, found)
    sentences = [f"By area: {words.shares(profiled)}", *([overhead] if overhead else [])] if table.rows else [words.EMPTY]
    return {
        "title": title,
        "method": words.method(profiled),
        "sentences": sentences,
        "graph": flame.graph(profiled, title),
        "table": HtmlTable.of(f"Functions of {title}", table.headings, table.rows),
    }
