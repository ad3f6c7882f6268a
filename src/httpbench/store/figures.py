"""Read the results of a target in many runs from the table ``figures``, without reading the documents of trials.

A history has thousands of trials, and reading one document takes milliseconds because it contains samples, intervals and logs.
"""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

from pydantic import TypeAdapter

from httpbench.model import Environment, LoadHost, Target, Trial, VerdictKind
from httpbench.model.foreign import parsed


@dataclass(frozen=True, slots=True)
class TrialFigures:
    """The results of one trial. A result is ``None`` if the trial doesn't count or has no such result."""

    cell: str
    """Plan of the trial as JSON, without number, round and attempt. The text is the same for all trials of a cell on the same cores."""
    round: int
    attempt: int
    verdict: VerdictKind
    throughput_rps: float | None
    latency_us_p99: float | None
    wall_s: float | None
    """Wall time of a client, in seconds."""


@dataclass(frozen=True, slots=True)
class RunFigures:
    """The results of one target in one run."""

    id: str
    name: str | None
    started_at: str
    environment: Environment
    load_host: LoadHost | None
    target: Target
    workloads: str
    """Workloads of the run by name, as JSON."""
    trials: tuple[TrialFigures, ...]
    """Trials in the order in which they ran."""


_WORDS = TypeAdapter(tuple[str, str | None, str])
"""Id, name and start of a run. In a damaged file, they can have other types."""


def figures_of(trial: Trial) -> TrialFigures:
    """Return the results of a trial for the table ``figures``."""
    measurement = trial.measurement if trial.verdict.counts else None
    times = measurement.times_us if measurement else None
    return TrialFigures(
        cell=trial.plan.model_dump_json(exclude={"number", "round", "attempt"}),
        round=trial.plan.round,
        attempt=trial.plan.attempt,
        verdict=trial.verdict.kind,
        throughput_rps=measurement.throughput_rps if measurement else None,
        latency_us_p99=times.p99 if times else None,
        wall_s=trial.client.whole.wall_s if trial.client and trial.verdict.counts else None,
    )


def runs_of(connection: sqlite3.Connection, target: str, runs_max: int) -> list[RunFigures]:
    """Return the newest runs with the target, oldest first."""
    runs = connection.execute(
        """
        SELECT id, json_extract(document, '$.name'), started_at, json_extract(document, '$.environment'),
               json_extract(document, '$.load_host'), json_extract(document, '$.targets."' || ?1 || '"'),
               json_extract(document, '$.workloads')
        FROM run
        WHERE EXISTS (SELECT 1 FROM figures WHERE target = ?1 AND run_id = id) AND json_extract(document, '$.search') IS NULL
        ORDER BY sequence DESC LIMIT ?2
        """,
        (target, runs_max),
    ).fetchall()
    rows = connection.execute(
        """
        SELECT run_id, cell, CAST(round AS INTEGER), CAST(attempt AS INTEGER), verdict,
               CAST(throughput_rps AS REAL), CAST(latency_us_p99 AS REAL), CAST(wall_s AS REAL)
        FROM figures WHERE target = ? AND run_id IN (SELECT value FROM json_each(?)) ORDER BY run_id, number
        """,
        (target, json.dumps([run[0] for run in runs])),
    )
    trials = {
        run: tuple(
            TrialFigures(cell, round_, attempt, VerdictKind(verdict), *figures) for _, cell, round_, attempt, verdict, *figures in own
        )
        for run, own in groupby(rows, itemgetter(0))
    }
    return [
        RunFigures(
            *_WORDS.validate_python((run, name, started_at)),
            environment=parsed(Environment, environment),
            load_host=parsed(LoadHost, load_host) if load_host else None,
            target=parsed(Target, described),
            workloads=workloads,
            trials=trials[run],
        )
        for run, name, started_at, environment, load_host, described, workloads in reversed(runs)
    ]
