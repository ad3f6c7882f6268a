"""Fixtures that several kinds of tests share."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

from tests.harness import Harness

# A busy machine is slow at times: no example fails for that.
settings.register_profile("httpbench", deadline=None)
settings.load_profile("httpbench")


@pytest.fixture
def harness(tmp_path: Path) -> Harness:
    return Harness(tmp_path)
