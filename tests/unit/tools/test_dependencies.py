"""Tests of the versions that ``make audit`` checks."""

from __future__ import annotations

import tomllib
from pathlib import Path

from tools.dependencies import lowest

ROOT = Path(__file__).parents[3]


def test_the_lowest_version_of_every_dependency_is_checked() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = [each for group in project["optional-dependencies"].values() for each in group if not each.startswith("httpbench[")]
    found = list(lowest(project))
    assert len(found) == len({*project["dependencies"], *extras}), "each has a lower bound"
    assert "h2==4.3" in found
