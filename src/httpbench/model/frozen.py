"""What every model is made of."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

NAME_PATTERN = r"^[a-z0-9][a-z0-9_.+-]*$"
Name = Annotated[str, StringConstraints(pattern=NAME_PATTERN)]
"""A part of an id: lower case, no slash, so that ids can be told apart from options and paths."""

WorkloadName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_.+:,-]*$")]
"""A name, or a mix: names with weights, such as ``json:3,db:1``."""

Id = Annotated[str, StringConstraints(pattern=r"^([a-z]+:)?[a-z0-9][a-z0-9_.+/@-]*$")]
"""The id of a target: names, joined by slashes, after a client's or proxy's ``kind:``."""

RequestPath = Annotated[str, StringConstraints(pattern=r"^/[!-~]*$")]
"""Path and query as they stand in a request; spaces and letters beyond ASCII are percent-encoded."""

Argv = Annotated[tuple[str, ...], Field(min_length=1)]


class Frozen(BaseModel):
    """A value: cannot change, compares by content, and refuses keys that it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)
