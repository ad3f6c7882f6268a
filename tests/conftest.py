"""Fixtures that several kinds of tests share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.harness import Harness


@pytest.fixture
def harness(tmp_path: Path) -> Harness:
    return Harness(tmp_path)
