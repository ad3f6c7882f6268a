"""Test that the command line's own lists of names are complete. With its own lists, the command line doesn't need to import the models."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from httpbench import load
from httpbench.analysis.history import FIGURES as HISTORY_FIGURES
from httpbench.cli.options import params
from httpbench.host.knobs.tuning import JOURNAL
from httpbench.model import Category, Figure, Kind
from httpbench.report import CLIENT_FORMATS, FORMATS
from httpbench.run import Interleave
from httpbench.stats.figures import BY_NAME


def test_names_are_complete() -> None:
    assert tuple(Kind) == params.KINDS
    assert tuple(Category) == params.CATEGORIES
    assert tuple(load.GENERATORS) == params.LOAD_GENERATORS
    assert tuple(load.TIMERS) == params.TIMERS
    assert tuple(Interleave) == params.INTERLEAVES
    assert tuple(name.replace(".", "_") for name in params.LATENCIES) == get_args(Figure)
    assert tuple(BY_NAME) == params.GATES
    assert tuple(HISTORY_FIGURES) == params.HISTORY
    assert set(params.FORMATS) == {*FORMATS, *CLIENT_FORMATS}
    assert Path(params.JOURNAL) == JOURNAL


def test_a_percentage_needs_its_sign_only_where_it_could_be_a_fraction() -> None:
    assert [params.percentage(text) for text in ("2%", "2", "0.5%", "1.5", "2 %")] == [0.02, 0.02, 0.005, 0.015, 0.02]
    for text in ("0", "0%", "two", "-1%"):
        with pytest.raises(ValueError, match=r"write it as 2% or 0\.5%"):
            params.percentage(text)
    with pytest.raises(ValueError, match=r"write it as 2% or 0\.02%"):
        params.percentage("0.02")
