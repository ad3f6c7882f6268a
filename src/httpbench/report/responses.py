"""The sampled responses of targets: size, status, headers and body, as they came."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from httpbench.model import SampledResponse
from httpbench.report.printable import printable

BODY_CHARACTERS = 2000
"""Of a body that is printed; longer ones are cut, and it is said."""


def render_responses(responses: Mapping[str, SampledResponse]) -> str:
    """One block for each target, by id. What a terminal would take for a command is written as an escape."""
    return "\n".join(line for name in sorted(responses) for line in _block(name, responses[name])).rstrip("\n")


def _block(name: str, response: SampledResponse) -> Iterator[str]:
    yield f"{name}: {response.size_bytes:,} bytes"
    yield f"  {response.status}"
    for header, value in response.headers:
        yield f"  {printable(header)}: {printable(value)}"
    yield "  "
    body = response.body[:BODY_CHARACTERS]
    for line in body.split("\n"):
        yield f"  {printable(line)}"
    if len(response.body) > BODY_CHARACTERS:
        yield f"  … {len(response.body) - BODY_CHARACTERS:,} more characters"
    yield ""
