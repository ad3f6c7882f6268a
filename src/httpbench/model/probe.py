"""What a server does beyond what a load requests."""

from __future__ import annotations

from enum import StrEnum

from httpbench.model.frozen import Frozen


class Label(StrEnum):
    """How real a server is, lowest first."""

    CANNED = "canned"  # its responses are not made from requests
    LOOP = "loop"  # responds to any bytes
    PARSER = "parser"  # refuses nonsense, and gives every path the same response
    ROUTER = "router"  # routes by path, but breaks a rule of HTTP
    SERVER = "server"  # routes by path, and reads whole requests as HTTP defines them


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
