"""Shapes of verdicts, the same in charts and in pages: nobody has to tell colours apart."""

from __future__ import annotations

from collections.abc import Mapping

from httpbench.model import VerdictKind

GLYPHS: Mapping[VerdictKind, str] = {
    VerdictKind.TARGET: "●",
    VerdictKind.GENERATOR: "▶",
    VerdictKind.BOTH: "▶",
    VerdictKind.BACKEND: "▶",
    VerdictKind.DATABASE: "▶",
    VerdictKind.SHARED: "■",
    VerdictKind.NETWORK: "◆",
    VerdictKind.IDLE: "◆",
    VerdictKind.UNKNOWN: "◆",
    VerdictKind.DISTURBED: "▲",
    VerdictKind.INVALID: "✖",
    VerdictKind.FAILED: "✖",
}
"""Beside the word of a verdict. A triangle that points to the right: the target can do more."""

_SHAPES = {"●": "circle", "▶": "triangle-right", "■": "square", "◆": "diamond", "▲": "triangle-up", "✖": "cross"}
SHAPES: Mapping[VerdictKind, str] = {kind: _SHAPES[glyph] for kind, glyph in GLYPHS.items()}
"""The same as names of shapes in vega."""
