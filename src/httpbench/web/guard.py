"""Checks of every request (method, Host header, token), and headers for every response.

Pages of other sites can make a browser send requests to the dashboard, and an attacker's host name can resolve to 127.0.0.1 (DNS
rebinding). After rebinding, the Host header contains the attacker's name, so requests for unknown names are rejected. IP addresses are
safe, because they can't be rebound.
"""

from __future__ import annotations

import hmac
import ipaddress
import re
from collections.abc import Callable
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from httpbench.web.frame import POLICY_HEADER

METHODS = ("GET", "HEAD")
COOKIE = "httpbench-token-{port}"
"""Name of the cookie with the token. It contains the port, because a browser sends a cookie to all ports of a host."""

TOKEN = "token"
"""Query parameter with the token in the printed address."""

HEADERS = {
    "cache-control": "no-store",
    "content-security-policy": POLICY_HEADER,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}
"""Default headers of responses."""

Refusal = Callable[[int, str, str], Response]
"""Function that makes an error page from a status, a title and a sentence."""


class AccessGuard:
    """ASGI middleware that rejects forbidden requests. Without a ``token``, anyone who can reach the address has access."""

    def __init__(self, app: ASGIApp, *, hosts: frozenset[str], token: str | None, refuse: Refusal):
        self._app = app
        self._hosts = hosts
        self._token = token
        self._refuse = refuse

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        if scope["type"] != "http":
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        response = self._response(Request(scope)) or self._app
        await response(scope, receive, send_with_headers)

    def _response(self, request: Request) -> Response | None:
        """Return the response to a rejected request, or ``None`` if the request is allowed."""
        if request.method not in METHODS:
            refused = self._refuse(405, "Method not allowed", "The dashboard can only be read: use GET or HEAD.")
            refused.headers["allow"] = ", ".join(METHODS)
            return refused
        name = host_name(request.headers.get("host", ""))
        if name not in self._hosts and not _is_address(name):
            hint = "Start the dashboard with --allow-host NAME to allow it."
            return self._refuse(421, "Unknown host", f"The Host header contains an unknown name. {hint}")
        if _is_embedded_elsewhere(request):
            return self._refuse(403, "Request of another site", "Another site tried to read the dashboard.")
        if self._token is None or _is_same(request.cookies.get(_cookie(request), ""), self._token):
            return None
        return self._signed_in(request, self._token)

    def _signed_in(self, request: Request, token: str) -> Response:
        """Move the token from the address to a cookie."""
        found = request.query_params.get(TOKEN)
        if found is None or not _is_same(found, token):
            what = "The address lacks the token" if found is None else "The token is wrong"
            return self._refuse(401, "Token required", f"{what}. Open the address that `httpbench serve` printed when it started.")
        others = urlencode([pair for pair in parse_qsl(request.url.query) if pair[0] != TOKEN])
        # If a path begins with two slashes, browsers treat the rest as the name of another host, so only one slash is kept.
        path = "/" + request.url.path.lstrip("/\\")
        response = RedirectResponse(f"{path}?{others}" if others else path, status_code=303)
        response.set_cookie(_cookie(request), found, httponly=True, samesite="strict", path="/")
        return response


def host_name(header: str) -> str:
    """Return the name in a Host header in lower case, without the port and brackets. After brackets, there may be only a port."""
    name = header.strip().lower()
    if address := re.fullmatch(r"\[([^\]]*)\](?::\d*)?", name):
        return address[1]
    return name.partition(":")[0].removesuffix(".")


def _cookie(request: Request) -> str:
    return COOKIE.format(port=request.scope["server"][1])


def _is_embedded_elsewhere(request: Request) -> bool:
    """Return whether a page of another site loads this address as part of itself, such as an image. Following a link is allowed.

    Source: W3C, Fetch Metadata Request Headers. Programs other than browsers don't send these headers.
    """
    site, mode = (request.headers.get(f"sec-fetch-{name}") for name in ("site", "mode"))
    return site in ("cross-site", "same-site") and mode != "navigate"


def _is_same(found: str, token: str) -> bool:
    return hmac.compare_digest(found.encode(errors="replace"), token.encode())


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
