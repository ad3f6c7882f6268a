"""Make workloads from the requests in a user's files."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path

from httpbench.errors import UsageError
from httpbench.load.text_file import encoded_bytes
from httpbench.model import Expectation, ListedRequest, MixPart, Request, RequestList, Workload

PARTS_MAX = 16
"""Maximum number of different requests that get results of their own."""
REQUESTS_MAX, REQUESTS_BYTES_MAX = 100_000, 64 << 20
"""Maximum number of requests and their maximum total size in bytes. The load generator keeps them all in memory."""
WEIGHTS_MAX = 1_000_000
"""Maximum sum of the weights, which is the length of the sequence of requests that the load generator repeats."""
NAME_CHARACTERS_MAX = 60
"""Maximum number of characters in the name of a part."""


def workload_of(source: Path, requests: Sequence[ListedRequest], expect: Expectation, template: Request | None = None) -> Workload:
    """Return a workload that sends all of the requests.

    A few different requests become the parts of a mix, so that each has results of its own. More requests, or the requests made from a
    template, become a list.

    Args:
        source: The file that the requests come from.
        requests: The requests with their weights.
        expect: The correct response to requests that don't have their own.
        template: The request with placeholders that all requests were made from, or ``None``.

    Raises :class:`UsageError` if there are more requests than the load generator can keep in memory.
    """
    _check_limits(source, requests)
    is_list = template is not None or len(requests) > PARTS_MAX
    # The expectation of a list applies to all requests without their own, so its first request must be one of these.
    first = next((each for each in requests if is_list and each.expect is None), requests[0])
    if template is not None or len(requests) == 1:
        name = name_of(template or first.request)
    else:
        name = _slug(source.name).lstrip("_.+") or "requests"
    workload = Workload(
        name=name,
        description=f"{len(requests):,} request{'s' * (len(requests) > 1)} from {source.name}",
        request=first.request,
        expect=first.expect or expect,
    )
    if is_list:
        listed = RequestList(source=source.name, count=len(requests), sha256=_sha256(requests), template=template, requests=tuple(requests))
        return workload.model_copy(update={"listed": listed})
    return workload if len(requests) == 1 else workload.model_copy(update={"parts": _parts(requests, expect)})


def size_bytes(request: Request) -> int:
    """Return about how many bytes a request has. Raises :class:`Invalid` if it can't be encoded."""
    return sum(map(encoded_bytes, (request.path, request.body, *(text for pair in request.headers.items() for text in pair))))


def too_many(count: int, total_bytes: int) -> str | None:
    """Return a clause if there are too many requests or if they are too long, else ``None``."""
    if count > REQUESTS_MAX or total_bytes > REQUESTS_BYTES_MAX:
        return f"more than {REQUESTS_MAX:,} requests or {REQUESTS_BYTES_MAX >> 20} MB of requests"
    return None


def _check_limits(source: Path, requests: Sequence[ListedRequest]) -> None:
    problem = too_many(len(requests), sum(size_bytes(each.request) for each in requests))
    if sum(each.weight for each in requests) > WEIGHTS_MAX:
        problem = f"the weights add up to more than {WEIGHTS_MAX:,}"
    if problem:
        raise UsageError(f"{source}: {problem}", hint="use fewer requests, or smaller weights")


def name_of(request: Request) -> str:
    """Return a name for a request, such as ``get-json`` for ``GET /json``. Titles of tables show it."""
    return _slug(f"{request.method}{request.path}")


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9_.+]+", "-", text.lower()).strip("-")


def _parts(requests: Sequence[ListedRequest], expect: Expectation) -> tuple[MixPart, ...]:
    """Return the parts of a mix. Each has a name of its own."""
    found: dict[str, MixPart] = {}
    for each in requests:
        base = name = name_of(each.request)[:NAME_CHARACTERS_MAX]
        number = 1
        while name in found:
            number += 1
            name = f"{base}-{number}"
        found[name] = MixPart(name=name, weight=each.weight, request=each.request, expect=each.expect or expect)
    return tuple(found.values())


def _sha256(requests: Sequence[ListedRequest]) -> str:
    digest = hashlib.sha256()
    for each in requests:
        digest.update(f"{each.weight} {each.request.model_dump_json()}\n".encode())
    return digest.hexdigest()
