"""Learn a server's correct response, if the workload doesn't define it, from three responses before the warm-up.

If the three responses are equal, each later response must have the same status, media type and body. If their bodies differ, only status
and media type are checked.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence

from httpbench.http.correct import problems
from httpbench.http.exchange import exchange
from httpbench.http.response import ExchangeError, Response
from httpbench.http.transport import PLAIN, Transport
from httpbench.model import Learned, Workload

RESPONSES = 3
PAUSE_S = 0.55
"""Pause between requests, in seconds. Three requests then take more than a second, so bodies that contain the time in seconds differ."""
BODY_MAX_BYTES = 65_536
"""Maximum length of a body that is compared byte by byte. For a longer body, size and SHA-256 are compared."""


def is_learned(workload: Workload) -> bool:
    """Return whether the correct response must be learned because the workload doesn't define it completely.

    This is the case if any successful status is correct, or if a rule accepts several bodies but each server always sends the same one.
    """
    expect = workload.expect
    if expect.body is not None or expect.body_sha256 is not None or expect.body_bytes is not None:
        return False
    return expect.status is None or (expect.rule is not None and expect.rule.has_one_body)


def learn(
    host: str, port: int, workload: Workload, before: Learned | None = None, transport: Transport = PLAIN
) -> tuple[Workload, Learned] | None:
    """Learn the common properties of three responses.

    Returns the workload with these properties, and the properties themselves. Returns ``None`` if a request fails, a response isn't correct
    or the statuses differ. ``before`` contains the properties learned in an earlier trial of the same server. That trial has shown whether
    bodies change over time, so this trial needs no pauses.
    """
    responses: list[Response] = []
    for number in range(RESPONSES):
        if number and before is None:
            time.sleep(PAUSE_S)
        try:
            response, surplus = exchange(host, port, workload.request, transport=transport)
        except (ExchangeError, OSError):
            return None
        if problems(response, surplus, workload.expect):
            return None
        responses.append(response)
    if len({response.status for response in responses}) > 1:
        return None
    has_bodies = workload.request.method != "HEAD" and (before is None or before.body_sha256 is not None)
    learned = _common(responses, bodies=has_bodies)
    return _expecting(workload, learned, responses[0].body), learned


def with_status(workload: Workload, status: int) -> Workload:
    """Return the workload with this expected status, or the workload itself if it already expects a status."""
    if workload.expect.status is not None:
        return workload
    return workload.model_copy(update={"expect": workload.expect.model_copy(update={"status": status})})


def _expecting(workload: Workload, learned: Learned, body: bytes) -> Workload:
    changes = learned.model_dump()
    if learned.body_sha256 is not None and (text := _text(body)) is not None:
        changes |= {"body": text, "body_sha256": None}
    return workload.model_copy(update={"expect": workload.expect.model_copy(update=changes)})


def _common(responses: Sequence[Response], *, bodies: bool) -> Learned:
    first = responses[0]
    types = {response.media_type for response in responses}
    content_type = first.media_type if len(types) == 1 else None
    if not bodies or any(response.body != first.body for response in responses):
        return Learned(status=first.status, content_type=content_type)
    digest = hashlib.sha256(first.body).hexdigest()
    return Learned(status=first.status, content_type=content_type, body_bytes=len(first.body), body_sha256=digest)


def _text(body: bytes) -> str | None:
    """Return the body as text if it is short and encoding the text yields the same bytes. Otherwise, return ``None``."""
    text = body.decode(errors="replace")
    return text if len(body) <= BODY_MAX_BYTES and text.encode() == body else None
