"""Derive one label from observations, and compare it with the declared category. This module does no input or output.

A server gets the highest label whose requirements it meets. The label depends only on traits that readers expect from a server and that
cost time in every request, such as finding where a request begins and ends, parsing its first line, and routing by its path.
"""

from __future__ import annotations

from collections.abc import Sequence

from httpbench.model import Category, Label, Observation, Trait

TRAITS = {
    Trait.ASKED: "derives responses from requests",
    Trait.ROUTES: "routes by path",
    Trait.NONSENSE: "refuses nonsense",
    Trait.UNASKED: "sends nothing unrequested",
    Trait.WAITS: "waits for the end of a request",
    Trait.LENGTH: "reads bodies",
    Trait.CHUNKED: "reads chunked bodies",
    Trait.HEAD: "responds to HEAD without a body",
    Trait.METHOD: "checks the method",
    Trait.SPLIT: "accepts split requests",
    Trait.PIPELINED: "responds to pipelined requests",
    Trait.LARGE: "accepts large headers",
    Trait.STRICT: "refuses malformed requests",
    Trait.SURVIVES: "survives all experiments",
    Trait.DATE: "updates Date",
}
"""Each trait as a phrase that completes "the server …"."""

MADE_FROM_THE_REQUEST = (Trait.ASKED, Trait.UNASKED, Trait.DATE)
"""Traits that every label above ``canned`` requires. If the server is known to lack one of them, its label is ``canned``."""

PARSED = (Trait.NONSENSE, Trait.WAITS)
"""Traits that a target needs for the label ``parser`` rather than ``loop``, if it gives every path the same response."""

WHOLE = (Trait.NONSENSE, Trait.WAITS, Trait.LENGTH, Trait.CHUNKED, Trait.HEAD)
"""Traits that a target needs for the label ``server`` rather than ``router``, if it routes by path."""

MEANINGS = {
    Label.CANNED: "its responses don't depend on requests",
    Label.LOOP: "responds to any bytes, without parser or router",
    Label.PARSER: "refuses nonsense, but gives every path the same response",
    Label.ROUTER: "routes by path, but breaks a rule of HTTP that a server must follow",
    Label.SERVER: "reads whole requests as HTTP defines them, and routes by path",
}

FITTING = {
    Category.MICRO: (Label.LOOP, Label.PARSER),
    Category.PLATFORM: (Label.ROUTER, Label.SERVER),
    Category.FULLSTACK: (Label.ROUTER, Label.SERVER),
}


def label(seen: Sequence[Observation]) -> tuple[Label | None, tuple[str, ...]]:
    """Return the highest label that fits, and why no higher label does. The label is ``None`` if a relevant trait is unknown."""
    by_trait = {observation.trait: observation for observation in seen}
    holds = {observation.trait: observation.holds for observation in seen}
    canned = [by_trait[trait] for trait in MADE_FROM_THE_REQUEST if holds.get(trait) is False]
    if canned:
        return Label.CANNED, tuple(map(_why, canned))
    routes = holds.get(Trait.ROUTES)
    deciding = (Trait.ROUTES, *(WHOLE if routes else PARSED))
    if unseen := [trait for trait in deciding if holds.get(trait) is None]:
        came = {trait: f" ({by_trait[trait].came})" if trait in by_trait else "" for trait in unseen}
        return None, tuple(f"unknown: {TRAITS[trait]}{came[trait]}" for trait in unseen)
    missing = [by_trait[trait] for trait in deciding if holds.get(trait) is False]
    found = (Label.ROUTER if missing else Label.SERVER) if routes else Label.PARSER if len(missing) == 1 else Label.LOOP
    return found, tuple(map(_why, missing))


def contradiction(category: Category | None, found: Label | None) -> str | None:
    """Return a clause if the declared category doesn't fit the label, or ``None`` if it fits or if either is unknown."""
    if category is None or found is None or found in FITTING[category]:
        return None
    return f"declared {category}, but behaves like {found}: {MEANINGS[found]}"


def _why(observation: Observation) -> str:
    return f"failed: {TRAITS[observation.trait]} ({observation.sent} → {observation.came})"
