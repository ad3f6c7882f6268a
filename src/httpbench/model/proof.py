"""Records that ``httpbench verify --record`` writes: when and where a target was verified."""

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
    """Date of the verification (UTC)."""
    os: str
    """Operating system on which the target was verified."""
    toolchain: dict[str, str] = {}
    """Version of each program that the target requires, if known."""
    version: str | None = None
    """Version of the library. Null: the target doesn't print one."""
    scaling: tuple[Scaling, ...] = ()
    """Scalings that passed. Empty: the target was built but failed."""
    sources: str | None = Field(default=None, pattern=r"^[0-9a-f]{12}$")
    """Fingerprint of the verified sources. Null: not recorded."""
    note: str | None = None
    """Limitation of the record, as a sentence. Null: none."""


class ProofFile(Frozen):
    """The file ``targets/verified.toml``."""

    target: tuple[Proof, ...] = ()
    """One entry per target, sorted by id."""
