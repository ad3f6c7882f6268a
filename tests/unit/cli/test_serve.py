"""Tests of the options of ``httpbench serve`` and of its static copy. ``tests/integration/test_serve.py`` tests the process."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from click.testing import CliRunner

from httpbench import web
from httpbench.cli.verbs.serve import serve
from httpbench.errors import UsageError
from tests.dashboards import add_run
from tests.factories import make_run


def test_a_missing_package_is_reported_with_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name in ("starlette", "uvicorn") else find(name))
    with pytest.raises(UsageError, match="packages that are missing: starlette, uvicorn") as caught:
        CliRunner().invoke(serve, ["--db", str(tmp_path / "x.db")], catch_exceptions=False)
    assert caught.value.hint == "pip install 'httpbench[dashboard]'"


def test_the_extra_has_the_packages_that_the_dashboard_requires() -> None:
    text = (Path(__file__).parents[3] / "pyproject.toml").read_text()
    extra = next(line for line in text.splitlines() if line.startswith("dashboard = "))
    assert all(name in extra for name in ("httpbench[charts]", "starlette", "uvicorn"))
    web.check_dashboard()


def test_a_static_copy_is_written_and_its_files_are_counted(tmp_path: Path) -> None:
    add_run(tmp_path / "x.db", make_run([], id="r", tags=("nightly",)), [])
    done = CliRunner().invoke(serve, ["--db", str(tmp_path / "x.db"), "--export", str(tmp_path / "public")], catch_exceptions=False)
    assert f"wrote 4 files; open {tmp_path / 'public' / 'index.html'}" in done.output
    assert "nightly" in (tmp_path / "public" / "index.html").read_text()


def test_the_measuring_verbs_accept_tags() -> None:
    from httpbench.cli.verbs.bench import bench
    from httpbench.cli.verbs.run import run
    from httpbench.cli.verbs.saturate import saturate

    assert all(any("--tag" in parameter.opts for parameter in verb.params) for verb in (bench, run, saturate))
