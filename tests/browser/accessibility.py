"""Accessibility findings of axe-core."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from playwright.sync_api import Page

Scheme = Literal["light", "dark"]
SCHEMES: tuple[Scheme, ...] = ("light", "dark")


def serious_findings(page: Page, axe: Path) -> list[tuple[Scheme, str, str, list[str]]]:
    """Open all collapsed sections, and return serious violations as tuples of color scheme, rule, severity and elements.

    The page must allow scripts, so its context needs ``bypass_csp``.
    """
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    page.add_script_tag(path=axe)
    return [(scheme, *finding) for scheme in SCHEMES for finding in _serious_findings_in(page, scheme)]


def _serious_findings_in(page: Page, scheme: Scheme) -> list[tuple[str, str, list[str]]]:
    page.emulate_media(color_scheme=scheme)
    found = page.evaluate("axe.run({resultTypes: ['violations']}).then(found => found.violations)")
    return [
        (one["id"], one["impact"], [node["html"][:200] for node in one["nodes"][:3]])
        for one in found
        if one["impact"] in ("serious", "critical")
    ]
