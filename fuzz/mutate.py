"""Random changes to JSON, TOML, histograms, SQLite files and arbitrary bytes. Each function depends only on its arguments."""

from __future__ import annotations

import base64
import copy
import json
import math
import random
import re
import sqlite3
import struct
import zlib
from collections.abc import Callable
from contextlib import closing, suppress
from typing import Any

TOKENS: list[str] = []


def raw(text: str) -> str:
    """Return a string that stands for a token without quotes, such as ``NaN`` or a number of 5000 digits."""
    TOKENS.append(text)
    return f"\ue000{len(TOKENS) - 1}\ue000"


RAW = re.compile(r'"\\ue000(\d{1,3})\\ue000"')
"""Such a string in JSON."""

NUMBERS = (0, -0.0, -1, 1, 2, 0.5, 1e-320, 1e-9, 1e19, 1e308, -1e308, 500, 1000, 65_536, 2**31, 2**53, 2**63 - 1, 2**63, 2**64, -(2**63))
TEXTS = (
    "",
    "\0",
    "\ud800",
    "\ud83d\udd25",
    "a" * 100_000,
    "../" * 50,
    "/etc/passwd",
    "é\u202e\x1b[31m",
    "\n",
    "9" * 5000,
    "1e999",
    "=1+1",
    "{" * 100,
    "'",
    '"',
    "%s%n{0}",
    "[red]",
    "0000-00-00",
    "9999-12-31T23:59:59.999Z",
    "2026-11-21T08:00:00.000",
)
COMMON: tuple[Any, ...] = (*NUMBERS, *TEXTS, True, False, [], {}, [[]], [0], {"": 0}, [0] * 10_000, [""] * 1000)
NESTED = [(character * depth, end * depth) for character, end in ("[]", ('{"a":', "}")) for depth in (100, 100_000)]
JSON_VALUES = (
    *COMMON,
    None,
    *(raw(text) for text in ("1e999", "-1e999", "NaN", "Infinity", "-Infinity", "9" * 5000, "1" + "0" * 300, "-", "01", "1.", "nope")),
    *(raw(start + middle + end) for start, end in NESTED for middle in ("", "0")),
    *(raw(start) for start, _ in NESTED),
    raw('{"a": 1, "a": 2}'),
)
TOML_VALUES = (
    *COMMON,
    *(
        raw(text)
        for text in ("nan", "inf", "-inf", "1e999", "9" * 5000, "0x" + "f" * 5000, "1979-05-27T07:32:00Z", "07:32:00", "2026-11-22")
    ),
    *(raw("[" * depth + "]" * depth) for depth in (100, 100_000)),
    *(raw("{a=" * depth + "1" + "}" * depth) for depth in (100, 100_000)),
    raw(".".join("a" * 10_000)),
    raw('"""'),
)
PIECES = (
    b"\0",
    b"\xff",
    b"\xed\xa0\x80",
    b"[" * 1000,
    b"{",
    b"}",
    b'"',
    b"\\u0000",
    b"\xef\xbb\xbf",
    b"\n",
    b"9" * 30,
    b"e99",
    b"-",
    b" " * 5000,
)
STOP_SHARE, STOP_SHARE_ROOT = 0.15, 0.02
"""Probability that a change applies to a value rather than to a part of it."""
LITTLE = 10_000
"""Longest span that is cut or repeated, in bytes."""


def bytes_of(data: bytes, chance: random.Random, changes: int = 4) -> bytes:
    """Flip bits, and cut, repeat, swap and insert spans."""
    found = bytearray(data)
    for _ in range(chance.randint(1, changes)):
        if not found:
            return bytes(found)
        at = chance.randrange(len(found))
        end = at + chance.randint(1, chance.choice((1, 4, 64, LITTLE)))
        match chance.randrange(7):
            case 0:
                found[at] ^= 1 << chance.randrange(8)
            case 1:
                found[at] = chance.randrange(256)
            case 2:
                del found[at:end]
            case 3:
                found[at:at] = found[at:end] * chance.randint(1, 3)
            case 4:
                found[at:at] = chance.choice(PIECES)
            case 5:
                to = chance.randrange(len(found))
                found[at:end] = found[to : to + end - at]
            case _ if chance.random() < 0.3:
                del found[at:]
    return bytes(found)


