"""Tests of the Markdown page of all targets."""

from __future__ import annotations

from httpbench.report.markdown.targets import render_targets
from tests.factories import TARGETS


def test_each_kind_has_a_section_with_its_plural() -> None:
    page = render_targets(TARGETS, {}, {target.id: "0123456789ab" for target in TARGETS})
    headings = [line for line in page.splitlines() if line.startswith("## ")]
    assert headings == [f"## {name}: {count} targets" for name, count in (("Servers", 6), ("Clients", 1), ("Proxies", 1))]
