"""Functions that the adapters of load generators and timers share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from re import Pattern
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from httpbench.errors import LoadError
from httpbench.load.base import Job
from httpbench.quantiles import PERCENTILES, is_known

ALL_PERCENTILES = {**PERCENTILES, "p2_5": 2.5, "p97_5": 97.5}
Report = TypeVar("Report", bound=BaseModel)


class ReportPart(BaseModel):
    """A part of a report. Unknown keys are ignored, because other versions of the program may print more."""

    model_config = ConfigDict(extra="ignore", frozen=True, defer_build=True)


def parsed(model: type[Report], document: str, name: str, log_tail: str | None = None) -> Report:
    """Parse the JSON document called ``name``, such as ``wrk's result``. Raises ``LoadError`` with the first invalid key."""
    try:
        return model.model_validate_json(document)
    except ValidationError as error:
        first = error.errors()[0]
        problem = ": ".join(filter(None, (".".join(map(str, first["loc"])), first["msg"])))
        raise LoadError(f"{name} cannot be read: {problem}", log_tail=log_tail) from error


def first_true(reasons: Mapping[str, bool]) -> str | None:
    """Return the first reason whose value is true, or ``None``."""
    return next((reason for reason, applies in reasons.items() if applies), None)


def sharing_evenly(job: Job) -> int:
    """Return the highest number of threads, at most the job's number, that divides the number of connections evenly.

    wrk and autocannon round the connections per thread down. With any other number of threads, they would open too few connections.
    """
    return max(threads for threads in range(1, job.threads + 1) if job.load.connections % threads == 0)


def whole_seconds(job: Job, *, warmup: bool) -> int:
    """Return the duration in whole seconds. A warm-up is rounded up, to at least 1 s, because generators refuse 0 s."""
    return max(1, -int(-job.load.warmup_s // 1)) if warmup else int(job.load.duration_s)


def milliseconds(seconds: float) -> str:
    """Return a duration as an option such as ``1500ms``."""
    return f"{round(seconds * 1000)}ms"


def trust_options(job: Job, ca_option: str) -> list[str]:
    """Return ``--insecure``, or ``ca_option`` with a copy of the trusted roots, or nothing for the system's roots."""
    if job.trust.any_certificate:
        return ["--insecure"]
    if job.trust.ca_file is None:
        return []
    return [ca_option, str(job.write("ca.pem", Path(job.trust.ca_file).read_text(encoding="utf-8")))]


def kind_of(message: str, kinds: Iterable[tuple[Pattern[str], str]]) -> str:
    """Return the kind of the first pattern that matches the error message, or ``other``."""
    return next((kind for pattern, kind in kinds if pattern.search(message)), "other")


def well_known(figures: Mapping[str, float], count: int) -> dict[str, float]:
    """Return the figures without percentiles that have too few samples beyond them. ``count`` is the total number of samples."""
    return {name: value for name, value in figures.items() if name not in ALL_PERCENTILES or is_known(ALL_PERCENTILES[name], count)}
