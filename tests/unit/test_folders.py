"""Tests of the folders for a user's own files."""

from __future__ import annotations

from pathlib import Path

import pytest

from httpbench.errors import UsageError
from httpbench.paths import default_database


def test_a_user_without_a_home_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.setattr(Path, "home", unknown)
    with pytest.raises(UsageError, match="no home folder") as caught:
        default_database()
    assert caught.value.hint == "set HOME or XDG_DATA_HOME"


def test_an_empty_home_variable_means_no_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.setenv("HOME", "")
    with pytest.raises(UsageError, match="no home folder"):
        default_database()


def test_the_default_folder_follows_xdg(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", "/somewhere")
    assert default_database() == Path("/somewhere/httpbench/httpbench.db")
    monkeypatch.setenv("XDG_DATA_HOME", "relative/is/ignored")
    assert default_database() == Path.home() / ".local/share/httpbench/httpbench.db"
