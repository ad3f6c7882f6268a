"""The progress of a run as server-sent events.

Events are read from the store, so any process may make the run, and it may die at any time. The event ``state`` is a line of text,
``results`` is the part of the page that changes, and ``end`` is the last event.

Format: https://html.spec.whatwg.org/multipage/server-sent-events.html.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

from httpbench.errors import HttpbenchError
from httpbench.model import RunStatus
from httpbench.web.frame import NotFound
from httpbench.web.runs import state_text
from httpbench.web.site import Site
from httpbench.web.workers import PageWorkers

LOOK_EVERY_S = 1.0
ALIVE_EVERY = 15
"""Number of checks without news before a comment is sent to keep the connection alive."""
LOOKS_MAX = 3600
"""Number of checks before the stream ends. The browser then reconnects."""


async def events(site: Site, workers: PageWorkers, stopping: asyncio.Event, run_id: str) -> AsyncIterator[str]:
    """Yield events until the run ends, the server stops, or an hour has passed."""
    known, quiet = None, 0
    for _ in range(LOOKS_MAX):
        try:
            state = await workers.run(lambda: site.state(run_id))
            if state is None or state.status is not RunStatus.RUNNING:
                yield _event("end", state_text(state) if state else "deleted")
                return
            if state != known:
                yield _event("state", state_text(state)) + _event("results", await workers.run(lambda: site.results(run_id)))
                known, quiet = state, 0
        except (HttpbenchError, NotFound):
            yield _event("end", "the store cannot be read")
            return
        quiet += 1
        if quiet % ALIVE_EVERY == 0:
            yield ": alive\n\n"
        with suppress(TimeoutError):
            await asyncio.wait_for(stopping.wait(), LOOK_EVERY_S)
        if stopping.is_set():
            return


def _event(name: str, text: str) -> str:
    """Format an event. Carriage returns are removed, because each would also end a line."""
    lines = text.replace("\r", "").split("\n")
    return f"event: {name}\n" + "".join(f"data: {line}\n" for line in lines) + "\n"
