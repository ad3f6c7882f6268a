"""Which stored runs `runs --prune` keeps."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from httpbench.store import RunLine

DAYS = {"d": 1, "w": 7}


class Retention(click.ParamType["int | timedelta"]):
    """``20``: the newest runs; ``30d``, ``8w``: the runs of the last days or weeks."""

    name = "count|age"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | timedelta:
        if not isinstance(value, str):
            return value  # type: ignore[no-any-return]
        match = re.fullmatch(r"(\d{1,5})([dw]?)", value)
        if not match:
            self.fail(f"«{value}» is neither a number of runs nor an age; write it as 20, 30d or 8w", param, ctx)
        number = int(match[1])
        return timedelta(days=number * DAYS[match[2]]) if match[2] else number


def outdated(lines: Sequence[RunLine], keep: int | timedelta) -> list[str]:
    """Ids of the runs to delete. ``lines``: all runs, newest first. Named runs and running ones are never deleted."""
    if isinstance(keep, timedelta):
        oldest = (datetime.now(UTC) - keep).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        old = [line for line in lines if line.started_at < oldest]
    else:
        old = list(lines[keep:])
    return [line.id for line in old if line.name is None and line.status != "running"]


RETENTION = Retention()
