"""A cache with a size limit that drops the least recently used items."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Item = TypeVar("Item")


class Cache(Generic[Item]):
    """A least-recently-used cache that threads can share. If two threads request the same missing item at the same time, both create it."""

    def __init__(self, size_max: int, size: Callable[[Item], int], *, always: int = 0):
        """Make a cache. It keeps the ``always`` most recently used items even if they exceed ``size_max``."""
        self._size_max = size_max
        self._always = always
        self._size_of = size
        self._size = 0
        self._items: OrderedDict[Hashable, Item] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], Item]) -> Item:
        """Return the item for a key, and create it if it is missing."""
        item = self.find(key)
        if item is None:
            item = make()
            self.put(key, item)
        return item

    def find(self, key: Hashable) -> Item | None:
        """Return the item for a key, or ``None`` if it is missing."""
        with self._lock:
            if key not in self._items:
                return None
            self._items.move_to_end(key)
            return self._items[key]

    def put(self, key: Hashable, item: Item) -> None:
        """Store an item, replacing the previous one, and drop the least recently used items above the limit."""
        with self._lock:
            if key in self._items:
                self._size -= self._size_of(self._items.pop(key))
            self._items[key] = item
            self._size += self._size_of(item)
            while self._size > self._size_max and len(self._items) > self._always:
                self._size -= self._size_of(self._items.popitem(last=False)[1])
