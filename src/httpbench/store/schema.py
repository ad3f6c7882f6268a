"""The tables of the results file, as numbered migrations.

To change the tables, add a migration. Never edit one that has been released. SQLite's ``user_version`` is the number of applied migrations.
The tables ``run`` and ``trial`` contain whole models as JSON, in addition to the columns that queries use. New fields of models therefore
need no migration, and the file contains everything that a report needs.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from functools import cache

from httpbench.errors import StoreError

MIGRATIONS: tuple[str, ...] = (
    """
    CREATE TABLE run (
        id          TEXT PRIMARY KEY,
        started_at  TEXT NOT NULL,
        finished_at TEXT,
        status      TEXT NOT NULL,
        pid         INTEGER NOT NULL,
        pid_started REAL NOT NULL,
        document    TEXT NOT NULL
    ) STRICT;
    CREATE TABLE trial (
        run_id         TEXT NOT NULL REFERENCES run(id) ON DELETE CASCADE,
        number         INTEGER NOT NULL,
        round          INTEGER NOT NULL,
        target         TEXT NOT NULL,
        scaling        TEXT NOT NULL,
        workload       TEXT NOT NULL,
        load_generator TEXT NOT NULL,
        connections    INTEGER NOT NULL,
        verdict        TEXT NOT NULL,
        throughput_rps REAL,
        document       TEXT NOT NULL,
        PRIMARY KEY (run_id, number)
    ) STRICT;
    CREATE TABLE histogram (
        run_id TEXT NOT NULL,
        number INTEGER NOT NULL,
        name   TEXT NOT NULL,
        data   TEXT NOT NULL,
        PRIMARY KEY (run_id, number, name),
        FOREIGN KEY (run_id, number) REFERENCES trial(run_id, number) ON DELETE CASCADE
    ) STRICT;
    CREATE INDEX trial_by_target ON trial(target, run_id);
    """,
    # Add the order in which runs began, and columns that identify the process of a run even if the system clock is changed.
    """
    ALTER TABLE run ADD COLUMN sequence INTEGER;
    UPDATE run SET sequence = rowid;
    CREATE UNIQUE INDEX run_by_sequence ON run(sequence);
    ALTER TABLE run ADD COLUMN boot_id TEXT NOT NULL DEFAULT '';
    ALTER TABLE run ADD COLUMN pid_start_ticks INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE run DROP COLUMN pid_started;
    """,
    # Add a table with the results that a target's history shows, so that a history of many runs doesn't have to read documents. ``cell``
    # is a trial's plan without its position in the run.
    """
    CREATE TABLE figures (
        run_id         TEXT NOT NULL,
        number         INTEGER NOT NULL,
        target         TEXT NOT NULL,
        cell           TEXT NOT NULL,
        round          INTEGER NOT NULL,
        attempt        INTEGER NOT NULL,
        verdict        TEXT NOT NULL,
        throughput_rps REAL,
        latency_us_p99 REAL,
        wall_s         REAL,
        PRIMARY KEY (run_id, number),
        FOREIGN KEY (run_id, number) REFERENCES trial(run_id, number) ON DELETE CASCADE
    ) STRICT, WITHOUT ROWID;
    INSERT INTO figures
    SELECT run_id, number, target, json_remove(json_extract(document, '$.plan'), '$.number', '$.round', '$.attempt'), round,
           coalesce(json_extract(document, '$.plan.attempt'), 0), verdict, throughput_rps,
           CASE WHEN throughput_rps IS NULL THEN NULL
                WHEN json_array_length(document, '$.measurement.steps') > 0
                THEN json_extract(document, '$.measurement.steps[#-1].response_time_us.p99')
                WHEN json_type(document, '$.measurement.response_time_us') = 'object'
                THEN json_extract(document, '$.measurement.response_time_us.p99')
                ELSE json_extract(document, '$.measurement.service_time_us.p99') END,
           CASE WHEN verdict NOT IN ('invalid', 'failed')
                     AND (verdict <> 'disturbed' OR json_extract(document, '$.verdict.is_accepted'))
                THEN json_extract(document, '$.client.whole.wall_s') END
    FROM trial;
    CREATE INDEX figures_by_target ON figures(target, run_id);
    """,
    # Add the columns by which users search for a run. The index covers all of them, so a search doesn't have to read documents.
    """
    ALTER TABLE run ADD COLUMN name TEXT;
    ALTER TABLE run ADD COLUMN git_commit TEXT;
    ALTER TABLE run ADD COLUMN tags TEXT NOT NULL DEFAULT '[]';
    UPDATE run SET name = json_extract(document, '$.name'), git_commit = json_extract(document, '$.environment.git_commit');
    CREATE INDEX run_by_words ON run(sequence, id, started_at, name, git_commit, tags);
    """,
    # Add a table with the profiles of runs, which are larger than everything else. ``document`` is JSON, compressed by zlib.
    """
    CREATE TABLE profile (
        run_id   TEXT NOT NULL REFERENCES run(id) ON DELETE CASCADE,
        number   INTEGER NOT NULL,
        document BLOB NOT NULL,
        PRIMARY KEY (run_id, number)
    ) STRICT;
    """,
)

TABLES = {"run", "trial", "histogram"}
MAINTENANCE = {"CREATE TABLE sqlite_stat1(tbl,idx,stat)", "CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)"}
"""Tables that SQLite's ANALYZE and ``PRAGMA optimize`` create."""


