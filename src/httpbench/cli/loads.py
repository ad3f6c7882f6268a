"""The loads of a run: a suite's or a kind's usual one, with what the options say otherwise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from httpbench import catalog
from httpbench.cli.options import given_load
from httpbench.errors import UsageError
from httpbench.model import Kind, Load, SuiteLoad
from httpbench.run import load_of

QUICK = {"duration_s": 1.0, "warmup_s": 0.5, "warmup_max_s": None}


def loads(parts: Sequence[SuiteLoad], kind: Kind, options: Mapping[str, Any], row: str | None = None) -> list[Load]:
    """Of all rows, or of one that the suite asks for less. Raises :class:`UsageError`."""
    override = {**(QUICK if options["quick"] and kind is not Kind.CLIENT else {}), **given_load(options)}
    try:
        return [
            load_of(
                {**_merged(part, override), "connections": connections},
                scale=options["scale"],
                as_typed=override,
                cap_rps=part.caps.get(row) if row else None,
            )
            for part in parts
            for connections in options["connections"] or part.connections
        ]
    except ValidationError as error:
        raise UsageError("\n".join(catalog.sentences(Load, error))) from None


def own_loads(parts: Sequence[SuiteLoad], kind: Kind, options: Mapping[str, Any]) -> dict[str, list[Load]]:
    """Of the rows that are known not to hold the others' rates. A rate on the command line is meant for all."""
    rows = () if options["rate"] else dict.fromkeys(name for part in parts for name in part.caps)
    return {row: loads(parts, kind, options, row) for row in rows}


def _merged(part: SuiteLoad, override: Mapping[str, Any]) -> dict[str, Any]:
    """What the suite says with what is said otherwise. How a rate rises is left out where, in the end, none does."""
    merged = {**part.model_dump(exclude={"connections", "caps"}), **override}
    if "rate_rps" in override and not override.get("rate_from_rps"):
        merged["rate_from_rps"] = None
    if merged["rate_from_rps"] is None:
        merged |= {"rate_step_rps": None, "step_s": None}
    return merged
