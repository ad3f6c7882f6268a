"""Read a file with requests or data, and report problems in it by line and column."""

from __future__ import annotations

import errno
import json
import os
import re
import stat
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from httpbench.errors import UsageError
from httpbench.text import one_line

FILE_BYTES_MAX = 64 << 20
"""Maximum size of a file, in bytes."""
LINES_MAX = 2_000_000
"""Maximum number of lines in a file that is read line by line. Each of them takes more than 100 bytes of memory."""
STREAM = re.compile(r"/dev/fd/[0-9]+|/dev/stdin|/proc/self/fd/[0-9]+")
"""Pattern that matches files that httpbench inherits. For ``<(command)``, a shell inserts such a path."""
SHOWN = 60
"""Maximum number of characters that a message quotes from a file."""
DEFAULT_PORTS = {"http": 80, "https": 443}
UNSENDABLE = re.compile(r"[^!-~]")
"""A character that a request line can't contain, unless it is percent-encoded."""
CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
"""A character that the value of a header can't contain."""


class Invalid(Exception):
    """A problem with a piece of text. ``at`` is its position in that text, from 0."""

    def __init__(self, problem: str, at: int = 0, hint: str | None = None):
        super().__init__(problem)
        self.problem, self.at, self.hint = problem, at, hint


@dataclass(frozen=True, slots=True)
class TextFile:
    """The content of a text file."""

    path: Path
    text: str

    @property
    def lines(self) -> list[str]:
        """The lines without their ends. Raises :class:`UsageError` if there are too many."""
        if self.text.count("\n") > LINES_MAX:
            raise self.error(f"more than {LINES_MAX:,} lines", hint="split it into smaller files")
        return self.text.replace("\r\n", "\n").split("\n")

    def error(self, problem: str, line: int | None = None, column: int | None = None, hint: str | None = None) -> UsageError:
        """Return an error that begins with the file's name and, if they are known, the line and the column. Both count from 1."""
        place = ":".join(str(part) for part in (self.path, line, column) if part is not None)
        return UsageError(f"{place}: {problem}", hint=hint)

    def error_at(self, problem: str, offset: int, hint: str | None = None) -> UsageError:
        """Return an error about the character at ``offset``."""
        return self.error(problem, self.text.count("\n", 0, offset) + 1, offset - self.text.rfind("\n", 0, offset), hint)

    @contextmanager
    def place(self, line: int, column: int | None = None) -> Iterator[None]:
        """Turn an :class:`Invalid` in the block into an error about the text that begins at this line and, if it is known, column."""
        try:
            yield
        except Invalid as found:
            raise self.error(found.problem, line, column and column + found.at, found.hint) from None


def content_of(path: Path) -> bytes:
    """Return at most ``FILE_BYTES_MAX + 1`` bytes of a file, which is a pipe only if httpbench inherited it.

    Nobody might ever write to another pipe. Raises :class:`OSError` with a ``strerror`` if the file can't be read.
    """
    is_stream = STREAM.fullmatch(str(path)) is not None
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | (0 if is_stream else os.O_NONBLOCK))
    try:
        if stat.S_ISFIFO(os.fstat(descriptor).st_mode) and not is_stream:
            raise OSError(errno.EINVAL, "it is a pipe")
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            content: bytes | None = file.read(FILE_BYTES_MAX + 1)
    finally:
        os.close(descriptor)
    if content is None:
        raise OSError(errno.EINVAL, "it is a device without data")
    return content


def read(path: Path) -> TextFile:
    """Return the content of a file without its byte order mark.

    Raises :class:`UsageError` if the file can't be read, is empty, is too large or isn't text.
    """
    empty = TextFile(path, "")
    try:
        content = content_of(path)
    except OSError as error:
        raise empty.error(f"cannot read the file: {(error.strerror or str(error)).lower()}") from None
    if len(content) > FILE_BYTES_MAX:
        raise empty.error(f"the file is larger than {FILE_BYTES_MAX >> 20} MB", hint="split it into smaller files")
    try:
        file_text = TextFile(path, content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        before = content[: error.start].decode("utf-8-sig", errors="replace")
        raise TextFile(path, before).error_at(f"byte 0x{content[error.start]:02x} is not UTF-8 text", len(before)) from None
    if "\0" in file_text.text:
        raise file_text.error_at("a zero byte, so this is not a text file", file_text.text.index("\0"))
    if not file_text.text.strip():
        raise empty.error("the file is empty")
    return file_text


def parsed_json(text: str) -> Any:
    """Return the value of a JSON text. Raises :class:`Invalid` if it isn't JSON."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise Invalid(f"not JSON: {error.msg}", error.pos) from None
    except ValueError:  # Python limits the number of digits that it converts
        raise Invalid("not JSON: a number with thousands of digits") from None
    except RecursionError:
        raise Invalid("not JSON: nested too deeply") from None


def quoted(text: str) -> str:
    """Quote text from a file in a message."""
    shown = text if len(text) <= SHOWN else f"{text[:SHOWN]}…"
    return f'"{one_line(shown)}"'


def origin_of(url: str) -> str | None:
    """Return the origin of a URL, such as ``http://localhost:8080``, or ``None`` if it isn't an absolute URL of HTTP.

    The scheme and the host are in lower case. The port is left out if it is the scheme's default.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    if parts.scheme not in DEFAULT_PORTS or not parts.hostname:
        return None
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{host}" + ("" if port in (None, DEFAULT_PORTS[parts.scheme]) else f":{port}")


def path_of(url: str, origins: Collection[str] = ()) -> str:
    """Return the path and query of a URL or path.

    Raises :class:`Invalid` if ``url`` is neither, or if its origin isn't in ``origins``. Without ``origins``, any origin is allowed.
    """
    if found := UNSENDABLE.search(url):
        raise Invalid(f"the character {quoted(found[0])} must be percent-encoded", found.start())
    if url.startswith("/"):
        return url.partition("#")[0]
    origin = origin_of(url)
    if origin is None:
        raise Invalid(f"{quoted(url)} is neither a path nor an http URL", hint="write /path or http://host/path")
    if origins and origin not in origins:
        hint = f"--origin {origin} sends its requests to the measured server"
        raise Invalid(f"the origin {origin} is not {' or '.join(sorted(origins))}", hint=hint)
    parts = urlsplit(url)
    return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


def encoded_bytes(text: str) -> int:
    """Return the length of a text in UTF-8. Raises :class:`Invalid` if it contains half of a character, which JSON allows."""
    try:
        return len(text.encode())
    except UnicodeEncodeError as error:
        raise Invalid(f"{quoted(text[error.start])} is half of a character (a lone surrogate)") from None