def is_current(connection: sqlite3.Connection) -> bool:
    """Return whether the tables exist and are up to date.

    Raises :class:`StoreError` if the file isn't a results database of httpbench, or if a newer version wrote it.
    """
    return _applied(connection) == len(MIGRATIONS)


def migrate(connection: sqlite3.Connection) -> None:
    """Bring the tables up to date.

    Call this function within a transaction, so that two programs that start at the same time don't both migrate. The function writes to
    the file even if there is nothing to migrate. SQLite opens a read-only file without an error, and with this write, a run fails at its
    start rather than at its end.
    """
    for script in MIGRATIONS[_applied(connection) :]:
        for statement in script.split(";"):
            connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")


def _applied(connection: sqlite3.Connection) -> int:
    (applied,) = connection.execute("PRAGMA user_version").fetchone()
    found = _schema(connection)
    if not 0 <= applied <= len(MIGRATIONS):
        raise StoreError(
            f"written by a newer httpbench (format {applied}; this one reads up to {len(MIGRATIONS)})",
            hint="update httpbench, or name another file with --db",
        )
    created = _created(applied)
    if not {name for _, name in created if name in TABLES} <= {name for _, name in found} or (found and not applied):
        raise StoreError("not a results database of httpbench", hint="name another file with --db")
    # Views, triggers and computed columns run expressions that may take hours or fill the memory, and without indexes, queries take hours.
    if differing := sorted({name for (_, name), sql in found.items() ^ created.items()}):
        raise StoreError(f"contains {differing[0]} in a form that httpbench never creates", hint="name another file with --db")
    return int(applied)


@cache
def _created(applied: int) -> dict[tuple[str, str], str | None]:
    """Return the schema after this number of migrations."""
    with closing(sqlite3.connect(":memory:")) as connection:
        for script in MIGRATIONS[:applied]:
            connection.executescript(script)
        return _schema(connection)


def _schema(connection: sqlite3.Connection) -> dict[tuple[str, str], str | None]:
    """Return the definition of each object by kind and name. Indexes that SQLite creates by itself have none."""
    rows = connection.execute("SELECT type, name, sql FROM sqlite_master")
    found = {(kind, name): sql and " ".join(str(sql).split()) for kind, name, sql in rows}
    return {key: sql for key, sql in found.items() if sql not in MAINTENANCE}
