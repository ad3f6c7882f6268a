"""What targets were seen to send: of a server a response, with size, status, headers and body; of a client a request."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from httpbench.model import SampledRequest, SampledResponse
from httpbench.text import one_line

BODY_CHARACTERS = 2000
"""Characters of a body that are printed; a last line says how many were cut."""


def render_responses(responses: Mapping[str, SampledResponse | SampledRequest]) -> str:
    """One block for each target, by id. What a terminal would take for a command is written as an escape."""
    return "\n".join(line for name in sorted(responses) for line in _block(name, responses[name])).rstrip("\n")


def _block(name: str, response: SampledResponse | SampledRequest) -> Iterator[str]:
    if isinstance(response, SampledRequest):
        yield f"{name}: {len(response.text.encode()):,} bytes"
        yield from (f"  {one_line(line)}" for line in response.text.rstrip().splitlines())
        yield ""
        return
    yield f"{name}: {response.size_bytes:,} bytes"
    yield f"  {response.status}"
    for header, value in response.headers:
        yield f"  {one_line(header)}: {one_line(value)}"
    yield "  "
    body = response.body[:BODY_CHARACTERS]
    for line in body.split("\n"):
        yield f"  {one_line(line)}"
    if len(response.body) > BODY_CHARACTERS:
        yield f"  … {len(response.body) - BODY_CHARACTERS:,} more characters"
    yield ""
