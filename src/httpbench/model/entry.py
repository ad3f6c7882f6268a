"""What the catalogue of another project says of a target."""

from __future__ import annotations

from enum import StrEnum

from httpbench.model.frozen import Frozen, Name

BROKEN = "broken"
"""The tag of what its own project does not run."""


class Approach(StrEnum):
    REALISTIC = "realistic"  # as in production
    STRIPPED = "stripped"  # without what a production system has


class Database(StrEnum):
    MONGODB = "mongodb"
    MYSQL = "mysql"
    POSTGRES = "postgres"


PROVIDED = (Database.POSTGRES, Database.MYSQL)
"""Databases that httpbench can start: those that Debian packages."""


class Orm(StrEnum):
    FULL = "full"
    MICRO = "micro"
    RAW = "raw"  # the driver alone


class Entry(Frozen):
    """What the catalogue of another project says of a target."""

    catalogue: Name
    """Name of the catalogue: ``techempower``, ``httparena`` or ``web-frameworks``."""
    name: str
    """Name of the target there, as in that project's published results."""
    display_name: str
    """Name of the target in that project's tables."""
    approach: Approach | None = None
    """How its implementation is written. Null: not said."""
    database: Database | None = None
    """Database that it requires. Null: none."""
    orm: Orm | None = None
    """How it maps rows to objects. Null: not at all, or not said."""
    platform: str | None = None
    """What the framework runs on, such as a runtime. Null: not said."""
    webserver: str | None = None
    """HTTP server in front of the framework. Null: none, or not said."""
    versus: str | None = None
    """Name of the target, there, that it is compared with. Null: none."""
    tags: tuple[str, ...] = ()
    """Tags, such as ``broken``."""
    tests: tuple[str, ...] = ()
    """Tests that it declares, as they are named there. Empty: ``paths`` of the target has all of them."""
    unsupported: str | None = None
    """What httpbench cannot do with it, in a clause. Null: nothing."""
    problems: tuple[str, ...] = ()
    """What is wrong with its configuration, a sentence each."""

    @property
    def refusal(self) -> str | None:
        """Why it cannot be run; ``None`` if it can."""
        if self.problems:
            return f"its configuration is wrong: {'; '.join(self.problems)}"
        if BROKEN in self.tags:
            return f"{self.catalogue} tags it as broken"
        if self.unsupported is not None:
            return self.unsupported
        if self.database is not None and self.database not in PROVIDED:
            return f"requires a database ({self.database}) that Debian does not package: not supported"
        return None