def tree(value: Any, chance: random.Random, values: tuple[Any, ...], changes: int = 3) -> Any:
    """Change a few values or keys of a tree in place, and return it."""
    whole = [value]
    for _ in range(chance.choice((1, 1, 1, changes))):
        _change(whole, chance, values)
    return whole[0]


def _change(whole: list[Any], chance: random.Random, values: tuple[Any, ...]) -> None:
    """Change a random part of the only element."""
    holder, key = _part(whole, chance)
    old = holder[key]
    match chance.randrange(12):
        case 0 if holder is not whole:
            del holder[key]
        case 1 if isinstance(holder, dict):
            holder[chance.choice((f"{key}x", "", "\0", "a" * 1000, "schema", "\ud800", str(key).upper()))] = holder.pop(key)
        case 2:
            other, where = _part(whole, chance)
            holder[key] = copy.deepcopy(other[where])
        case 3 if isinstance(old, dict):
            old[chance.choice(("extra", "name", "", "url"))] = copy.deepcopy(chance.choice(values))
        case 4 if isinstance(old, list):
            holder[key] = chance.choice(
                (old * 2, old[::-1], old[: len(old) // 2], [*old, copy.deepcopy(chance.choice(values))], old[:1] * 300)
            )
        case 5 | 6 if isinstance(old, int | float) and not isinstance(old, bool):
            factor = chance.choice((-1, 0, 0.5, 1.5, 10, 1e-6, 1e6, 1e12))
            holder[key] = chance.choice((old * factor, old + 1, old - 1, str(old), [old], None))
            if isinstance(holder[key], float) and math.isfinite(holder[key]) and chance.random() < 0.5:
                holder[key] = int(holder[key])
        case 5 | 6 if isinstance(old, str) and old:
            at = chance.randrange(len(old))
            holder[key] = (
                old[:at] + chance.choice((*TEXTS, " ", "-", ",", ":", "/", "*", "{", "{host}", "1")) + old[at + chance.randrange(3) :]
            )
        case 7 | 8 | 9 if alike := [each for each in values if type(each) is type(old) or {type(each), type(old)} == {int, float}]:
            holder[key] = copy.deepcopy(chance.choice(alike))  # more likely to be valid
        case _:
            holder[key] = copy.deepcopy(chance.choice(values))


def _part(whole: list[Any], chance: random.Random) -> tuple[Any, Any]:
    """Return a container and a key in it. Each level of the tree is equally likely."""
    holder, key = whole, 0
    while (
        isinstance(inner := holder[key], dict | list) and inner and chance.random() > (STOP_SHARE_ROOT if holder is whole else STOP_SHARE)
    ):
        holder, key = inner, chance.choice(list(inner)) if isinstance(inner, dict) else chance.randrange(len(inner))
    return holder, key


def json_text(value: Any) -> bytes:
    """Format a tree as JSON with its raw tokens."""
    return RAW.sub(lambda match: TOKENS[int(match[1]) % len(TOKENS)], json.dumps(value)).encode()


def toml_text(value: Any) -> bytes:
    """Format a tree as TOML, with inline tables below the first level."""
    lines = (f"{json.dumps(key)} = {_inline(each)}\n" for key, each in value.items()) if isinstance(value, dict) else [_inline(value)]
    return RAW.sub(lambda match: TOKENS[int(match[1]) % len(TOKENS)], "".join(lines)).encode()


def _inline(value: Any) -> str:
    match value:
        case dict():
            return f"{{{', '.join(f'{json.dumps(key)} = {_inline(each)}' for key, each in value.items())}}}"
        case list():
            return f"[{', '.join(map(_inline, value))}]"
        case _:
            return json.dumps(value, default=str)


def histogram(text: str, chance: random.Random) -> str:
    """Change the numbers in a compressed HdrHistogram V2, its compressed bytes or its text."""
    if chance.random() < 0.15:
        return bytes_of(text.encode(), chance).decode(errors="replace")
    with suppress(ValueError, struct.error, zlib.error):
        envelope = base64.b64decode(text)
        plain = bytearray(zlib.decompress(envelope[8:]))
        *header, counts = *struct.unpack_from(">iiiiqqd", plain), bytes(plain[40:])
        for _ in range(chance.randint(1, 3)):
            place = chance.randrange(len(header) + 3)
            if place >= len(header):
                counts = chance.choice(
                    (bytes_of(counts, chance), counts * 20, b"\xff" * 9 + counts, counts + b"\xfe" * 8 + b"\x01", bytes(100_000))
                )
                continue
            limit = 31 if place < 4 else 63
            header[place] = chance.choice(
                (0, 1, -1, 2, 3, 5, 6, 1 << (limit - 1), (1 << limit) - 1, -(1 << limit), chance.getrandbits(limit))
            )
        header[6] = float(header[6])
        if chance.random() < 0.5:
            header[1] = len(counts)
        packed = zlib.compress(struct.pack(">iiiiqqd", *header) + counts)
        length = len(packed) if chance.random() < 0.8 else chance.getrandbits(31)
        envelope = envelope[:4] + struct.pack(">i", length) + (packed if chance.random() < 0.9 else bytes_of(packed, chance))
        return base64.b64encode(envelope).decode()
    return bytes_of(text.encode(), chance).decode(errors="replace")


def histograms(value: Any, chance: random.Random) -> None:
    """Change a histogram somewhere in a tree, in place."""
    found = [part for part in _dicts(value) if isinstance(part.get("histogram"), str)]
    if found:
        part = chance.choice(found)
        part["histogram"] = histogram(part["histogram"], chance)


def _dicts(value: Any) -> list[dict[str, Any]]:
    found, open_ = [], [value]
    while open_:
        part = open_.pop()
        if isinstance(part, dict):
            found.append(part)
            open_.extend(part.values())
        elif isinstance(part, list):
            open_.extend(part)
    return found


# --- SQLite ---------------------------------------------------------------------------------------------------------------------

ENDLESS = "WITH RECURSIVE forever(x) AS (SELECT 1 UNION ALL SELECT x FROM forever)"
HUGE = "printf('%.*c', 900000000, 'x')"
CELLS = (
    *(
        "NULL",
        "''",
        "x'ff00'",
        "CAST(x'ff' AS TEXT)",
        "CAST(x'610062' AS TEXT)",
        "9223372036854775807",
        "-1",
        "1e999",
        "1.5",
        "'[]'",
        "'{}'",
    ),
    *(
        "'null'",
        "'1'",
        "'[1'",
        "'[null]'",
        "'[[1]]'",
        "'\"a\"'",
        "replace(printf('%.100000c', '['), '', '')",
    ),
    *("'c/epoll/level'", "'target'", "'running'", "'2026-11-21T08:00:00.000Z'", "'9999-12-31'"),
)


def store(data: bytes, chance: random.Random) -> bytes:
    """Change the bytes, documents, cells or schema of a store."""
    if chance.random() < 0.25:
        return _pages(data, chance)
    for _ in range(chance.randint(1, 2)):
        change = chance.choice((_documents, _documents, _documents, _cells, _cells, _schema))
        with suppress(sqlite3.Error, ValueError, TypeError, IndexError, RecursionError, MemoryError):
            data = _with_database(data, lambda connection, change=change: change(connection, chance))
    return _pages(data, chance) if chance.random() < 0.1 else data


def _with_database(data: bytes, change: Callable[[sqlite3.Connection], None]) -> bytes:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.deserialize(data)
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("PRAGMA ignore_check_constraints = ON")
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 1_000_000)  # huge values are for the reader
        connection.set_progress_handler(lambda: 1, 1_000_000)  # ends endless statements
        change(connection)
        return connection.serialize()


def _pages(data: bytes, chance: random.Random) -> bytes:
    """Change bytes at random places, often in the headers of the file or of its pages."""
    found = bytearray(data)
    for _ in range(chance.choice((1, 1, 3, 20, 200))):
        page = 4096 * chance.randrange(max(len(found) // 4096, 1))
        at = chance.choice((chance.randrange(100), page + chance.randrange(16), chance.randrange(len(found))))
        found[min(at, len(found) - 1)] = chance.choice((0, 1, 2, 0x7F, 0xFF, chance.randrange(256)))
    return bytes_of(bytes(found), chance) if chance.random() < 0.2 else bytes(found)


def _documents(connection: sqlite3.Connection, chance: random.Random) -> None:
    table, column = chance.choice((("run", "document"), ("trial", "document"), ("figures", "cell"), ("histogram", "data"), ("run", "tags")))
    rows = connection.execute(f"SELECT DISTINCT {column} FROM {table} ORDER BY 1 LIMIT 50").fetchall()
    if not rows:
        return
    (old,) = chance.choice(rows)
    if not isinstance(old, str):
        return
    new = histogram(old, chance) if table == "histogram" else json_text(tree(json.loads(old), chance, JSON_VALUES))
    same = "" if chance.random() < 0.3 else f"WHERE {column} = ?2"
    connection.execute(f"UPDATE {table} SET {column} = CAST(?1 AS TEXT) {same}", (new, old)[: 1 + bool(same)])


def _cells(connection: sqlite3.Connection, chance: random.Random) -> None:
    """Set a column to a value that the schema forbids."""
    connection.execute("UPDATE sqlite_master SET sql = replace(replace(sql, ') STRICT', ')'), 'NOT NULL', '') WHERE type = 'table'")
    connection.deserialize(connection.serialize())  # parses the schema again
    table, column = _column(connection, chance)
    limit = chance.choice(("", "WHERE rowid = 1")) if table != "figures" else ""
    connection.execute(f"UPDATE {table} SET {column} = {chance.choice(CELLS)} {limit}")


def _schema(connection: sqlite3.Connection, chance: random.Random) -> None:
    table, column = _column(connection, chance)
    columns = [name for _, name, *_ in connection.execute(f"PRAGMA table_info({table})")]
    values = ", ".join(f"1 AS {name}" for name in columns)
    statements = chance.choice(
        (
            [f"PRAGMA user_version = {chance.choice((0, 1, 2, 3, 5, -1, 2**31 - 1))}"],
            [f"DROP TABLE {table}"],
            [f"ALTER TABLE {table} DROP COLUMN {column}"],
            [f"ALTER TABLE {table} RENAME TO other", f"CREATE VIEW {table} AS SELECT * FROM other"],
            [f"DROP TABLE {table}", f"CREATE VIEW {table} AS {ENDLESS} SELECT {values} FROM forever"],
            [f"DROP TABLE {table}", f"CREATE TABLE {table} ({', '.join(columns)})", f"INSERT INTO {table} SELECT {values}"],
            [f"CREATE TRIGGER t BEFORE DELETE ON {table} BEGIN SELECT ({ENDLESS} SELECT count(x) FROM forever); END"],
            [f"CREATE TRIGGER t BEFORE INSERT ON {table} BEGIN SELECT RAISE(ABORT, 'no'); END"],
            [f"UPDATE sqlite_master SET sql = replace(sql, '{column}', '{column} DEFAULT ({HUGE})') WHERE name = '{table}'"],
            [
                f"UPDATE sqlite_master SET sql = replace(sql, '    {column} ', '    {column} TEXT AS ({HUGE}), other ') "
                f"WHERE name = '{table}' AND type = 'table'"
            ],
            ["UPDATE sqlite_master SET rootpage = 2"],
            [f"UPDATE sqlite_master SET sql = '{chance.choice(('', 'CREATE', 'SELECT 1', 'CREATE TABLE x(y)'))}' WHERE name = '{table}'"],
            [f"INSERT INTO {table} SELECT * FROM {table}"],
            ["UPDATE run SET sequence = NULL"],
        )
    )
    for statement in statements:
        connection.execute(statement)


def _column(connection: sqlite3.Connection, chance: random.Random) -> tuple[str, str]:
    table = chance.choice(("run", "trial", "figures", "histogram"))
    columns = [name for _, name, *_ in connection.execute(f"PRAGMA table_info({table})")]
    return table, chance.choice(columns)
