"""What has limited a trial."""

from __future__ import annotations

from enum import StrEnum

from httpbench.model.frozen import Frozen


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
    reasons: tuple[str, ...] = ()
    """Why, in words; may be empty."""
    is_accepted: bool = False
    """Whether the trial counts although it was disturbed, because repeats were turned off."""

    @property
    def counts(self) -> bool:
        """Whether the trial has a headline number."""
        if self.kind is VerdictKind.DISTURBED:
            return self.is_accepted
        return self.kind not in (VerdictKind.INVALID, VerdictKind.FAILED)
