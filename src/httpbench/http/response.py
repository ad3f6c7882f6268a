"""A response, and the errors for one that is missing or invalid."""

from __future__ import annotations

from dataclasses import dataclass

from httpbench.text import one_line

BODY_LIMIT_BYTES = 64 << 20
TOO_LARGE = f"sent a body of more than {BODY_LIMIT_BYTES >> 20} MiB, which is the limit"


HOP_BY_HOP = frozenset({"connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"})
"""Header fields, in lower case, that concern only one connection (RFC 9110, section 7.6.1). A proxy doesn't forward them."""


class ExchangeError(Exception):
    """A response that is missing or isn't valid HTTP/1.1. The message is a clause such as `closed the connection before it responded`."""

    def __init__(self, message: str):
        super().__init__(one_line(message))  # the message may quote the response


class NoResponseError(ExchangeError):
    """A response that didn't begin in time, although the connection is still open."""


@dataclass(frozen=True, slots=True)
class Response:
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    size_bytes: int
    """Size of headers and body in bytes, including framing."""
    reason: str = ""
    """Reason phrase of the status line."""

    def header(self, name: str) -> str | None:
        """Return the first header with that name, ignoring case."""
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)

    @property
    def media_type(self) -> str | None:
        """The Content-Type in lower case, without parameters."""
        return (self.header("content-type") or "").partition(";")[0].strip().lower() or None


def parsed(head: str, body: str) -> Response:
    """Build a response from a head and a body without framing. Another program has already received and checked them."""
    first, *lines = head.split("\r\n")
    fields = [line.partition(":") for line in lines if line]
    _, status, reason = f"{first} ".split(" ", 2)
    headers = tuple((name, value.strip()) for name, _, value in fields)
    return Response(int(status), headers, body.encode(), len(head) + len(body), reason.strip())
