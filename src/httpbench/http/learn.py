"""Learn a server's correct responses, if the workload doesn't define them, from three responses to each request before the warm-up.

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
TOGETHER = 8
"""Maximum number of requests that are sent at the same time, each on its own connection."""
ROUND_MAX_S = 3.0
"""Maximum time for one request each for many workloads, in seconds."""
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
    return _learned(workload, _responses(host, port, [workload], transport, pauses=before is None)[0], before)


def learn_each(host: str, port: int, workloads: Sequence[Workload], transport: Transport = PLAIN) -> list[tuple[Workload, Learned] | None]:
    """Learn the correct response to each of several requests, as :func:`learn` does for one.

    All of them share the same pauses. If a round of requests takes longer than ``ROUND_MAX_S``, nothing is learned for the rest of them.
    """
    return [
        _learned(workload, found, None) for workload, found in zip(workloads, _responses(host, port, workloads, transport), strict=True)
    ]


def in_common(learned: Sequence[Learned]) -> Learned | None:
    """Return what learned responses have in common, or ``None`` if their statuses differ."""
    first = learned[0]
    if any(each.status != first.status for each in learned):
        return None
    content_type = first.content_type if all(each.content_type == first.content_type for each in learned) else None
    if any(each.body_sha256 != first.body_sha256 for each in learned):
        return Learned(status=first.status, content_type=content_type)
    return first.model_copy(update={"content_type": content_type})


def _responses(
    host: str, port: int, workloads: Sequence[Workload], transport: Transport, *, pauses: bool = True
) -> list[list[Response] | None]:
    """Return three correct responses to each request, or ``None`` for a request that failed or that was too late in its round."""
    from concurrent.futures import ThreadPoolExecutor

    found: list[list[Response] | None] = [[] for _ in workloads]
    with ThreadPoolExecutor(min(len(workloads), TOGETHER)) as threads:
        for number in range(RESPONSES):
            if number and pauses:
                time.sleep(PAUSE_S)
            end_s = time.monotonic() + ROUND_MAX_S

            def ask(workload: Workload, end_s: float = end_s) -> Response | None:
                return _correct_response(host, port, workload, transport) if time.monotonic() < end_s else None

            left = [index for index, responses in enumerate(found) if responses is not None]
            for index, response in zip(left, threads.map(ask, [workloads[index] for index in left]), strict=True):
                found[index] = [*(found[index] or ()), response] if response else None
    return found


def _correct_response(host: str, port: int, workload: Workload, transport: Transport) -> Response | None:
    try:
        response, surplus = exchange(host, port, workload.request, transport=transport)
    except (ExchangeError, OSError):
        return None
    return None if problems(response, surplus, workload.expect) else response


def _learned(workload: Workload, responses: Sequence[Response] | None, before: Learned | None) -> tuple[Workload, Learned] | None:
    if responses is None or len({response.status for response in responses}) > 1:
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
