"""What a server does beyond what a load requests."""

from __future__ import annotations

from enum import StrEnum

from httpbench.model.frozen import Frozen


class Label(StrEnum):
    """How much of an HTTP server a target is, from the least on."""

    CANNED = "canned"  # its responses do not come from the request
    LOOP = "loop"  # responds to whatever arrives
    PARSER = "parser"  # refuses what is no request, and responds to every path alike
    ROUTER = "router"  # the path decides, but HTTP is not kept in all that follows
    SERVER = "server"  # the path decides, and whole requests are read as HTTP says


class Trait(StrEnum):
    """What experiments look at. :mod:`httpbench.probe.label` says which of them decide."""

    ASKED = "asked"
    ROUTES = "routes"
    NONSENSE = "nonsense"
    UNASKED = "unasked"
    WAITS = "waits"
    LENGTH = "length"
    CHUNKED = "chunked"
    HEAD = "head"
    METHOD = "method"
    SPLIT = "split"
    PIPELINED = "pipelined"
    LARGE = "large"
    STRICT = "strict"
    SURVIVES = "survives"
    DATE = "date"


class Observation(Frozen):
    """One experiment."""

    trait: Trait
    """What the experiment looks at."""
    holds: bool | None
    """Whether the server does it. Null: unknown; ``came`` says why."""
    sent: str
    """What was sent, in words or as text."""
    came: str
    """What came back, or why nothing is known."""


class Probed(Frozen):
    """What a probe found of a target."""

    label: Label | None
    """How much of an HTTP server the target is. Null: too little could be observed."""
    reasons: tuple[str, ...]
    """Why the label is not a higher one, one clause each; empty for ``server``."""
    response_bytes: int
    """Size of its correct response: header block and body, in bytes."""
    observations: tuple[Observation, ...]
    """All experiments."""

    def holds(self, trait: Trait) -> bool | None:
        """``None`` if it is unknown, or if the experiment was not made."""
        return next((seen.holds for seen in self.observations if seen.trait is trait), None)
