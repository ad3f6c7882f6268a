"""Threads that make pages outside the event loop. They are daemons, so the server can stop without waiting for them."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

Made = TypeVar("Made")

THREADS = 2


class PageWorkers:
    """A fixed number of threads that share a queue."""

    def __init__(self, threads: int = THREADS):
        self._queue: queue.SimpleQueue[tuple[Callable[[], Any], asyncio.Future[Any]]] = queue.SimpleQueue()
        for number in range(threads):
            threading.Thread(target=self._work, name=f"page-{number}", daemon=True).start()

    async def run(self, make: Callable[[], Made]) -> Made:
        """Call ``make`` in a thread, and return or raise its result."""
        future: asyncio.Future[Made] = asyncio.get_running_loop().create_future()
        self._queue.put((make, future))
        return await future

    def _work(self) -> None:
        while True:
            make, future = self._queue.get()
            if future.cancelled():
                continue
            try:
                made, error = make(), None
            except Exception as caught:
                made, error = None, caught
            with suppress(RuntimeError):  # the loop has ended
                future.get_loop().call_soon_threadsafe(_settle, future, made, error)


def _settle(future: asyncio.Future[Any], made: Any, error: Exception | None) -> None:
    if future.done():
        return
    if error is None:
        future.set_result(made)
    else:
        future.set_exception(error)
