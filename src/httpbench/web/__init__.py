"""The dashboard: pages about all runs in the store, rendered on the server.

``site`` makes pages from paths and doesn't depend on HTTP. ``app`` serves the pages and sends the progress of running benchmarks, ``guard``
checks requests, and ``export`` writes the pages to files. All of these modules require the extra ``dashboard``.
"""

from __future__ import annotations

import importlib.util

from httpbench.errors import UsageError

PACKAGES = ("altair", "jinja2", "starlette", "uvicorn", "vl_convert")


def check_dashboard() -> None:
    """Raise :class:`UsageError` if the extra is not installed."""
    if missing := [name for name in PACKAGES if importlib.util.find_spec(name) is None]:
        raise UsageError(
            f"the dashboard requires packages that are missing: {', '.join(missing)}", hint="pip install 'httpbench[dashboard]'"
        )
