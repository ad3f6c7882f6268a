"""The base class of all models, and common types."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

NAME_PATTERN = r"^[a-z0-9][a-z0-9_.+-]*$"
NAME_MAX = 100
"""Maximum number of characters in a name. Build folders are named after targets, and a file name can have at most 255 bytes."""

Name = Annotated[str, StringConstraints(pattern=NAME_PATTERN, max_length=NAME_MAX)]
"""A part of an id. It is lowercase, contains no slash and doesn't begin with a hyphen, so it can't be mistaken for a path or an option."""

WorkloadName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_.+:,-]*$")]
"""The name of a workload, or a mix of several workloads with weights, such as ``json:3,db:1``."""

Id = Annotated[str, StringConstraints(pattern=r"^([a-z]+:)?[a-z0-9][a-z0-9_.+/@-]*$")]
"""A target's id: names separated by slashes, with the prefix ``client:`` or ``proxy:`` for clients and proxies."""

RUN_ID_PATTERN = r"[0-9A-Za-z][0-9A-Za-z._+-]{0,99}"
RunId = Annotated[str, StringConstraints(pattern=f"^{RUN_ID_PATTERN}$")]
"""A run's id. It contains no slash, so it can name a file."""

RequestPath = Annotated[str, StringConstraints(pattern=r"^/[!-~]*$")]
"""Path and query of a request, with spaces and non-ASCII characters percent-encoded."""


def _with_time_zone(text: str) -> str:
    if datetime.fromisoformat(text).tzinfo is None:
        raise ValueError("must have a time zone")
    return text


Time = Annotated[str, AfterValidator(_with_time_zone)]
"""A time in ISO 8601 format. httpbench writes UTC."""

Argv = Annotated[tuple[str, ...], Field(min_length=1)]


class Frozen(BaseModel):
    """The base class of all models: immutable, compared by value, and without unknown keys."""

    # Building the validators of all models takes longer than most verbs. pydantic builds each one when it's first used.
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


def build_validators() -> None:
    """Build the validators of all imported models. If pydantic did so during a measured window, it would take CPU time from the load."""
    models = Frozen.__subclasses__()
    while models:
        model = models.pop()
        model.model_rebuild()
        models += model.__subclasses__()
