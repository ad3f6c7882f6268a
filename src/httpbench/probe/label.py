"""From what was seen to one word, and whether that fits what the target is declared to be. Pure: observations in, words out.

The words are a ladder: each says that what makes the ones below it was not found. Not every trait decides. Those that do are what a
reader would take for granted in «a server», and what costs time in every request: to find where a request begins and ends, to read its
line, to choose by its path.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from httpbench.model import Category, Label, Observation, Trait

TRAITS = {
    Trait.ASKED: "answers what was asked",
    Trait.ROUTES: "routes by path",
    Trait.NONSENSE: "refuses nonsense",
    Trait.UNASKED: "is silent until asked",
    Trait.WAITS: "waits for a request's end",
    Trait.LENGTH: "reads bodies",
    Trait.CHUNKED: "reads chunked bodies",
    Trait.HEAD: "answers HEAD without a body",
    Trait.METHOD: "looks at the method",
    Trait.SPLIT: "takes split requests",
    Trait.PIPELINED: "answers pipelined requests",
    Trait.LARGE: "takes large headers",
    Trait.STRICT: "refuses malformed requests",
    Trait.SURVIVES: "survives all this",
    Trait.DATE: "moves its Date",
}
"""In words: «it …», and «it is not so that it …»."""

MADE_FROM_THE_REQUEST = (Trait.ASKED, Trait.UNASKED, Trait.DATE)
"""One of these that does not hold makes «canned», whatever else holds."""

PARSED = (Trait.NONSENSE, Trait.WAITS)
"""What a server that answers every path alike must do to be a parser."""

WHOLE = (Trait.NONSENSE, Trait.WAITS, Trait.LENGTH, Trait.CHUNKED, Trait.HEAD)
"""What a router must have, too, to be a server."""

MEANINGS = {
    Label.CANNED: "answers by something else than what was asked",
    Label.LOOP: "answers whatever arrives: no parser, no router",
    Label.PARSER: "refuses what is no request, but answers every path alike",
    Label.ROUTER: "the path decides, but HTTP is not kept in all that it should",
    Label.SERVER: "reads whole requests as HTTP says, and the path decides",
}

FITTING = {
    Category.MICRO: (Label.LOOP, Label.PARSER),
    Category.PLATFORM: (Label.ROUTER, Label.SERVER),
    Category.FULLSTACK: (Label.ROUTER, Label.SERVER),
}


def label(seen: Sequence[Observation]) -> tuple[Label | None, tuple[str, ...]]:
    """The highest word that fits, and why no higher one does. ``None`` where something that decides could not be seen."""
    by_trait = {observation.trait: observation for observation in seen}
    canned = [by_trait[trait] for trait in MADE_FROM_THE_REQUEST if _holds(by_trait, trait) is False]
    if canned:
        return Label.CANNED, tuple(map(_why, canned))
    routes = _holds(by_trait, Trait.ROUTES)
    deciding = (Trait.ROUTES, *(WHOLE if routes else PARSED))
    if unseen := [trait for trait in deciding if _holds(by_trait, trait) is None]:
        return None, tuple(f"not known: «{TRAITS[trait]}»{_because(by_trait, trait)}" for trait in unseen)
    missing = [by_trait[trait] for trait in deciding if _holds(by_trait, trait) is False]
    found = (Label.ROUTER if missing else Label.SERVER) if routes else Label.PARSER if len(missing) == 1 else Label.LOOP
    return found, tuple(map(_why, missing))


def contradiction(category: Category | None, found: Label | None) -> str | None:
    """What is wrong with a declared category, as a clause; nothing where it fits, or where one of the two is not known."""
    if category is None or found is None or found in FITTING[category]:
        return None
    return f"declared {category}, but seen as {found}: {MEANINGS[found]}"


def _holds(seen: Mapping[Trait, Observation], trait: Trait) -> bool | None:
    return seen[trait].holds if trait in seen else None


def _because(seen: Mapping[Trait, Observation], trait: Trait) -> str:
    return f" ({seen[trait].came})" if trait in seen else ""


def _why(observation: Observation) -> str:
    return f"not so: «{TRAITS[observation.trait]}» ({observation.sent} → {observation.came})"
