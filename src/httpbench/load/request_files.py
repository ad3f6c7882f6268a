"""Read requests from files: one request as curl or an editor shows it, a list of URLs, or a HAR export of a browser.

The files state requests to some origin. The measured server gets the paths, the bodies, and the header fields except those that belong to
the origin or to the connection.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from httpbench.load.requests import REQUESTS_BYTES_MAX, size_bytes
from httpbench.load.text_file import CONTROL, Invalid, TextFile, origin_of, parsed_json, path_of, quoted, read
from httpbench.model import Expectation, ListedRequest, Request

WEIGHT_MAX = 1000
LEFT_OUT_HEADERS = frozenset(
    ("host", "content-length", "connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade", "te", "expect")
)
"""Header fields that aren't sent as a file states them, because they depend on the server or on the connection."""

# Quantifiers such as *+ give nothing back, so a line takes time in proportion to its length.
METHOD = re.compile(r"[A-Z]+")
HEADER = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]++):[ \t]*+((?:[ \t]*+[^ \t\n]++)*+)[ \t]*")
CURL_REQUEST = re.compile(r"> (\S+) (\S+) HTTP/[0-9.]+\s*")
REQUEST_LINE = re.compile(r"(?:([A-Za-z]+)[ \t]+)?(\S+)(?:[ \t]+HTTP/[0-9.]+)?[ \t]*")
DEFINITION = re.compile(r"@([\w.-]++)[ \t]*+=[ \t]*+((?:[ \t]*+[^ \t\n]++)*+)[ \t]*")
VARIABLE = re.compile(r"\{\{[ \t]*+([\w.$-]++)[^{}\n]*+\}\}")
COMMENT, SEPARATOR = ("#", "//"), "###"

FIELDS_MAX = 10_000
"""Maximum number of header fields in a request that is read from text."""
VALUES_MAX = 4_000_000
"""Maximum number of values in a HAR export. Python needs up to 100 bytes for each."""
BLOCK = 1000
"""Number of values that ``MANY_VALUES`` matches at once."""
MANY_VALUES = re.compile(rf"""(?:(?:[^"{{\[,]|"(?:[^"\\]|\\.)*+")*+[{{\[,]){{{BLOCK}}}""", re.DOTALL)
"""Pattern that matches JSON up to the next ``BLOCK`` characters that begin a value. Texts may contain these characters."""

FORM = "application/x-www-form-urlencoded"
ORIGINS_SHOWN = 3


# --- one request -----------------------------------------------------------------------------------------------------------------


def read_request(path: Path, origins: Collection[str], *, has_body: bool = False, is_template: bool = False) -> Request:
    """Return the request in the output of ``curl -v`` or in a ``.http`` file.

    Args:
        path: The file.
        origins: Origins whose requests may be sent. Empty: any.
        has_body: Whether the caller knows the body, which ``curl -v`` doesn't print.
        is_template: Whether the request may contain ``{{variables}}`` that have no value in the file.

    Raises :class:`UsageError` if the file doesn't contain exactly one valid request.
    """
    file = read(path)
    if any(map(CURL_REQUEST.fullmatch, file.lines)):
        return _of_transcript(file, has_body=has_body)
    return _of_http_file(file, origins, is_template=is_template)


def _of_transcript(file: TextFile, *, has_body: bool) -> Request:
    """Return the request in the output of ``curl -v``, whose lines begin with ``>``."""
    sent = [(number, line) for number, line in enumerate(file.lines, 1) if line.startswith(">")]
    begins = [(number, match) for number, line in sent if (match := CURL_REQUEST.fullmatch(line))]
    if len(begins) > 1:
        raise file.error("a second request", begins[1][0], 1, f"keep only the request in line {begins[0][0]}")
    [(first, match)] = begins
    method, path = _first_line(file, match, first)
    headers = _headers(file, [(number, line[2:]) for number, line in sent if number > first and line[1:].strip()], column=3)
    if not has_body and any(name.lower() == "content-length" and value != "0" for name, value in headers):
        raise file.error("the request has a body, which curl -v does not print", first, 1, "add it with --body TEXT or --body @FILE")
    return Request(method=method, path=path, headers=_sendable(headers))


