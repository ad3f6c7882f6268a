"""Every target as Markdown: what it is, what it does and what it lacks. From the manifests alone, so the same on every machine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from httpbench.model import Kind, Target
from httpbench.report.formats.markdown import escape
from httpbench.report.tables.notes import LIMITS


def render_targets(targets: Iterable[Target]) -> str:
    """A section for each kind, with a paragraph for each target, by id. Ends with a line break."""
    rows = sorted(targets, key=lambda target: target.id)
    lines = [line for kind in Kind for line in _section(kind, [target for target in rows if target.kind is kind])]
    return "\n".join(lines).rstrip() + "\n"


def _section(kind: Kind, rows: list[Target]) -> Iterator[str]:
    yield f"## {kind.capitalize()}s: {len(rows)} targets"
    yield ""
    for target in rows:
        yield f"- **[{target.id}]({target.upstream})** ({target.category}, {target.tuning}, {' and '.join(target.scaling)})."
        yield from (f"  {line}" for line in _details(target))
    yield ""


def _details(target: Target) -> Iterator[str]:
    if target.notes:
        yield escape(" ".join(target.notes.split()))
    if target.limits:
        yield f"Limits: {'; '.join(f'{limit}, {escape(LIMITS[limit])}' for limit in target.limits)}."
    if target.requires:
        yield f"Requires {', '.join(escape(requirement.label) for requirement in target.requires)}."
