"""Find a run by id, name, age or commit."""

from __future__ import annotations

import re
import sqlite3
from typing import Any

WAYS = "an id or its beginning, latest, latest~1, the run's name, a git commit"
"""Ways to refer to a run, of which the first match is used. Among several runs with one name or commit, the newest."""

LATEST = re.compile(r"latest(?:~(\d{1,6}))?")
COMMIT = re.compile(r"[0-9a-f]{7,40}")
QUERY = "SELECT id, status, boot_id, pid, pid_start_ticks, finished_at, document FROM run"
NEWEST = "ORDER BY sequence DESC LIMIT 1"


def find(connection: sqlite3.Connection, word: str) -> list[Any]:
    """Return the rows of the matching runs: one, none, or several if a prefix of an id is ambiguous."""
    if match := LATEST.fullmatch(word):
        return connection.execute(f"{QUERY} {NEWEST} OFFSET ?", (int(match[1] or 0),)).fetchall()
    if found := connection.execute(f"{QUERY} WHERE substr(id, 1, ?) = ?", (len(word), word)).fetchall():
        return found
    if found := connection.execute(f"{QUERY} WHERE json_extract(document, '$.name') = ? {NEWEST}", (word,)).fetchall():
        return found
    if not COMMIT.fullmatch(word):
        return []
    # A folder with changes doesn't match its commit, so "+changes" never matches.
    commit = "json_extract(document, '$.environment.git_commit')"
    where = f"substr({commit}, 1, ?) = ? AND {commit} NOT LIKE '%+changes'"
    return connection.execute(f"{QUERY} WHERE {where} {NEWEST}", (len(word), word)).fetchall()
