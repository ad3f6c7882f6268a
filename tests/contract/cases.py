"""Which targets ``make test`` builds and verifies: those in ``first.txt``, of each kind and of a few languages, which build in a minute.

All others are marked ``slow`` and left to ``make test-all``: their toolchains and builds take most of its time.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from httpbench.model import Scaling, Target

FIRST = tuple((Path(__file__).parent / "first.txt").read_text(encoding="utf-8").split())


def case(target: Target, *scaling: Scaling) -> pytest.ParameterSet:
    """A target, and its scaling if that matters, as parameters of a test."""
    marks = () if target.id in FIRST else pytest.mark.slow
    return pytest.param(target, *scaling, id="-".join((target.id, *scaling)), marks=marks)
