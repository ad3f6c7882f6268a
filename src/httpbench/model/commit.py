"""A commit of a git repository."""

from __future__ import annotations

from pydantic import Field

from httpbench.model.frozen import Frozen, Time

SHORT_DIGITS = 12


class Commit(Frozen):
    """A commit of a git repository."""

    id: str = Field(pattern=r"^[0-9a-f]{40,64}$")
    """Hash of the commit."""
    tree: str = Field(pattern=r"^[0-9a-f]{40,64}$")
    """Hash of the commit's files."""
    author: str
    """Name and email address of the author."""
    date: Time | None
    """Time when the author wrote the commit, in ISO 8601 format. ``None`` if git doesn't know a valid time."""
    subject: str
    """First line of the commit message."""

    @property
    def short(self) -> str:
        """The first digits of the hash."""
        return self.id[:SHORT_DIGITS]
