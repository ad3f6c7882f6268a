"""Read the results that other projects publish."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from httpbench.catalog import httparena_results, techempower_results, web_frameworks_results
from httpbench.model import Run, Trial, Workload

Reader = Callable[[Path, Mapping[str, Workload], Sequence[str], str | None], tuple[Run, list[Trial]]]

READERS: Mapping[str, Reader] = {
    "techempower": techempower_results.read_results,
    "web-frameworks": web_frameworks_results.read_results,
    "httparena": httparena_results.read_results,
}
"""The reader of each project's results."""


def read_published(
    project: str, path: Path, workloads: Mapping[str, Workload], command: Sequence[str], name: str | None
) -> tuple[Run, list[Trial]]:
    """Return published results as a run and its trials. Raises :class:`CatalogError` with one sentence if they can't be read."""
    return READERS[project](path, workloads, command, name)
