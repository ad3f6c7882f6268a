"""Check that something is refused with one sentence."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from httpbench.errors import HttpbenchError


def refused(call: Callable[[], object]) -> str:
    """Return the message of the error that a call raises, which is a single line."""
    with pytest.raises(HttpbenchError) as caught:
        call()
    assert "\n" not in caught.value.message
    return caught.value.message
