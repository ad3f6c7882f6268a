"""Queries for measured targets, and for pages of runs that are filtered by target, name, commit, tag or date.

A search uses only indexes to find the matching runs. It reads documents only for the runs on the requested page.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from httpbench.store.store import RunLine, Store

TARGETS_MAX = 500
"""Maximum number of targets in a list."""

CONDITIONS = {
    "name": "instr(lower(name), lower(?)) > 0",
    "commit": "instr(git_commit, lower(?)) = 1",
    "tag": "EXISTS (SELECT 1 FROM json_each(tags) WHERE value = ?)",
    "since": "substr(started_at, 1, 10) >= ?",
    "until": "substr(started_at, 1, 10) <= ?",
}
"""SQL condition for each field of a filter except ``target``."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A filter for runs. An empty field matches every run."""

    target: str = ""
    """Part of the id of a target with a finished trial."""
    name: str = ""
    """Part of the run's name."""
    commit: str = ""
    """Prefix of the run's git commit."""
    tag: str = ""
    since: str = ""
    """First day in UTC, such as ``2026-11-23``."""
    until: str = ""
    """Last day in UTC."""


@dataclass(frozen=True, slots=True)
class ListedTarget:
    """A target in a list."""

    id: str
    runs: int
    """Number of runs with a trial of the target."""
    last_run: str
    last_started_at: str


def runs(store: Store, wanted: Wanted, *, first: int, limit: int) -> tuple[list[RunLine], int]:
    """Return a page of the matching runs, newest first, and the number of all matching runs."""
    where, values = _condition(store, wanted)
    ((count,),) = store.select(f"SELECT count(*) FROM run WHERE {where}", values)
    return store.lines(where, values, first=first, limit=limit), count


def state(store: Store, run_id: str) -> RunLine | None:
    """Return the progress of a run; ``None`` if the run doesn't exist. The query is cheap enough to poll every second."""
    return next(iter(store.lines("id = ?", (run_id,))), None)


def newest(store: Store, count: int) -> set[str]:
    """Return the ids of the newest runs."""
    return {name for (name,) in store.select("SELECT id FROM run ORDER BY sequence DESC LIMIT ?", (count,))}


def before(store: Store, run_id: str) -> str | None:
    """Return the id of the newest earlier run that measured one of the same targets under the same load on the same cores."""
    found = store.select(
        """
        SELECT id FROM run
        WHERE sequence < (SELECT sequence FROM run WHERE id = ?1)
          AND EXISTS (SELECT 1 FROM figures WHERE run_id = run.id AND cell IN (SELECT cell FROM figures WHERE run_id = ?1))
        ORDER BY sequence DESC LIMIT 1
        """,
        (run_id,),
    )
    return found[0][0] if found else None


def targets(store: Store) -> list[ListedTarget]:
    """Return the measured targets, sorted by id."""
    found = store.select(
        """
        SELECT target, runs, id, started_at
        FROM (SELECT target, count(DISTINCT run_id) AS runs, max(sequence) AS newest
              FROM trial JOIN run ON run.id = trial.run_id GROUP BY target)
        JOIN run ON sequence = newest ORDER BY target LIMIT ?
        """,
        (TARGETS_MAX,),
    )
    return [ListedTarget(*row) for row in found]


def extent(store: Store, target: str) -> tuple[int, str | None]:
    """Return the number of a target's trials, and the greatest id among its runs.

    At least one of these values changes whenever the target's history changes, even if runs are deleted.
    """
    ((count, last),) = store.select("SELECT count(*), max(run_id) FROM trial WHERE target = ?", (target,))
    return count, last


def target_ids(store: Store) -> list[str]:
    """Return the ids of all measured targets.

    The query steps through the index from one target to the next, so its cost doesn't depend on the number of trials.
    """
    found = store.select(
        """
        WITH RECURSIVE known(target) AS (
            SELECT min(target) FROM trial
            UNION ALL
            SELECT (SELECT min(target) FROM trial WHERE target > known.target) FROM known WHERE known.target IS NOT NULL
        )
        SELECT target FROM known WHERE target IS NOT NULL
        """
    )
    return [str(name) for (name,) in found]  # in a damaged file, it can have another type


def _condition(store: Store, wanted: Wanted) -> tuple[str, Sequence[object]]:
    """Return the filter as an SQL condition with its values."""
    parts: list[tuple[str, object]] = []
    if wanted.target:
        # The unary "+" prevents SQLite from using the index on ids, so that it uses the index on all searched columns.
        fitting = [name for name in target_ids(store) if wanted.target.lower() in name.lower()]
        parts.append(("+id IN (SELECT run_id FROM trial WHERE target IN (SELECT value FROM json_each(?)))", json.dumps(fitting)))
    parts += [(condition, value) for name, condition in CONDITIONS.items() if (value := getattr(wanted, name))]
    return " AND ".join(part for part, _ in parts) or "1", [value for _, value in parts]
