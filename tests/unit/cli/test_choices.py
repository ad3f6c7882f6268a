"""Test that the lists of names for the command line, which avoid imports, are complete."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

from httpbench import load
from httpbench.analysis.history import FIGURES as HISTORY_FIGURES
from httpbench.cli.options import choices
from httpbench.host.knobs.tuning import JOURNAL
from httpbench.model import Category, Figure, Kind
from httpbench.report import CLIENT_FORMATS, FORMATS
from httpbench.stats.figures import BY_NAME


def test_choices_are_complete() -> None:
    assert tuple(Kind) == choices.KINDS
    assert tuple(Category) == choices.CATEGORIES
    assert tuple(load.GENERATORS) == choices.LOAD_GENERATORS
    assert tuple(load.TIMERS) == choices.TIMERS
    assert tuple(name.replace(".", "_") for name in choices.LATENCIES) == get_args(Figure)
    assert tuple(BY_NAME) == choices.GATES
    assert tuple(HISTORY_FIGURES) == choices.HISTORY
    assert set(choices.FORMATS) == {*FORMATS, *CLIENT_FORMATS}
    assert Path(choices.JOURNAL) == JOURNAL
