"""Test that export files are checked before a run, not after it."""

from __future__ import annotations

from pathlib import Path

import pytest

from httpbench.cli.options.output import Exports
from httpbench.errors import UsageError
from httpbench.report import charts


def test_the_packages_for_html_are_checked_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page, table = str(tmp_path / "run.html"), str(tmp_path / "run.md")
    Exports({"html": page, "markdown": table}).check()
    monkeypatch.setattr(charts, "PACKAGES", ("no_such_package",))
    Exports({"markdown": table}).check()
    with pytest.raises(UsageError, match="HTML reports require the packages") as raised:
        Exports({"html": page}).check()
    assert raised.value.hint == "pip install 'httpbench[charts]'"
