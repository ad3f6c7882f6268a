"""Entries in the catalogs of other projects."""

from __future__ import annotations

from enum import StrEnum

from httpbench.model.frozen import Frozen, Name

BROKEN = "broken"
"""Tag of targets that their own project has marked as broken and doesn't run."""


class Approach(StrEnum):
    REALISTIC = "realistic"  # implemented as in production
    STRIPPED = "stripped"  # lacks parts of a production system


class Database(StrEnum):
    MONGODB = "mongodb"
    MYSQL = "mysql"
    POSTGRES = "postgres"


PROVIDED = (Database.POSTGRES, Database.MYSQL)
"""Databases that httpbench can start, because Debian packages them."""


class Orm(StrEnum):
    FULL = "full"
    MICRO = "micro"
    RAW = "raw"  # only the database driver


class Entry(Frozen):
    """A target's entry in the catalog of another project."""

    catalogue: Name
    """Name of the catalog: ``techempower``, ``httparena`` or ``web-frameworks``."""
    name: str
    """Name of the target in the other project's published results."""
    display_name: str
    """Name of the target in the other project's tables."""
    approach: Approach | None = None
    """Implementation approach. Null: not stated."""
    database: Database | None = None
    """Required database. Null: none."""
    orm: Orm | None = None
    """How the target maps rows to objects. Null: it doesn't, or the catalog doesn't state it."""
    platform: str | None = None
    """Platform of the framework, such as a runtime. Null: not stated."""
    webserver: str | None = None
    """HTTP server in front of the framework. Null: none, or not stated."""
    versus: str | None = None
    """Name of another target in the same catalog to compare this target with. Null: none."""
    tags: tuple[str, ...] = ()
    """Tags, such as ``broken``."""
    tests: tuple[str, ...] = ()
    """Names of the tests that the target declares in the catalog. Empty: ``paths`` has a key for each of them."""
    unsupported: str | None = None
    """Clause that names a feature that the target requires but httpbench doesn't support. Null: none."""
    problems: tuple[str, ...] = ()
    """Problems in the target's configuration, one sentence each."""

    @property
    def refusal(self) -> str | None:
        """Reason why the target can't run; ``None`` if the target can run."""
        if self.problems:
            return f"its configuration is invalid: {'; '.join(self.problems)}"
        if BROKEN in self.tags:
            return f"{self.catalogue} tags it as broken"
        if self.unsupported is not None:
            return self.unsupported
        if self.database is not None and self.database not in PROVIDED:
            return f"requires a database ({self.database}) that Debian does not package: not supported"
        return None
