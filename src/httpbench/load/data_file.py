"""Build one request for each row of a data file, from a template with placeholders such as ``{id}``."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from urllib.parse import quote

from httpbench.errors import UsageError
from httpbench.load.requests import REQUESTS_BYTES_MAX, size_bytes, too_many
from httpbench.load.text_file import CONTROL, UNSENDABLE, Invalid, TextFile, encoded_bytes, parsed_json, quoted, read
from httpbench.model import ListedRequest, Request
from httpbench.text import listed

PLACEHOLDER = re.compile(r"\{\{\s*([^\W\d][\w.-]*)\s*\}\}|\{([^\W\d][\w.-]*)\}")
"""``{column}``, or ``{{column}}`` as in ``.http`` files."""

PLACEHOLDERS_MAX = 10_000
"""Maximum number of placeholders in a template."""
INSERTIONS_MAX = 3_000_000
"""Maximum number of values that are inserted into all requests together. Empty values take time, too."""

Row = Mapping[str, str]


def read_rows(path: Path, template: Request) -> tuple[ListedRequest, ...]:
    """Return one request for each row of a CSV or JSON Lines file.

    The values are inserted as they are, except that paths are percent-encoded where they must be. Raises :class:`UsageError` if the file is
    invalid, if it lacks a column that the template names, if the template names no column or too many, or if there are too many requests.
    """
    rows_of = {".csv": _csv_rows, ".jsonl": _json_rows, ".ndjson": _json_rows}.get(path.suffix.lower())
    if rows_of is None:
        raise TextFile(path, "").error("unknown kind of data file", hint="use a name that ends with .csv or .jsonl")
    file = read(path)
    placeholders = _placeholders(template)
    if placeholders > PLACEHOLDERS_MAX:
        raise UsageError(f"the request has more than {PLACEHOLDERS_MAX:,} placeholders", hint="use a smaller request")
    filling = _Filling.of(template)
    found, total_bytes = list[ListedRequest](), 0
    for line, row in rows_of(file):
        if (len(found) + 1) * placeholders > INSERTIONS_MAX:
            raise file.error(f"more than {INSERTIONS_MAX:,} values for the request's placeholders", line, hint="use fewer rows")
        with file.place(line):
            request = filling.request(row)
            total_bytes += size_bytes(request)
        found.append(ListedRequest(request=request))
        if problem := too_many(len(found), total_bytes):
            raise file.error(problem, line, hint="use fewer rows")
    if not found:
        raise file.error("no rows", hint="add rows below the names of the columns")
    if not filling.columns:
        example = f"--path '/items/{{{next(iter(row), 'id')}}}'"
        raise file.error("the request has no placeholder for a column", hint=f"insert one into the path, a header or the body: {example}")
    return tuple(found)


# --- rows ------------------------------------------------------------------------------------------------------------------------


def _csv_rows(file: TextFile) -> Iterator[tuple[int, Row]]:
    """Yield the line and the values of each row. The first row contains the names of the columns."""
    reader = csv.reader(io.StringIO(file.text, newline=""), strict=True)
    columns: list[str] | None = None
    line = 1
    try:
        for values in reader:
            if columns is None:
                columns = _columns(file, values, line)
            elif len(values) not in (0, len(columns)):
                raise file.error(f"{len(columns)} columns, but {len(values)} in this row", line)
            elif values:
                yield line, dict(zip(columns, values, strict=True))
            line = reader.line_num + 1
    except csv.Error as error:
        raise file.error(f"not CSV: {error}", line) from None


def _columns(file: TextFile, names: Sequence[str], line: int) -> list[str]:
    columns = [name.strip() for name in names]
    seen = set[str]()
    for number, name in enumerate(columns, 1):
        if not name:
            raise file.error(f"column {number} has no name", line, hint="the first line contains the names of the columns")
        if name in seen:
            raise file.error(f"two columns are called {quoted(name)}", line)
        seen.add(name)
    return columns


def _json_rows(file: TextFile) -> Iterator[tuple[int, Row]]:
    """Yield the line and the values of each object. Values other than text are inserted as JSON."""
    for number, line in enumerate(file.lines, 1):
        if not line.strip():
            continue
        with file.place(number, 1):
            row = parsed_json(line)
            if not isinstance(row, dict):
                raise Invalid("not a JSON object", hint='write each row as {"column": value, …}')
        yield number, {name: value if isinstance(value, str) else json.dumps(value) for name, value in row.items()}


# --- placeholders ----------------------------------------------------------------------------------------------------------------


def _placeholders(template: Request) -> int:
    """Return the number of placeholders in a template, but at most one more than ``PLACEHOLDERS_MAX``."""
    texts = (template.path, *template.headers.values(), template.body)
    found = chain.from_iterable(map(PLACEHOLDER.finditer, texts))
    return sum(1 for _ in islice(found, PLACEHOLDERS_MAX + 1))


@dataclass(frozen=True, slots=True)
class _Piece:
    """A text with placeholders."""

    place: str
    """Place of the text in the request, for messages."""
    words: tuple[str, ...]
    """Fixed texts and names of columns, in turns. The first and the last are fixed texts."""

    @classmethod
    def of(cls, place: str, text: str) -> _Piece:
        words, end = list[str](), 0
        for match in PLACEHOLDER.finditer(text):
            words += [text[end : match.start()], match[1] or match[2]]
            end = match.end()
        return cls(place, (*words, text[end:]))

    @property
    def columns(self) -> tuple[str, ...]:
        return self.words[1::2]

    def filled(self, row: Row) -> str:
        """Return the text with the values of a row. Raises :class:`Invalid` if the row lacks a column."""
        if len(self.words) == 1:
            return self.words[0]
        words = list(self.words)
        for at in range(1, len(words), 2):
            if words[at] not in row:
                hint = f"its columns are {listed(row)}" if row else "it has no columns"
                raise Invalid(f"no column {quoted(words[at])}, which {self.place} uses", hint=hint)
            words[at] = row[words[at]]
        if sum(map(len, words)) > REQUESTS_BYTES_MAX:
            raise Invalid(f"it makes {self.place} larger than {REQUESTS_BYTES_MAX >> 20} MB")
        return "".join(words)


@dataclass(frozen=True, slots=True)
class _Filling:
    """A template whose placeholders have been located."""

    template: Request
    path: _Piece
    headers: Mapping[str, _Piece]
    body: _Piece

    @classmethod
    def of(cls, template: Request) -> _Filling:
        headers = {name: _Piece.of(f"the header {name}", value) for name, value in template.headers.items()}
        return cls(template, _Piece.of("the path", template.path), headers, _Piece.of("the body", template.body))

    @property
    def columns(self) -> set[str]:
        return {name for piece in (self.path, *self.headers.values(), self.body) for name in piece.columns}

    def request(self, row: Row) -> Request:
        """Return the request for a row. Raises :class:`Invalid` if the row lacks a column or has a value that can't be sent."""
        path = self.path.filled(row)
        encoded_bytes(path)
        path = UNSENDABLE.sub(lambda found: quote(found[0]), path)
        headers = {name: piece.filled(row) for name, piece in self.headers.items()}
        for name, value in headers.items():
            if CONTROL.search(value):
                columns = listed(quoted(column) for column in self.headers[name].columns)
                raise Invalid(f"a line break or control character in the column {columns}, which the header {name} uses")
        return self.template.model_copy(update={"path": path, "headers": headers, "body": self.body.filled(row)})
