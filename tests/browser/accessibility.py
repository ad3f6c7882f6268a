"""Accessibility findings of axe-core."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page


def serious_findings(page: Page, axe: Path) -> list[tuple[str, str, list[str]]]:
    """Open all collapsed sections, and return serious violations as tuples of rule, severity and elements. The page must allow scripts."""
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    page.add_script_tag(path=axe)
    found = page.evaluate("axe.run({resultTypes: ['violations']}).then(found => found.violations)")
    return [
        (one["id"], one["impact"], [node["html"][:200] for node in one["nodes"][:3]])
        for one in found
        if one["impact"] in ("serious", "critical")
    ]
