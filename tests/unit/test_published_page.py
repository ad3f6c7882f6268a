"""Tests of docs/published.md: each block names a suite and its targets, and ``make results`` can fill every cell."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from httpbench import catalog
from httpbench.catalog import select
from tools.results.quoted import BLOCK, with_results

PAGE = Path(__file__).parents[2] / "docs" / "published.md"
BLOCKS = list(BLOCK.finditer(PAGE.read_text(encoding="utf-8")))


@pytest.mark.parametrize("block", BLOCKS, ids=[f"{block['suite']}{block['choice']}" for block in BLOCKS])
def test_each_row_is_a_target_of_the_suite(block: re.Match[str]) -> None:
    known = catalog.load()
    suite = known.suite(block["suite"])
    targets = {target.id for target in select(known.targets.values(), suite.targets, kind=suite.kind)}
    named = re.findall(r"^\| `([^`]+)` \|", block["body"], re.MULTILINE)
    assert named and set(named) <= targets
    assert len(named) == len(set(named))


def test_every_suite_that_follows_a_publication_has_a_block() -> None:
    assert {block["suite"] for block in BLOCKS} == {"app-servers", "containers", "http-clients", "http-servers", "tcp-proxies"}


def test_each_block_can_be_filled() -> None:
    page = PAGE.read_text(encoding="utf-8")
    empty = with_results(page, PAGE.parent, {})
    assert empty.count("Not measured here yet.") == len(BLOCKS)
    assert len(empty.splitlines()) == len(page.splitlines())
