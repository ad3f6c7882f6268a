"""A console of rich that shows text and obeys none: neither control characters nor rich's own markup."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from httpbench.text import printable


class SafeConsole(Console):
    """All that is printed ends in segments: a text and its style, or a control code of rich, such as those of a live area."""

    def __init__(self, **options: Any):
        super().__init__(highlight=False, markup=False, emoji=False, **options)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterator[Segment]:
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(printable(segment.text), segment.style)
