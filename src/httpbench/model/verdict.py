"""What has limited a trial."""

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
    BOTH = "both"  # target and generator were nearly full, so neither is the limit for certain
    SHARED = "shared"  # the cores that target and generator share were full
    BACKEND = "backend"  # the server behind a proxy
    DATABASE = "database"  # that the target asks
    NETWORK = "network"
    IDLE = "idle"
    UNKNOWN = "unknown"  # counts, but its limit is unknown
    DISTURBED = "disturbed"  # others used the measured cores; repeated, and its figures do not count unless accepted
    INVALID = "invalid"  # measured, but its figures do not count
    FAILED = "failed"  # not measured


class Verdict(Frozen):
    """What limited a trial; or why its figures do not count."""

    kind: VerdictKind
    """What limited the trial, or that it has no figures."""
    reasons: tuple[Reason, ...] = ()
    """Why; may be empty."""
    is_accepted: bool = False
    """Whether the trial counts although it was disturbed, because repeats were turned off."""

    @model_validator(mode="before")
    @classmethod
    def _read_export(cls, value: Any) -> Any:
        """Read the form of the JSON export, whose ``reasons`` are sentences and whose ``causes`` are the reasons."""
        if not isinstance(value, Mapping) or "causes" not in value:
            return value
        return {name: each for name, each in value.items() if name not in ("reasons", "causes")} | {"reasons": value["causes"]}

    @property
    def counts(self) -> bool:
        """Whether the trial has a headline number."""
        if self.kind is VerdictKind.DISTURBED:
            return self.is_accepted
        return self.kind not in (VerdictKind.INVALID, VerdictKind.FAILED)
