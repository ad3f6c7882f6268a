"""Where the catalog's folders lie: beside the sources in a checkout, inside the package once it is installed."""

from __future__ import annotations

from pathlib import Path

PACKAGE = Path(__file__).parent.parent


def root() -> Path:
    """The folder that holds ``targets/``, ``workloads/`` and ``suites/``."""
    installed = PACKAGE / "data"
    return installed if installed.is_dir() else PACKAGE.parent.parent
