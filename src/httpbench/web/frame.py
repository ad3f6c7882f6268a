"""What all pages of the dashboard have in common: links to its parts, style, and Content-Security-Policy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from httpbench.report.html.shell import render, templates
from httpbench.web import addresses

OWN = ("httpbench.web",)
"""Templates and style beyond those of a report."""

POLICY = (
    "default-src 'none'; style-src 'sha256-{}'; img-src 'self' data:; script-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'self'"
)
STATIC_POLICY = "default-src 'none'; style-src 'sha256-{}'; img-src 'self' data:; base-uri 'none'; form-action 'none'"
"""Of a static copy: it has no script."""

POLICY_HEADER = f"{POLICY.replace('sha256-{}', 'unsafe-inline')}; frame-ancestors 'none'"
"""Of every response. A page itself allows one style sheet only, by its hash; pictures have styles of their own."""


@dataclass(frozen=True, slots=True)
class Page:
    """What is sent, or written into a file."""

    content: str
    media_type: str = "text/html"


class NotFound(Exception):
    """There is no such page; the message says what is missing."""


@dataclass(frozen=True, slots=True)
class Frame:
    """Makes pages of templates."""

    is_static: bool
    """For files: without forms, scripts and what changes."""

    def page(self, template: str, path: str, context: Mapping[str, Any]) -> Page:
        """``path``: its own, which links are relative to."""
        own = {"here": path, "root": addresses.root(path), "addresses": addresses, "is_static": self.is_static}
        policy = STATIC_POLICY if self.is_static else POLICY
        return Page(render(template, {"origin": (), **own, **context}, folders=OWN, policy=policy))

    def part(self, template: str, path: str, context: Mapping[str, Any]) -> str:
        """A piece of a page."""
        return templates(OWN).get_template(template).render({"root": addresses.root(path), "addresses": addresses, **context})

    def message(self, title: str, sentence: str) -> Page:
        """A page that says one thing, in place of any other: its links lead from the root."""
        return self.page("message.html", "", {"title": title, "sentence": sentence, "root": "/"})
