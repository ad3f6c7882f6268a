"""Tests that the cache has a size limit, and that workers return results or raise errors."""

from __future__ import annotations

import asyncio
import threading

import pytest

from httpbench.web.cache import Cache
from httpbench.web.workers import PageWorkers


def test_the_least_recently_used_item_is_dropped() -> None:
    made: list[str] = []
    cache: Cache[str] = Cache(2, len)

    def get(key: str) -> str:
        return cache.get(key, lambda: made.append(key) or key)  # type: ignore[func-returns-value]

    for key in ("a", "b", "a", "c", "a", "b"):
        assert get(key) == key
    assert made == ["a", "b", "c", "b"]


def test_items_that_are_too_large_are_not_cached() -> None:
    made: list[int] = []
    cache: Cache[str] = Cache(2, len)
    for number in range(2):
        assert cache.get("key", lambda number=number: made.append(number) or "large") == "large"  # type: ignore[misc, func-returns-value]
    assert made == [0, 1]


def test_workers_return_results_raise_errors_and_are_daemons() -> None:
    def fail() -> None:
        raise ValueError("wrong")

    async def ask() -> tuple[int, bool]:
        workers = PageWorkers(1)
        with pytest.raises(ValueError, match="wrong"):
            await workers.run(fail)
        return await workers.run(lambda: 7), await workers.run(lambda: threading.current_thread().daemon)

    assert asyncio.run(ask()) == (7, True)


def test_the_newest_items_can_be_kept_above_the_limit() -> None:
    cache: Cache[str] = Cache(2, len, always=2)
    for key in ("large 1", "large 2", "large 3"):
        cache.put(key, key)
    assert [cache.find(f"large {number}") for number in (1, 2, 3)] == [None, "large 2", "large 3"]


def test_a_replaced_item_does_not_count() -> None:
    cache: Cache[str] = Cache(3, len)
    for item in ("aaa", "bb", "c"):
        cache.put("key", item)
    cache.put("other", "dd")
    assert (cache.find("key"), cache.find("other")) == ("c", "dd")
