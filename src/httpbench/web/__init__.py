"""The dashboard over everything that was measured: pages made on the server, from the store alone.

``site`` makes pages from paths, and knows nothing of HTTP. ``app`` serves them, ``guard`` decides who may ask, ``live`` sends the
changes of a run in progress, and ``export`` writes the same pages as files. They require the extra «dashboard».
"""

from __future__ import annotations

import importlib.util

from httpbench.errors import UsageError

PACKAGES = ("altair", "jinja2", "starlette", "uvicorn", "vl_convert")


def check_dashboard() -> None:
    """Raises :class:`UsageError` where the extra is not installed."""
    if missing := [name for name in PACKAGES if importlib.util.find_spec(name) is None]:
        raise UsageError(
            f"the dashboard requires packages that are missing: {', '.join(missing)}", hint="pip install 'httpbench[dashboard]'"
        )
