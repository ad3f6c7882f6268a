"""Records of when and where targets were verified, as written by ``httpbench verify --record``."""

from __future__ import annotations

import datetime
from enum import StrEnum

from pydantic import Field

from httpbench.model.frozen import Frozen
from httpbench.model.target import Scaling


class Conformance(Frozen):
    """The result of h2spec, a program with conformance tests of HTTP/2."""

    passed: int
    """Number of tests that passed."""
    failed: dict[str, int] = {}
    """Number of tests that failed, by section, such as ``http2/5.1``: section 5.1 of RFC 7540."""

    @property
    def total(self) -> int:
        return self.passed + sum(self.failed.values())


class ProxyOutcome(StrEnum):
    """What an HTTP proxy does with an ambiguous request."""

    REJECTED = "rejected"  # the backend gets no complete request
    NORMALIZED = "normalized"  # the backend gets a request with only one meaning
    FORWARDED = "forwarded"  # the backend gets a request that is still ambiguous


class ProvenBuild(Frozen):
    """The last recorded verification of a build with features."""

    sources: str = Field(pattern=r"^[0-9a-f]{12}$")
    """Fingerprint of the verified sources and build commands."""
    build_s: float | None = Field(default=None, gt=0)
    """Duration of a first build in seconds. Null: unknown."""


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
    """Version of the library. Null: unknown."""
    scaling: tuple[Scaling, ...] = ()
    """Scalings in which the target passed. Empty: the target was built, but failed in every scaling."""
    sources: str | None = Field(default=None, pattern=r"^[0-9a-f]{12}$")
    """Fingerprint of the verified sources. Null: not recorded."""
    contract: int | None = None
    """Version of the contract that was verified. Null: not recorded."""
    build_s: float | None = Field(default=None, gt=0)
    """Duration of a first build in seconds. Null: unknown, or nothing to build."""
    builds: dict[str, ProvenBuild] = {}
    """Builds with features that passed in all scalings, by the names of their features, separated by commas."""
    h2spec: Conformance | None = None
    """Result of h2spec. Null: the target doesn't serve HTTP/2, or h2spec did not run."""
    ambiguous: dict[str, ProxyOutcome] = {}
    """What an HTTP proxy does with each ambiguous request, by the request's name. Empty: the target isn't an HTTP proxy."""
    note: str | None = None
    """Sentence that describes a limitation of the verification. Null: none."""


class ProofFile(Frozen):
    """The file ``targets/verified.toml``."""

    target: tuple[Proof, ...] = ()
    """One entry per target, sorted by id."""
