"""The frame of all dashboard pages: navigation, style and Content-Security-Policy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from httpbench.analysis.explorer import ExploredRun
from httpbench.report.html import explorer, flame
from httpbench.report.html.shell import hash_source, render, templates
from httpbench.web import addresses

OWN = ("httpbench.web",)
"""Packages with templates and styles, in addition to those of reports."""

POLICY = (
    "default-src 'none'; style-src '{}'; img-src 'self' data:; script-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'"
)
STATIC_POLICY = "default-src 'none'; style-src '{}'; img-src 'self' data:; base-uri 'none'; form-action 'none'"
"""Policy of a static copy, which has no scripts except that of the explorer."""

POLICY_HEADER = f"{POLICY.format('unsafe-inline')}; frame-ancestors 'none'".replace(
    "script-src 'self'", f"script-src 'self' '{hash_source(explorer.script())}' '{hash_source(flame.script())}'"
)
"""Policy in the headers of every response. It allows inline styles, which pictures need, and the scripts of the explorer and of flame
graphs. Each page restricts its own styles to one hash, and allows at most the script that it contains."""


@dataclass(frozen=True, slots=True)
class Page:
    """Content of a response or of a file."""

    content: str
    media_type: str = "text/html"


class NotFound(Exception):
    """Error for a page that doesn't exist. The message names the missing object."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A renderer for the templates of the dashboard."""

    is_static: bool
    """Whether the pages are files, which have no forms, scripts or live updates."""

    def page(self, template: str, path: str, context: Mapping[str, Any]) -> Page:
        """Render a page. Its links are relative to ``path``."""
        policy = STATIC_POLICY if self.is_static else POLICY
        return Page(render(template, {"origin": (), **self._own(path), **context}, folders=OWN, policy=policy))

    def explorer(self, path: str, sources: Sequence[ExploredRun]) -> Page:
        """Render the page of the results explorer."""
        context = {"base": "site.html", **self._own(path), **explorer.context(sources, "Explorer")}
        return Page(render("explorer.html", context, folders=(*OWN, explorer.FOLDER), script=explorer.script()))

    def _own(self, path: str) -> dict[str, Any]:
        return {"here": path, "root": addresses.root(path), "addresses": addresses, "is_static": self.is_static}

    def part(self, template: str, path: str, context: Mapping[str, Any]) -> str:
        """Render a part of a page."""
        return templates(OWN).get_template(template).render({"root": addresses.root(path), "addresses": addresses, **context})

    def message(self, title: str, sentence: str) -> Page:
        """Render a page with a single sentence. Its links are absolute, because the page can appear at any address."""
        return self.page("message.html", "", {"title": title, "sentence": sentence, "root": "/"})