def _of_http_file(file: TextFile, origins: Collection[str], *, is_template: bool) -> Request:
    """Return the request in a ``.http`` file, as editors write them: a line with method and URL, header fields, an empty line, a body."""
    lines = list(enumerate(_with_values(file), 1))
    begin = next((at for at, (_, line) in enumerate(lines) if line.strip() and not _is_remark(line)), None)
    if begin is None:
        raise file.error("no request", hint="write it as GET /path, followed by header fields")
    end = next((at for at in range(begin, len(lines)) if lines[at][1].startswith(SEPARATOR)), len(lines))
    second = next((number for number, line in lines[end:] if line.strip() and not _is_remark(line)), None)
    if second is not None:
        raise file.error("a second request", second, 1, f"keep only the request in line {lines[begin][0]}")
    own = lines[begin:end]
    blank = next((at for at, (_, line) in enumerate(own) if not line.strip()), len(own))
    head, body = own[:blank], own[blank + 1 :]
    for number, line in body:
        if line.startswith(("< ", "<@", "> {%")):
            raise file.error(f"{quoted(line)} is a command of an editor", number, 1, "remove it; --body @FILE sends a file")
    for number, line in () if is_template else own:
        if found := VARIABLE.search(line):
            hint = f"define it with @{found[1]} = VALUE, or give a column of this name with --data"
            raise file.error(f"{found[0]} has no value", number, found.start() + 1, hint)
    return _of_head(file, head, origins, "\n".join(line for _, line in body).rstrip("\n"))


def _with_values(file: TextFile) -> list[str]:
    """Return the lines of a ``.http`` file with the values of the variables that it defines."""
    defined = {match[1]: match[2] for line in file.lines if (match := DEFINITION.fullmatch(line))}
    if sum(len(defined.get(match[1], "")) for match in VARIABLE.finditer(file.text)) > REQUESTS_BYTES_MAX:
        raise file.error(f"its variables make the request larger than {REQUESTS_BYTES_MAX >> 20} MB")
    return [VARIABLE.sub(lambda found: defined.get(found[1], found[0]), line) for line in file.lines]


def _is_remark(line: str) -> bool:
    return line.startswith(COMMENT) or DEFINITION.fullmatch(line) is not None


def _of_head(file: TextFile, head: Sequence[tuple[int, str]], origins: Collection[str], body: str) -> Request:
    first, end = head[0][0], 1
    while end < len(head) and re.match(r"[ \t]+[?&]", head[end][1]):  # a query may continue on the next lines
        end += 1
    line = head[0][1] + "".join(text.strip() for _, text in head[1:end])
    match = REQUEST_LINE.fullmatch(line)
    if match is None:
        raise file.error(f"{quoted(line)} is not a request line", first, 1, "write it as GET /path or GET http://host/path")
    method, path = _first_line(file, match, first, origins)
    headers = _headers(file, [(number, text) for number, text in head[end:] if not text.startswith(COMMENT)])
    return Request(method=method, path=path, headers=_sendable(headers), body=body)


def _first_line(file: TextFile, match: re.Match[str], line: int, origins: Collection[str] = ()) -> tuple[str, str]:
    """Return the method and the path in a request line."""
    method, url = match[1] or "GET", match[2]
    with file.place(line, match.start(1) + 1):
        _check_method(method)
    with file.place(line, match.start(2) + 1):
        return method, path_of(url, origins)


def _check_method(method: str) -> None:
    if not METHOD.fullmatch(method):
        raise Invalid(f"the method {quoted(method)} must consist of capital letters")


def _headers(file: TextFile, lines: Sequence[tuple[int, str]], column: int = 1) -> list[tuple[str, str]]:
    """Return the names and values in numbered lines whose text begins at ``column``."""
    if len(lines) > FIELDS_MAX:
        raise file.error(f"more than {FIELDS_MAX:,} header fields", lines[FIELDS_MAX][0], column, "remove the others")
    found = []
    for number, line in lines:
        with file.place(number, column):
            match = HEADER.fullmatch(line.rstrip("\r"))
            if match is None:
                raise Invalid("not a header field", hint="write it as Name: value")  # don't quote it: it may be secret
            _check_value(match[1], match[2], match.start(2))
        found.append((match[1], match[2]))
    return found


