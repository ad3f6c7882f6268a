"""The frame of every page: style sheet, Content-Security-Policy, and the escaping of texts.

Templates escape every text, after control characters and bidirectional overrides were replaced by visible escapes.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from functools import cache
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from httpbench.report.charts import theme
from httpbench.text import printable

POLICY = "default-src 'none'; style-src 'sha256-{}'; img-src data:; base-uri 'none'; form-action 'none'"
"""Forbids scripts, requests and all styles except that of the page. ``img-src`` allows the empty icon, which keeps browsers from requesting
one."""

OWN = "httpbench.report.html"

LINES = ("solid", "dashed", "dotted", "double")
"""CSS equivalents of the dashes in charts."""


def render(template: str, context: Mapping[str, Any], *, folders: tuple[str, ...] = (), policy: str = POLICY) -> str:
    """Render a whole page.

    ``folders`` are packages with further templates and a ``style.css``. ``policy`` has a placeholder for the hash of the style.
    """
    style = _style(folders)
    found = policy.format(base64.b64encode(hashlib.sha256(style.encode()).digest()).decode())
    return templates(folders).get_template(template).render(context, policy=found, style=Markup(style)).strip() + "\n"


@cache
def templates(folders: tuple[str, ...] = ()) -> Environment:
    """Return the templates of reports and of further packages. They escape every text."""
    return Environment(
        loader=ChoiceLoader([PackageLoader(name, ".") for name in (OWN, *folders)]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
    )


def _shown(value: Any) -> Any:
    """Replace control characters, except in markup, which was made from safe texts or by vega."""
    return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value


@cache
def _style(folders: tuple[str, ...]) -> str:
    own = "".join(PackageLoader(name, ".").get_source(templates(), "style.css")[0] for name in (OWN, *folders))
    numbers = range(1, theme.SERIES_MAX + 1)
    hidden = "\n".join(f"figure:has(.s{number}:not(:checked)) {{ --series-{number}: transparent }}" for number in numbers)
    swatches = "\n".join(f".s{number} + span {{ border-bottom: 3px {_line(number)} var(--series-{number}) }}" for number in numbers)
    return f"{theme.style()}{own}{hidden}\n{swatches}\n"


def _line(number: int) -> str:
    """Return the border style that represents the dashes of a line."""
    return LINES[(number - 1) // len(theme.LIGHT["hues"]) % len(LINES)]
