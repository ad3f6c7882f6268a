"""The HTTP server of the dashboard. It prints nothing. When it stops, it doesn't wait for event streams or unfinished pages."""

from __future__ import annotations

import asyncio
import ipaddress
import secrets
import socket
from collections.abc import Callable
from pathlib import Path

import uvicorn

from httpbench.errors import UsageError
from httpbench.web.app import Dashboard
from httpbench.web.connections import HeadLimit
from httpbench.web.guard import TOKEN
from httpbench.web.site import Site

END_S = 1
CONNECTIONS_MAX = 200
TOKEN_BYTES = 32


def serve(
    db: Path,
    host: str,
    port: int,
    *,
    names: tuple[str, ...] = (),
    wants_token: bool = False,
    started: Callable[[str], None],
    say: Callable[[str], None],
) -> None:
    """Serve until SIGINT or SIGTERM arrives, then raise the signal again.

    Port 0 means any free port. ``names`` are additional names that the Host header may contain. ``wants_token`` requires a token even on
    loopback. ``started`` is called with the address, including the token. Raises :class:`UsageError` if the address can't be used.
    """
    listener = _listener(host, port)
    token = secrets.token_urlsafe(TOKEN_BYTES) if wants_token or not ipaddress.ip_address(listener.getsockname()[0]).is_loopback else None
    own = frozenset(name.lower() for name in ("localhost", socket.gethostname(), socket.getfqdn(), host, *names))
    dashboard = Dashboard(Site(db), own, say, token)
    config = uvicorn.Config(
        dashboard.app(),
        log_config=None,
        log_level="critical",
        access_log=False,
        server_header=False,
        ws="none",
        http=HeadLimit,
        limit_concurrency=CONNECTIONS_MAX,
        timeout_graceful_shutdown=END_S,
    )
    started(_address(listener, host, token))
    _Server(config, dashboard.stopping).run(sockets=[listener])


class _Server(uvicorn.Server):
    """A server that ends event streams when it stops instead of waiting for them."""

    def __init__(self, config: uvicorn.Config, stopping: asyncio.Event):
        super().__init__(config)
        self._stopping = stopping

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._stopping.set()
        await super().shutdown(sockets)


def _listener(host: str, port: int) -> socket.socket:
    try:
        ((family, _, _, _, address), *_) = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        return socket.create_server(address[:2], family=family)
    except OSError as error:
        raise UsageError(f"cannot listen on {host}, port {port}: {error.strerror}", hint="--host and --port choose another") from None


def _address(listener: socket.socket, host: str, token: str | None) -> str:
    """Return the address to open in a browser."""
    found, port = listener.getsockname()[:2]
    name = socket.gethostname() if ipaddress.ip_address(found).is_unspecified else host
    shown = f"[{name}]" if ":" in name else name
    return f"http://{shown}:{port}/" + (f"?{TOKEN}={token}" if token else "")
