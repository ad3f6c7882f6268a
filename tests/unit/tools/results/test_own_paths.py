"""Tests that published data doesn't contain the user's own folders."""

from __future__ import annotations

import json
from pathlib import Path

from tools.results.own_paths import without_own_paths

CHECKOUT, HOME = Path('/home/a "quoted" é/httpbench'), Path('/home/a "quoted" é')


def published(value: object) -> object:
    return json.loads(without_own_paths(json.dumps(value).encode(), {CHECKOUT: ".", HOME: "~"}))


def test_the_checkout_and_the_home_folder_are_abbreviated() -> None:
    found = published([f"{CHECKOUT}/target/loadgen --cores 1", str(CHECKOUT), f"{HOME}/.cache/x", str(HOME)])
    assert found == ["./target/loadgen --cores 1", ".", "~/.cache/x", "~"]


def test_a_folder_with_a_similar_name_is_unchanged() -> None:
    assert published([f"{HOME}s/x", f"{CHECKOUT}-old"]) == [f"{HOME}s/x", "~/httpbench-old"]


def test_the_root_folder_is_not_replaced() -> None:
    assert without_own_paths(b'["/usr/bin"]', {Path("/"): "~"}) == b'["/usr/bin"]'
