"""Test that export files are checked before a run, not after it."""

from __future__ import annotations

import resource
import stat
from pathlib import Path

import pytest

from httpbench.cli.options.output import Exports
from httpbench.cli.terminal import console
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


def test_an_export_that_cannot_be_written_leaves_the_earlier_file(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text("earlier")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    try:
        with pytest.raises(OSError):
            console.save("x" * 10_000, path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert path.read_text() == "earlier"
    assert [*tmp_path.iterdir()] == [path]


def test_an_export_keeps_permissions_and_links_and_writes_to_devices(tmp_path: Path) -> None:
    path, link = tmp_path / "run.json", tmp_path / "link"
    path.touch(mode=0o640)
    link.symlink_to(path)
    console.save("text", link)
    assert (link.is_symlink(), path.read_text(), stat.S_IMODE(path.stat().st_mode)) == (True, "text", 0o640)
    console.save("text", Path("/dev/null"))
    assert Path("/dev/null").is_char_device()
