"""Results files that httpbench would never write."""

from __future__ import annotations

import sqlite3
import struct
from contextlib import closing
from pathlib import Path

MAGIC = bytes.fromhex("d9d505f920a163d7")
SECTOR, PAGE = 512, 4096


def without_types(db: Path, *statements: str) -> None:
    """Execute statements as if the schema had no types. The definitions of tables and indexes that they don't change stay the same."""
    with closing(sqlite3.connect(db, isolation_level=None)) as connection:
        before = connection.execute("SELECT sql, name FROM sqlite_master WHERE type = 'table'").fetchall()
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("UPDATE sqlite_master SET sql = replace(replace(sql, ') STRICT', ')'), 'NOT NULL', '') WHERE type = 'table'")
        untyped = connection.execute("SELECT sql, name FROM sqlite_master WHERE type = 'table'").fetchall()
    with closing(sqlite3.connect(db, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.execute("PRAGMA writable_schema = ON")
        for (sql, name), (loose, _) in zip(before, untyped, strict=True):
            connection.execute("UPDATE sqlite_master SET sql = ? WHERE name = ? AND sql = ?", (sql, name, loose))


def plant_journal(db: Path, victim: Path) -> None:
    """Put a journal next to a results file that names another file as the journal of several databases, which SQLite deletes.

    Format: https://www.sqlite.org/fileformat2.html#the_rollback_journal.
    """
    with closing(sqlite3.connect(db)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
    name = bytes(victim)
    head = MAGIC + struct.pack(">IIIII", 0, 0, db.stat().st_size // PAGE, SECTOR, PAGE)
    tail = struct.pack(">I", (1 << 30) // PAGE + 1) + name + struct.pack(">II", len(name), sum(name)) + MAGIC
    Path(f"{db}-journal").write_bytes(head.ljust(SECTOR, b"\0") + tail)
