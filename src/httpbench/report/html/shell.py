"""The frame of every page: style sheet, Content-Security-Policy, and how texts become markup.

Texts reach a template as they are. It escapes every one, and what a browser or a terminal would obey (control characters, bidirectional
overrides) becomes an escape first.
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
"""No script, no request, no style but the one of the page. ``img-src``: the empty icon, without which a browser asks for one."""

OWN = "httpbench.report.html"

LINES = ("solid", "dashed", "dotted", "double")
"""As ``DASHES`` of charts, in the words of CSS."""


def render(template: str, context: Mapping[str, Any], *, folders: tuple[str, ...] = (), policy: str = POLICY) -> str:
    """A whole page. Ends with a line break.

    ``folders``: packages whose templates and ``style.css`` are added. ``policy`` has a place for the hash of the style.
    """
    style = _style(folders)
    found = policy.format(base64.b64encode(hashlib.sha256(style.encode()).digest()).decode())
    return templates(folders).get_template(template).render(context, policy=found, style=Markup(style)).strip() + "\n"


@cache
def templates(folders: tuple[str, ...] = ()) -> Environment:
    """Those of a report, and of further packages: every text that they show is escaped."""
    return Environment(
        loader=ChoiceLoader([PackageLoader(name, ".") for name in (OWN, *folders)]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
    )


def _shown(value: Any) -> Any:
    """What is already markup was made from texts that went this way, or by vega."""
    return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value


@cache
def _style(folders: tuple[str, ...]) -> str:
    own = "".join(PackageLoader(name, ".").get_source(templates(), "style.css")[0] for name in (OWN, *folders))
    numbers = range(1, theme.SERIES_MAX + 1)
    hidden = "\n".join(f"figure:has(.s{number}:not(:checked)) {{ --series-{number}: transparent }}" for number in numbers)
    swatches = "\n".join(f".s{number} + span {{ border-bottom: 3px {_line(number)} var(--series-{number}) }}" for number in numbers)
    return f"{theme.style()}{own}{hidden}\n{swatches}\n"


def _line(number: int) -> str:
    """The style of a border that stands for the dashes of a line."""
    return LINES[(number - 1) // len(theme.LIGHT["hues"]) % len(LINES)]
