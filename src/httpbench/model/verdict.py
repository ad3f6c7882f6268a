"""Verdicts: what limited a trial."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from pydantic import model_validator

from httpbench.model.frozen import Frozen
from httpbench.model.reason import Reason


class VerdictKind(StrEnum):
    TARGET = "target"
    GENERATOR = "generator"
    BOTH = "both"  # target and generator were nearly full, so neither is certainly the limit
    SHARED = "shared"  # the cores that target and generator share were full
    BACKEND = "backend"  # the server behind a proxy
    DATABASE = "database"  # the target's database
    NETWORK = "network"
    IDLE = "idle"
    UNKNOWN = "unknown"  # counts, but its limit is unknown
    DISTURBED = "disturbed"  # other programs used the measured cores; repeated, and doesn't count unless accepted
    INVALID = "invalid"  # measured, but doesn't count
    FAILED = "failed"  # not measured


class Verdict(Frozen):
    """The limit of a trial, or why it doesn't count."""

    kind: VerdictKind
    """Limit of the trial, or why it has no results."""
    reasons: tuple[Reason, ...] = ()
    """Reasons; may be empty."""
    is_accepted: bool = False
    """Whether the trial counts although it was disturbed, because repeats were turned off."""

    @model_validator(mode="before")
    @classmethod
    def _read_export(cls, value: Any) -> Any:
        """Accept the form of the JSON export, in which ``reasons`` are sentences and ``causes`` are the reasons."""
        if not isinstance(value, Mapping) or "causes" not in value:
            return value
        return {name: each for name, each in value.items() if name not in ("reasons", "causes")} | {"reasons": value["causes"]}

    @property
    def counts(self) -> bool:
        """Whether the trial has a headline number."""
        if self.kind is VerdictKind.DISTURBED:
            return self.is_accepted
        return self.kind not in (VerdictKind.INVALID, VerdictKind.FAILED)
