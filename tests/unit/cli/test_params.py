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
from httpbench.report.words.numbers import column_name
from httpbench.run import Interleave
from httpbench.stats.figures import BY_NAME


def test_names_are_complete() -> None:
    assert tuple(Kind) == params.KINDS
    assert tuple(Category) == params.CATEGORIES
    assert tuple(load.GENERATORS) == params.LOAD_GENERATORS
    assert tuple(load.TIMERS) == params.TIMERS
    assert tuple(Interleave) == params.INTERLEAVES
    assert tuple(map(column_name, get_args(Figure))) == (*params.LATENCIES, *params.FIRST_BYTES)
    assert tuple(BY_NAME) == params.GATES
    assert tuple(HISTORY_FIGURES) == params.HISTORY
    assert set(params.FORMATS) == {*FORMATS, *CLIENT_FORMATS}
    assert Path(params.JOURNAL) == JOURNAL


@pytest.mark.parametrize(("text", "figure"), [("p99_9<1s", "p99_9"), ("ttfb<1s", "ttfb_p99"), ("ttfb_p99.9<1s", "ttfb_p99_9")])
def test_bounds_have_several_spellings(text: str, figure: str) -> None:
    assert params.latency_bound(text).figure == figure


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("ttfb>10%", "ttfb-p99>+10%"),
        ("ttfb_p50 > 5 %", "ttfb-p50>+5%"),
        ("first_event_p99>10%", "first-event-p99>+10%"),
        ("between_p50>5%", "between-p50>+5%"),
        ("p99.9<-1%", "p99.9<-1%"),
    ],
)
def test_gates_have_several_spellings(text: str, shown: str) -> None:
    assert str(params.gate(text)) == shown


@pytest.mark.parametrize("text", ["ttfb-rps<1s", "ttfbp99<1s", "rps<1s", "ttfb-<1s"])
def test_unknown_latencies_are_no_bounds(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not a bound; .* or as ttfb-p99<5ms \(first byte\)"):
        params.latency_bound(text)


def test_a_percentage_needs_its_sign_only_where_it_could_be_a_fraction() -> None:
    assert [params.percentage(text) for text in ("2%", "2", "0.5%", "1.5", "2 %")] == [0.02, 0.02, 0.005, 0.015, 0.02]
    for text in ("0", "0%", "two", "-1%"):
        with pytest.raises(ValueError, match=r"write it as 2% or 0\.5%"):
            params.percentage(text)
    with pytest.raises(ValueError, match=r"write it as 2% or 0\.02%"):
        params.percentage("0.02")
