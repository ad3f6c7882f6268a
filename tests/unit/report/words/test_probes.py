"""Tests of warnings from probes."""

from __future__ import annotations

from httpbench.model import Category, Entry, Label, Probed
from httpbench.report.words.targets import probe_warning
from tests.factories import make_target

SEEN = Probed(label=Label.SERVER, reasons=(), response_bytes=100, observations=())


def test_a_category_is_compared_with_the_observations() -> None:
    assert "is declared micro, but behaves like server" in (probe_warning(make_target(category=Category.MICRO), SEEN) or "")


def test_categories_of_other_projects_are_not_contradicted() -> None:
    entry = Entry(catalogue="techempower", name="small", display_name="Small")
    assert probe_warning(make_target(category=Category.MICRO, entry=entry), SEEN) is None
