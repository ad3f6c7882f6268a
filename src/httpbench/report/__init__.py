"""Results as text, made from what is stored alone: one file for each format."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from httpbench.model import Run, Trial

Format = Callable[[Run, Sequence[Trial]], str]

FORMATS: Mapping[str, Format] = {}
