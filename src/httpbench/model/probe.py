"""What a server was seen to do when it was asked more than a load asks."""

from __future__ import annotations

from enum import StrEnum

from httpbench.model.frozen import Frozen


class Label(StrEnum):
    """How much of a server answers, from the least on."""

    CANNED = "canned"  # its answers come from something else than what was asked
    LOOP = "loop"  # answers whatever arrives
    PARSER = "parser"  # refuses what is no request, and answers every path alike
    ROUTER = "router"  # the path decides, but HTTP is not kept in all that follows
    SERVER = "server"  # the path decides, and whole requests are read as HTTP says


class Trait(StrEnum):
    """What is looked at; :mod:`httpbench.probe.label` has the words for each, and which of them decide."""

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
    """``None``: could not be seen; ``came`` says why."""
    sent: str
    came: str


class Probed(Frozen):
    """What a probe found of a target."""

    label: Label | None
    """``None``: too little could be seen."""
    reasons: tuple[str, ...]
    """Why it is not more, a clause each; none for a ``server``."""
    response_bytes: int
    """Header block and body of its right answer."""
    observations: tuple[Observation, ...]

    def holds(self, trait: Trait) -> bool | None:
        """``None`` also where the experiment was not made."""
        return next((seen.holds for seen in self.observations if seen.trait is trait), None)
