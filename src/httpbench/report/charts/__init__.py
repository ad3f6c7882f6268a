"""Charts of a run, as SVG and PNG, each for light and for dark pages. They require the extra «charts»: altair draws, without a browser.

A new chart is a function from a run and its trials to charts by name, in a file of its own, and a line in ``_OF_TABLE``.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Mapping, Sequence
from pathlib import Path

from httpbench.errors import StoreError, UsageError
from httpbench.model import Run, Table, Trial

_OF_TABLE: Mapping[Table, str] = {
    Table.HTTP_CLIENTS: "httpbench.report.charts.clients",
    Table.TCP_PROXIES: "httpbench.report.charts.proxies",
}
"""Kind of table → module with a function ``charts``. Loaded when asked for: altair takes a second to load."""

PACKAGES = ("altair", "vl_convert")


def check_charts() -> None:
    """Raises :class:`UsageError` where the extra is not installed: checked before a run, not after it."""
    if any(importlib.util.find_spec(name) is None for name in PACKAGES):
        raise UsageError("charts require the packages altair and vl-convert-python", hint="pip install 'httpbench[charts]'")


def write_charts(run: Run, trials: Sequence[Trial], folder: Path) -> list[Path]:
    """Writes ``NAME-light.svg``, ``NAME-dark.svg`` and both as PNG into the folder, which is made; the files, in order.

    Raises :class:`UsageError` where there is nothing to draw, and :class:`StoreError` where a file cannot be written.
    """
    check_charts()
    if run.table not in _OF_TABLE:
        raise UsageError(f"no charts are available for {run.table}", hint=f"charts are available for {', '.join(_OF_TABLE)}")
    found = importlib.import_module(_OF_TABLE[run.table]).charts(run, trials)
    if not found:
        raise UsageError(f"run {run.id} has nothing to draw: it has no valid trial")
    theme = importlib.import_module("httpbench.report.charts.theme")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return [path for name, chart in found.items() for path in theme.save(chart, folder, name)]
    except OSError as error:
        raise StoreError(f"the charts cannot be written to {folder}: {error.strerror or error}") from None
