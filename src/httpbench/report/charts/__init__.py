"""Charts as SVG and PNG, for light and dark pages. The extra ``charts`` installs altair, which needs no browser.

Modules that use altair are imported only when needed, because importing altair takes a second.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from httpbench.analysis.history import Series
from httpbench.errors import StoreError, UsageError
from httpbench.model import Run, Trial

PACKAGES = ("altair", "jinja2", "vl_convert")


def check_charts(what: str = "charts") -> None:
    """Raise :class:`UsageError` if the extra ``charts`` is not installed. ``what`` is the subject of the error message."""
    if any(importlib.util.find_spec(name) is None for name in PACKAGES):
        raise UsageError(f"{what} require the packages altair, jinja2 and vl-convert-python", hint="pip install 'httpbench[charts]'")


def write_charts(run: Run, trials: Sequence[Trial], folder: Path) -> list[Path]:
    """Write the charts of a run into a folder, and return the files.

    Each chart is written as SVG and PNG, for light and for dark pages. For example, ``NAME-dark.svg`` is for dark pages.

    Raise :class:`UsageError` if there is nothing to draw, and :class:`StoreError` if a file cannot be written.
    """
    check_charts()
    from httpbench.report.charts.run import of_run

    found = of_run(run, trials)
    if not found:
        what = "fewer than two rates that count" if run.search else "no valid trial"
        raise UsageError(f"run {run.id} has nothing to draw: it has {what}")
    return _write(found, folder)


def write_histories(found: Sequence[Series], folder: Path, *, everything: bool = False) -> list[Path]:
    """Write the charts of a target over many runs.

    Unless ``everything`` is true, leave out series whose environment doesn't match that of the newest series.
    """
    check_charts()
    from httpbench.report.charts import history

    drawn: dict[str, Any] = {}
    for series in found:
        if everything or not series.differs:
            add(drawn, [(history.name_of(series), history.of_series(series))])
    return _write(drawn, folder)


def add(drawn: dict[str, Any], more: Iterable[tuple[str, Any]]) -> None:
    """Add drawings to ``drawn``. If the name of a drawing is already in use, append a number to it."""
    for name, drawing in more:
        alike = sum(other == name or other.startswith(f"{name}--") for other in drawn)
        drawn[f"{name}--{alike + 1}" if alike else name] = drawing


def _write(drawn: Mapping[str, Any], folder: Path) -> list[Path]:
    from httpbench.report.charts import theme

    try:
        folder.mkdir(parents=True, exist_ok=True)
        return [path for name, drawing in drawn.items() for path in theme.save(drawing, folder, name)]
    except OSError as error:
        raise StoreError(f"the charts cannot be written to {folder}: {error.strerror or error}") from None
