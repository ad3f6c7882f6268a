"""The loads of a run: those of a suite or a kind, with what the options override."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from httpbench import catalog
from httpbench.errors import UsageError
from httpbench.model import Load, SuiteLoad
from httpbench.run import load_of

QUICK = {"duration_s": 1.0, "warmup_s": 0.5, "warmup_max_s": None}


@dataclass(frozen=True, slots=True)
class Overrides:
    """What the options change of every load."""

    fields: Mapping[str, Any]
    """Of :class:`Load`; not scaled."""
    connections: tuple[int, ...] | None
    scale: float


def loads(parts: Sequence[SuiteLoad], overrides: Overrides, target: str | None = None) -> list[Load]:
    """Of all targets, or of one for which the suite caps the rate. Raises :class:`UsageError`."""
    try:
        return [
            load_of(
                {**_merged(part, overrides.fields), "connections": connections},
                scale=overrides.scale,
                as_typed=overrides.fields,
                cap_rps=part.caps.get(target) if target else None,
            )
            for part in parts
            for connections in overrides.connections or part.connections
        ]
    except ValidationError as error:
        raise UsageError("\n".join(catalog.sentences(Load, error))) from None


def capped_loads(parts: Sequence[SuiteLoad], overrides: Overrides) -> dict[str, list[Load]]:
    """Of the targets for which the suite caps the rate. A rate on the command line applies to all targets."""
    targets = () if "rate_rps" in overrides.fields else dict.fromkeys(name for part in parts for name in part.caps)
    return {target: loads(parts, overrides, target) for target in targets}


def _merged(part: SuiteLoad, override: Mapping[str, Any]) -> dict[str, Any]:
    """The suite's fields with the overrides. The step of a rising rate is dropped if the rate does not rise in the end."""
    merged = {**part.model_dump(exclude={"connections", "caps"}), **override}
    if "rate_rps" in override and not override.get("rate_from_rps"):
        merged["rate_from_rps"] = None
    if merged["rate_from_rps"] is None:
        merged |= {"rate_step_rps": None, "step_s": None}
    return merged
