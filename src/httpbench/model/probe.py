"""Results of probing a server for features that a load doesn't test."""

from __future__ import annotations

from enum import StrEnum

from httpbench.model.frozen import Frozen


class Label(StrEnum):
    """Labels for how completely a server implements HTTP, in ascending order."""

    CANNED = "canned"  # sends responses that don't depend on requests
    LOOP = "loop"  # responds to any input
    PARSER = "parser"  # rejects invalid input, but gives every path the same response
    ROUTER = "router"  # routes by path, but breaks a rule of HTTP
    SERVER = "server"  # routes by path, and reads whole requests according to HTTP


class Trait(StrEnum):
    """A behavior of a server that an experiment tests."""

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
    """The result of one experiment."""

    trait: Trait
    """Behavior that the experiment tests."""
    holds: bool | None
    """Whether the server has this behavior. Null: unknown; ``came`` contains the reason."""
    sent: str
    """Input sent to the server, described or quoted."""
    came: str
    """Output received from the server, or the reason why the result is unknown."""


class Probed(Frozen):
    """The results of probing a target."""

    label: Label | None
    """Label for how completely the target implements HTTP. Null: unknown, because a behavior that affects the label couldn't be tested."""
    reasons: tuple[str, ...]
    """Reasons why the label isn't higher, one clause each. Empty for ``server``."""
    response_bytes: int
    """Size of the correct response, including headers, in bytes."""
    observations: tuple[Observation, ...]
    """Results of all experiments."""

    def holds(self, trait: Trait) -> bool | None:
        """Return whether the server has this behavior; ``None`` if unknown or not tested."""
        return next((seen.holds for seen in self.observations if seen.trait is trait), None)
