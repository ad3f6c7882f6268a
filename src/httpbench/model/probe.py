"""What a probe observed of a server: experiments that a load never makes."""

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
    """What an experiment observes; :mod:`httpbench.probe.label` says what each one means, and which decide."""

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
    holds: bool | None
    """``None``: unknown; ``came`` says why."""
    sent: str
    came: str


class Probed(Frozen):
    """What a probe found of a target."""

    label: Label | None
    """``None``: unknown, because a trait that decides is."""
    reasons: tuple[str, ...]
    """Why the label is not higher, a clause each; empty for a ``server``."""
    response_bytes: int
    """Header block and body of its correct response."""
    observations: tuple[Observation, ...]

    def holds(self, trait: Trait) -> bool | None:
        """``None`` if it is unknown, or if the experiment was not made."""
        return next((seen.holds for seen in self.observations if seen.trait is trait), None)
