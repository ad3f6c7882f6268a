"""What ``httpbench verify --record`` keeps of a target: when and where it was verified."""

from __future__ import annotations

import datetime

from pydantic import Field

from httpbench.model.frozen import Frozen
from httpbench.model.target import Scaling


class Proof(Frozen):
    """The last recorded verification of a target."""

    id: str
    """Id of the target."""
    date: datetime.date
    """Day of the verification (UTC)."""
    os: str
    """Operating system."""
    toolchain: dict[str, str] = {}
    """Version of each program that the target requires, where it is known."""
    version: str | None = None
    """Version of the library. Null: the target prints none."""
    scaling: tuple[Scaling, ...] = ()
    """Ways to use cores in which it passed. Empty: it was built, and failed."""
    sources: str | None = Field(default=None, pattern=r"^[0-9a-f]{12}$")
    """Fingerprint of the sources that were verified. Null: not recorded."""
    note: str | None = None
    """What the record does not cover, in a sentence. Null: nothing."""


class ProofFile(Frozen):
    """``targets/verified.toml``."""

    target: tuple[Proof, ...] = ()
    """One entry per target, sorted by id."""
