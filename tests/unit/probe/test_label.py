"""Tests that a server's label is derived from the observations of a probe."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from httpbench.model import Category, Label, Observation, Trait
from httpbench.probe.label import FITTING, MEANINGS, TRAITS, contradiction, label

PARTS = st.dictionaries(st.sampled_from(Trait), st.sampled_from([True, False, None]))


def seen(**holds: bool | None) -> list[Observation]:
    """Return observations of all traits. Each trait holds unless ``holds`` overrides it."""
    every = {trait: holds.get(trait.name.lower(), True) for trait in Trait}
    return [Observation(trait=trait, holds=value, sent="this", came="that") for trait, value in every.items()]


@pytest.mark.parametrize(
    ("lacks", "expected"),
    [
        ((), Label.SERVER),
        (("method", "split", "pipelined", "large", "strict"), Label.SERVER),
        (("head",), Label.ROUTER),
        (("chunked", "length"), Label.ROUTER),
        (("nonsense",), Label.ROUTER),
        (("routes",), Label.PARSER),
        (("routes", "head", "length"), Label.PARSER),
        (("routes", "nonsense"), Label.LOOP),
        (("routes", "waits"), Label.LOOP),
        (("date",), Label.CANNED),
        (("unasked",), Label.CANNED),
        (("asked", "routes", "nonsense"), Label.CANNED),
    ],
)
def test_each_label_gives_the_missing_traits(lacks: tuple[str, ...], expected: Label) -> None:
    found, reasons = label(seen(**dict.fromkeys(lacks, False)))
    assert found is expected
    assert bool(reasons) == (found is not Label.SERVER)


def test_unknown_traits_do_not_count_against_a_server() -> None:
    assert label(seen(date=None, unasked=None, method=None))[0] is Label.SERVER
    assert label(seen(asked=None, routes=None)) == (None, ("unknown: routes by path (that)",))
    assert label(seen(chunked=None, head=False)) == (None, ("unknown: reads chunked bodies (that)",))
    assert label(seen(routes=False, chunked=None))[0] is Label.PARSER
    assert label([])[0] is None


@given(PARTS)
def test_losing_a_trait_never_improves_the_label(parts: dict[Trait, bool | None]) -> None:
    observations = [Observation(trait=trait, holds=holds, sent="", came="") for trait, holds in parts.items()]
    before, _ = label(observations)
    for trait in parts:
        worse = [each.model_copy(update={"holds": False}) if each.trait is trait else each for each in observations]
        after, _ = label(worse)
        if before is not None and after is not None:
            assert list(Label).index(after) <= list(Label).index(before)


@pytest.mark.parametrize(
    ("category", "found", "wrong"),
    [
        (Category.PLATFORM, Label.LOOP, True),
        (Category.PLATFORM, Label.PARSER, True),
        (Category.PLATFORM, Label.ROUTER, False),
        (Category.MICRO, Label.LOOP, False),
        (Category.MICRO, Label.SERVER, True),
        (Category.FULLSTACK, Label.CANNED, True),
        (None, Label.LOOP, False),
        (Category.PLATFORM, None, False),
    ],
)
def test_observations_can_contradict_a_category(category: Category | None, found: Label | None, wrong: bool) -> None:
    assert bool(contradiction(category, found)) is wrong


def test_every_label_and_trait_has_a_description() -> None:
    assert set(MEANINGS) == set(Label)
    assert set(TRAITS) == set(Trait)
    assert set(FITTING) == set(Category)
