"""A cache with a size limit that drops the least recently used items."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Item = TypeVar("Item")


class Cache(Generic[Item]):
    """A least-recently-used cache that threads can share. If two threads ask for the same missing item at once, both make it."""

    def __init__(self, size_max: int, size: Callable[[Item], int]):
        self._size_max = size_max
        self._size_of = size
        self._size = 0
        self._items: OrderedDict[Hashable, Item] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], Item]) -> Item:
        """Return the item for a key, making it if it is missing."""
        with self._lock:
            if key in self._items:
                self._items.move_to_end(key)
                return self._items[key]
        item = make()
        with self._lock:
            if key not in self._items:
                self._items[key] = item
                self._size += self._size_of(item)
            while self._size > self._size_max and self._items:
                self._size -= self._size_of(self._items.popitem(last=False)[1])
        return item
