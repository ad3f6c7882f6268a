"""The frame of every page: the style sheet, the Content-Security-Policy, and the escaping of text.

Templates escape all text. Control characters and bidirectional overrides are first replaced by visible escapes.
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

POLICY = "default-src 'none'; style-src '{}'; img-src data:; base-uri 'none'; form-action 'none'"
"""Policy that forbids scripts, requests, and all styles except the page's own.

``img-src`` allows the page to contain an empty icon. Browsers would request an icon if the page contained none.
"""

OWN = "httpbench.report.html"

LINES = ("solid", "dashed", "dotted", "double")
"""CSS border styles that match the dashes in charts."""


def hash_source(text: str) -> str:
    """Return the hash of a script or a style sheet as a source of a Content-Security-Policy."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def render(
    template: str, context: Mapping[str, Any], *, folders: tuple[str, ...] = (), policy: str = POLICY, script: str | None = None
) -> str:
    """Render a whole page.

    ``folders`` are packages that contain more templates and a ``style.css``. ``policy`` contains a placeholder for the style sheet's hash.
    It forbids scripts, unless the page has the script that is given here.
    """
    style = _style(folders)
    if script is not None:
        policy = policy.replace("img-src", f"script-src '{hash_source(script)}'; img-src", 1)
        context = {**context, "script": Markup(script)}
    found = policy.format(hash_source(style))
    return templates(folders).get_template(template).render(context, policy=found, style=Markup(style)).strip() + "\n"


@cache
def templates(folders: tuple[str, ...] = ()) -> Environment:
    """Return the environment for the templates of reports and of the packages in ``folders``. The environment escapes all text."""
    return Environment(
        loader=ChoiceLoader([PackageLoader(name, ".") for name in (OWN, *folders)]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
    )


def _shown(value: Any) -> Any:
    """Replace control characters, except in markup, which is already safe."""
    return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value


@cache
def _style(folders: tuple[str, ...]) -> str:
    own = "".join(PackageLoader(name, ".").get_source(templates(), "style.css")[0] for name in (OWN, *folders))
    numbers = range(1, theme.SERIES_MAX + 1)
    hidden = "\n".join(f"figure:has(.s{number}:not(:checked)) {{ --series-{number}: transparent }}" for number in numbers)
    swatches = "\n".join(f".s{number} + span {{ border-bottom: 3px {_line(number)} var(--series-{number}) }}" for number in numbers)
    return f"{theme.style()}{own}{hidden}\n{swatches}\n"


def _line(number: int) -> str:
    """Return the CSS border style that matches the dashes of a chart line."""
    return LINES[(number - 1) // len(theme.LIGHT["hues"]) % len(LINES)]
