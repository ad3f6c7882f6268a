"""Changes from one run to another as Markdown, for a pull request."""

from __future__ import annotations

from httpbench.analysis.changes import Changes
from httpbench.report.markdown.parts import escape, pipe_table
from httpbench.report.words.changes import banner, notes, origins, table, verdict_changes
from httpbench.report.words.gates import change_gate_sentences, other_growth_sentences


def render_changes_markdown(found: Changes) -> str:
    """Render the changes. The text ends with a line break."""
    lines = ["### httpbench: base → head", ""]
    for line in banner(found):
        lines += [f"> **{escape(line)}**", ""]
    lines += [*(f"{escape(line)}  " for line in origins(found)), ""]
    if found.cells:
        header, rows = table(found)
        lines += [*pipe_table(header, [False] * len(header), rows), ""]
    sentences = (*change_gate_sentences(found), *other_growth_sentences(found), *verdict_changes(found))
    lines += [f"**{escape(line)}**  " for line in sentences]
    lines += ["", *(f"- {escape(line)}" for line in notes(found))]
    return "\n".join(lines).strip() + "\n"
