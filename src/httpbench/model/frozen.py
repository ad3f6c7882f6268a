"""The base class of all models, and common types."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

NAME_PATTERN = r"^[a-z0-9][a-z0-9_.+-]*$"
Name = Annotated[str, StringConstraints(pattern=NAME_PATTERN)]
"""A part of an id, in lowercase and without slashes, so that nobody can mistake an id for an option or a path."""

WorkloadName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_.+:,-]*$")]
"""A name, or a mix of names with weights, such as ``json:3,db:1``."""

Id = Annotated[str, StringConstraints(pattern=r"^([a-z]+:)?[a-z0-9][a-z0-9_.+/@-]*$")]
"""A target's id: names separated by slashes, with the prefix ``kind:`` for clients and proxies."""

RequestPath = Annotated[str, StringConstraints(pattern=r"^/[!-~]*$")]
"""Path and query of a request, with spaces and non-ASCII letters percent-encoded."""

Argv = Annotated[tuple[str, ...], Field(min_length=1)]


class Frozen(BaseModel):
    """A value that can't change, compares by content, and rejects unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)
