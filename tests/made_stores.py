"""Stores with many runs, made in seconds: one run is stored as usual, then copied within the database with noise."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

from httpbench.model import Run, Trial
from httpbench.store import Store

FIRST = datetime(2026, 1, 1, tzinfo=UTC)

COPY_RUN = """
    INSERT INTO run (sequence, id, started_at, finished_at, status, boot_id, pid, pid_start_ticks, name, git_commit, tags, document)
    SELECT :sequence, :id, :started_at, :started_at, 'finished', '', 0, 0, NULL, :commit, :tags,
           json_set(document, '$.id', :id, '$.started_at', :started_at, '$.environment.git_commit', :commit)
    FROM run WHERE sequence = 1
"""
COPIES = (
    """
    INSERT INTO trial SELECT :id, number, round, target, scaling, workload, load_generator, connections, verdict,
    throughput_rps * :factor, document FROM trial WHERE run_id = :first
    """,
    """
    INSERT INTO figures SELECT :id, number, target, cell, round, attempt, verdict,
    throughput_rps * :factor, latency_us_p99 / :factor, wall_s FROM figures WHERE run_id = :first
    """,
    "INSERT INTO histogram SELECT :id, number, name, data FROM histogram WHERE run_id = :first",
)


def make_store(path: Path, made: tuple[Run, Sequence[Trial]], copies: int, *, with_histograms: bool = False) -> list[str]:
    """Store a run and copies of it half an hour apart, and return their ids, oldest first. The later half of the copies is 7% slower."""
    run, trials = made
    with Store(path) as store:
        store.begin(run)
        for trial in trials:
            store.add(run.id, trial)
    ids = [run.id]
    with closing(sqlite3.connect(path)) as connection:
        for number in range(1, copies + 1):
            started = FIRST + timedelta(minutes=30 * number)
            values = {
                "sequence": number + 1,
                "id": f"{started:%Y%m%dT%H%M%S}-{number:04x}",
                "started_at": f"{started:%Y-%m-%dT%H:%M:%S}.000Z",
                "commit": hashlib.sha1(str(number).encode()).hexdigest(),
                "tags": '["nightly"]' if number % 2 else "[]",
                "first": run.id,
                "factor": (1 + 0.004 * ((number * 7) % 5 - 2)) * (1.0 if number <= copies // 2 else 0.93),
            }
            connection.execute(COPY_RUN, values)
            for copy in COPIES if with_histograms else COPIES[:-1]:
                connection.execute(copy, values)
            ids.append(str(values["id"]))
        connection.commit()
    return ids
