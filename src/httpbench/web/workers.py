"""Threads that make pages outside the event loop. They are daemons, so the server can stop without waiting for them."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

Made = TypeVar("Made")

THREADS = 2


class PageWorkers:
    """A fixed number of threads that share a queue."""

    def __init__(self, threads: int = THREADS):
        self._queue: queue.SimpleQueue[tuple[Callable[[], Any], Future[Any]]] = queue.SimpleQueue()
        for number in range(threads):
            threading.Thread(target=self._work, name=f"page-{number}", daemon=True).start()

    async def run(self, make: Callable[[], Made]) -> Made:
        """Call ``make`` in a thread, and return its result or raise its exception."""
        future: Future[Made] = Future()
        self._queue.put((make, future))
        return await asyncio.wrap_future(future)

    def _work(self) -> None:
        while True:
            make, future = self._queue.get()
            if not future.set_running_or_notify_cancel():
                continue
            try:
                future.set_result(make())
            except Exception as error:
                future.set_exception(error)
