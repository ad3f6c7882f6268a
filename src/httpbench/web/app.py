"""The dashboard as an ASGI application. It serves the pages of :class:`Site`, the progress of a run as server-sent events, and error pages.

The server reads the progress from the store, so any process may execute the run, and that process may die at any time. The event ``state``
contains a line of text, ``results`` contains the part of the page that changes, and ``end`` is the last event.

Format: https://html.spec.whatwg.org/multipage/server-sent-events.html.
"""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from importlib.resources import files

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from httpbench.errors import HttpbenchError, SelectionError
from httpbench.model import RunStatus
from httpbench.web import addresses
from httpbench.web.frame import NotFound
from httpbench.web.guard import AccessGuard
from httpbench.web.runs import state_text
from httpbench.web.site import Site
from httpbench.web.workers import PageWorkers

STREAMS_MAX = 32
"""Maximum number of simultaneous event streams."""
LOOK_EVERY_S = 1.0
REST, REST_S_MAX = 20, 30.0
"""Minimum time between two updates of the results: a multiple of the time that the first one took, but no more than 30 s.

An update takes longer the more trials the run has. With this limit, a stream uses about 5% of a core at most, however large the run is.
"""
ALIVE_EVERY = 15
"""Number of checks without news after which the server sends a comment to keep the connection alive."""
LOOKS_MAX = 3600
"""Number of checks after which a stream ends. The browser then reconnects."""


@dataclass
class Dashboard:
    """A server for one store. Without a ``token``, anyone who can reach the address has access."""

    site: Site
    hosts: frozenset[str]
    """Names that the Host header may contain, besides IP addresses."""
    say: Callable[[str], None]
    """Function that prints errors in the server's terminal."""
    token: str | None = None
    workers: PageWorkers = field(default_factory=PageWorkers)
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    """Event that ends the event streams when it is set."""
    streams: int = 0

    def app(self) -> Starlette:
        """Make the ASGI application."""
        return Starlette(
            routes=[
                Route(f"/{addresses.SCRIPT}", self._script),
                Route(f"/{addresses.COMPARE}", self._compare),
                Route("/runs/{run}/events", self._events),
                Route("/{path:path}", self._page),
            ],
            middleware=[Middleware(AccessGuard, hosts=self.hosts, token=self.token, refuse=self._message)],
            lifespan=self._lifespan,
        )

    @asynccontextmanager
    async def _lifespan(self, app: Starlette) -> AsyncIterator[None]:
        warm_up = asyncio.ensure_future(self.workers.run(self.site.warm_up))
        yield
        warm_up.cancel()
        self.site.close()  # here, because the server ends with a signal, without any other cleanup

    async def _page(self, request: Request) -> Response:
        path = request.path_params["path"]
        query = dict(request.query_params)
        try:
            page = await self.workers.run(lambda: self.site.page(path, query))
        except (NotFound, SelectionError) as error:
            return self._message(404, "Not found", str(error))
        except HttpbenchError as error:
            return self._message(500, "The store cannot be read", error.message)
        except Exception as error:
            self.say(traceback.format_exc())
            return self._message(500, "The page could not be made", f"{type(error).__name__}: see the output of `httpbench serve`.")
        return Response(page.content.encode(errors="replace"), media_type=page.media_type)

    async def _compare(self, request: Request) -> Response:
        base, head = request.query_params.get("base", ""), request.query_params.get("head", "")
        if not base or not head:
            return self._message(400, "Two runs are required", "Choose a base and a head in the list of runs.")
        return RedirectResponse(f"/{addresses.comparison(base, head)}", status_code=303)

    async def _events(self, request: Request) -> Response:
        run_id = request.path_params["run"]
        if self.streams >= STREAMS_MAX:
            return self._message(503, "Too many pages are open", f"At most {STREAMS_MAX} pages of runs in progress are kept up to date.")
        if request.method == "HEAD" or await self.workers.run(lambda: self.site.state(run_id)) is None:
            return self._message(404, "Not found", f'There is no run "{run_id}".')
        return StreamingResponse(self._counted(request, run_id), media_type="text/event-stream")

    async def _counted(self, request: Request, run_id: str) -> AsyncIterator[str]:
        self.streams += 1
        try:
            async for event in self._news(run_id):
                if await request.is_disconnected():
                    return
                yield event
        finally:
            self.streams -= 1

    async def _news(self, run_id: str) -> AsyncIterator[str]:
        """Yield events until the run ends, the server stops, or an hour has passed."""
        clock = asyncio.get_running_loop().time
        known, shown, quiet, rested_at = None, None, 0, 0.0
        for _ in range(LOOKS_MAX):
            try:
                state = await self.workers.run(lambda: self.site.state(run_id))
                if state is None or state.status is not RunStatus.RUNNING:
                    yield _event("end", state_text(state) if state else "deleted")
                    return
                if state != known:
                    yield _event("state", state_text(state))
                    known, quiet = state, 0
                if state != shown and clock() >= rested_at:
                    begun_at = clock()
                    yield _event("results", await self.workers.run(lambda: self.site.results(run_id)))
                    shown, quiet, rested_at = state, 0, clock() + min(REST * (clock() - begun_at), REST_S_MAX)
            except (HttpbenchError, NotFound):
                yield _event("end", "the store cannot be read")
                return
            quiet += 1
            if quiet % ALIVE_EVERY == 0:
                yield ": alive\n\n"
            with suppress(TimeoutError):
                await asyncio.wait_for(self.stopping.wait(), LOOK_EVERY_S)
                return

    async def _script(self, request: Request) -> Response:
        return Response(files("httpbench.web").joinpath(addresses.SCRIPT).read_bytes(), media_type="text/javascript")

    def _message(self, status: int, title: str, sentence: str) -> Response:
        page = self.site.frame.message(title, sentence)
        return Response(page.content.encode(errors="replace"), status, media_type=page.media_type)


def _event(name: str, text: str) -> str:
    """Format an event. Carriage returns are removed, because each would also end a line."""
    lines = text.replace("\r", "").split("\n")
    return f"event: {name}\n" + "".join(f"data: {line}\n" for line in lines) + "\n"
