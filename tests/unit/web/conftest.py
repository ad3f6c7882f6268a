from __future__ import annotations

import pytest

from httpbench.web import comparisons, runs, targets


@pytest.fixture(autouse=True)
def _empty_charts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Skip drawing, which takes most of the time. Charts have their own tests."""
    for module in (runs, comparisons, targets):
        monkeypatch.setattr(module, "svg_file", lambda drawing: f"<svg>{drawing.title}</svg>")
    monkeypatch.setattr(runs, "render_html", lambda run, trials: f"<!doctype html><title>report of {run.id}</title>")