def _check_value(name: str, value: str, at: int = 0) -> None:
    if bad := CONTROL.search(value):
        raise Invalid(f"the header field {quoted(name)} contains a control character", at + bad.start())


def _sendable(headers: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the header fields to send. The values of fields with the same name are joined as HTTP allows."""
    names: dict[str, str] = {}
    found: dict[str, list[str]] = {}
    for name, value in headers:
        if name.lower() in LEFT_OUT_HEADERS or name.startswith(":"):
            continue
        found.setdefault(names.setdefault(name.lower(), name), []).append(value)
    return {name: ("; " if name.lower() == "cookie" else ", ").join(values) for name, values in found.items()}


# --- many requests ---------------------------------------------------------------------------------------------------------------


def read_urls(path: Path, origins: Collection[str]) -> dict[str, int]:
    """Return the paths in a list of URLs, with their weights.

    Each line contains a path or URL and, optionally, a weight. Lines that begin with ``#`` are comments. If ``origins`` is empty, all URLs
    must have the same origin. Raises :class:`UsageError` if a line is invalid or the file contains no URL.
    """
    file = read(path)
    found: Counter[str] = Counter()
    for number, line in enumerate(file.lines, 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        url, weight = words[0], words[1] if len(words) > 1 else "1"
        with file.place(number, line.index(url) + 1):
            requested = path_of(url, origins)
        with file.place(number, line.rindex(words[-1]) + 1):
            if len(words) > 2:
                raise Invalid("more than a URL and a weight", hint="write /path WEIGHT, and percent-encode spaces")
            found[requested] += _weight(weight)
            if found[requested] > WEIGHT_MAX:
                raise Invalid(f"the weights of {quoted(requested)} add up to more than {WEIGHT_MAX}")
        origins = origins or {origin for origin in [origin_of(url)] if origin}
    if not found:
        raise file.error("no URL", hint="write one in each line, optionally followed by a weight")
    return dict(found)


def _weight(text: str) -> int:
    if not re.fullmatch(r"[1-9][0-9]{0,3}", text) or int(text) > WEIGHT_MAX:
        raise Invalid(f"the weight {quoted(text)} is not a whole number from 1 to {WEIGHT_MAX}")
    return int(text)


# --- a HAR export ----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Recording:
    """The requests of a HAR export."""

    requests: tuple[ListedRequest, ...]
    left_out: Mapping[str, int]
    """Numbers of requests that aren't sent, by reason. A reason is a clause such as ``to other origins``."""


def read_har(path: Path, origins: Collection[str]) -> Recording:
    """Return the requests in a HAR export. Equal requests become one, with their number as its weight.

    If the recorded status isn't 2xx, it is the correct status. Without ``origins``, only requests to the origin of the first one are sent.
    Raises :class:`UsageError` if the file isn't a HAR export, or contains no request to one of the origins.
    """
    file = read(path)
    entries = _entries(file)
    found: dict[str, ListedRequest] = {}
    left_out: Counter[str] = Counter()
    seen: Counter[str] = Counter()
    for index, entry in enumerate(entries):
        try:
            origin = origin_of(_text_at(entry, "request", "url"))
            seen.update([origin] if origin else [])
            origins = origins or list(seen)
            if reason := _obstacle(entry, origin, origins):
                left_out[reason] += 1
                continue
            one = _recorded(entry)
        except Invalid as invalid:
            raise file.error_at(f"request {index + 1}: {invalid.problem}", _offset(file, index), invalid.hint) from None
        key = one.model_dump_json()
        found[key] = one if key not in found else one.model_copy(update={"weight": min(found[key].weight + 1, WEIGHT_MAX)})
    if not found:
        recorded = ", ".join(f"{origin} ({count})" for origin, count in seen.most_common(ORIGINS_SHOWN))
        hint = f"--origin {seen.most_common(1)[0][0]} sends its requests to the measured server" if seen else None
        raise file.error(f"no request to {' or '.join(sorted(origins)) or 'a server'}; recorded: {recorded or 'none'}", hint=hint)
    return Recording(tuple(found.values()), left_out)


def _entries(file: TextFile) -> list[Any]:
    if _has_many_values(file.text):
        raise file.error(f"more than {VALUES_MAX:,} values", hint="record fewer requests")
    try:
        document = parsed_json(file.text)
    except Invalid as invalid:
        raise file.error_at(invalid.problem, invalid.at) from None
    log = document.get("log") if isinstance(document, dict) else None
    entries = log.get("entries") if isinstance(log, dict) else None
    if not isinstance(entries, list) or not entries:
        raise file.error("not a HAR export: it has no log.entries", 1, 1, "save it in the network tools of a browser")
    return entries


def _has_many_values(text: str) -> bool:
    """Return whether JSON has more than about ``VALUES_MAX`` values."""
    if sum(map(text.count, "{[,")) <= VALUES_MAX:  # also counts those in texts, but is fast
        return False
    blocks = end = 0
    while blocks * BLOCK < VALUES_MAX and (found := MANY_VALUES.match(text, end)):
        blocks, end = blocks + 1, found.end()
    return blocks * BLOCK >= VALUES_MAX


def _obstacle(entry: Any, origin: str | None, wanted: Collection[str]) -> str | None:
    """Return why a request can't be sent, or ``None`` if it can."""
    status, body = _value(entry, "response", "status"), _value(entry, "request", "postData")
    if origin is None or status == 101:
        return "not over HTTP"
    if origin not in wanted:
        return "to other origins"
    if status in (None, 0):
        return "without a response"
    return "without their body" if isinstance(body, dict) and _body(body) is None else None


def _recorded(entry: Any) -> ListedRequest:
    """Return the request of an entry. Raises :class:`Invalid` if it can't be sent as recorded."""
    method, status = _text_at(entry, "request", "method"), _value(entry, "response", "status")
    _check_method(method)
    if not isinstance(status, int) or not 100 <= status < 600:
        raise Invalid(f"the status {quoted(str(status))} is not a number from 100 to 599")
    fields = _value(entry, "request", "headers")
    if not isinstance(fields, list):
        raise Invalid("no list at request.headers")
    headers = [(_text_at(field, "name"), _text_at(field, "value")) for field in fields]
    for name, value in headers:
        _check_value(name, value)
        if not HEADER.fullmatch(f"{name.lstrip(':')}:"):  # names such as :path belong to HTTP/2
            raise Invalid(f"{quoted(name)} is not the name of a header field")
    path, body = path_of(_text_at(entry, "request", "url")), _body(_value(entry, "request", "postData"))
    request = Request(method=method, path=path, headers=_sendable(headers), body=body or "")
    size_bytes(request)
    return ListedRequest(request=request, expect=None if 200 <= status < 300 else Expectation(status=status))


def _body(posted: Any) -> str | None:
    """Return the body of a recorded request, or ``None`` if the file doesn't contain it."""
    if isinstance(_value(posted, "text"), str):
        return str(posted["text"])
    fields = _value(posted, "params")
    if isinstance(fields, list) and str(_value(posted, "mimeType")).startswith(FORM):
        return urlencode([(str(_value(field, "name")), str(_value(field, "value") or "")) for field in fields])
    return None


def _value(value: Any, *keys: str) -> Any:
    """Return the value at nested keys, or ``None`` if there is none."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _text_at(value: Any, *keys: str) -> str:
    found = _value(value, *keys)
    if not isinstance(found, str):
        raise Invalid(f"no text at {'.'.join(keys)}")
    return found


def _offset(file: TextFile, index: int) -> int:
    """Return the position of an entry in a HAR export. Only errors need it, so the file is parsed once more."""
    found = re.search(r'"entries"\s*:\s*\[\s*', file.text)
    offset = found.end() if found else 0
    for _ in range(index if found else 0):
        try:
            _, offset = json.JSONDecoder().raw_decode(file.text, offset)
        except ValueError:  # another list of the file has the same name
            return 0
        offset = re.compile(r"[\s,]*").match(file.text, offset).end()  # type: ignore[union-attr]
    return offset
