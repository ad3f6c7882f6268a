"""Small files of strangers must be read, or refused, in little time."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

LIMIT_S = 5.0
"""Maximum CPU time of a test, in seconds. Most take less than 1 s. Without what they test, they take much longer or never end."""


@pytest.fixture(autouse=True)
def _takes_little_time() -> Iterator[None]:
    begin_s = time.process_time()
    yield
    assert time.process_time() - begin_s < LIMIT_S
