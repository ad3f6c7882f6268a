"""Values on the command line: the names that options accept, and types such as durations and sizes.

Values have the same suffixes as in other load generators. The names are copied from other modules, so that the help needs no slow imports.
A test checks that no name is missing.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

import click

if TYPE_CHECKING:
    from httpbench.model import Bound, Figure, Gate

Value = TypeVar("Value")

KINDS = ("server", "client", "proxy")
CATEGORIES = ("micro", "platform", "fullstack")
PLACES = ("process", "docker", "podman")
NETWORKS = ("host", "bridge")

LOAD_GENERATORS = ("native", "wrk", "hey", "oha", "h2load", "autocannon", "perf-gauge")
ARRIVALS = ("constant", "poisson")
TIMERS = ("native", "hyperfine")
INTERLEAVES = ("auto", "slices", "rounds")

FORMATS = ("json", "csv", "markdown", "html", "autocannon", "junit", "openmetrics", "hyperfine")
"""Formats of `report --format`."""

LATENCIES = ("mean", "p50", "p75", "p90", "p95", "p99", "p99.9", "p99.99", "max")
"""Latencies that a service level can bound."""

FIRST_BYTE, FIRST_BYTE_P99 = "ttfb", "ttfb-p99"
"""Short name of a bound on the time to the first byte, and the result that it bounds."""

FIRST_BYTES = tuple(f"{FIRST_BYTE}-{name}" for name in LATENCIES)
"""Times to the first byte that a service level can bound."""

FIRST_EVENT, BETWEEN_EVENTS = "first-event", "between"
EVENTS = tuple(f"{prefix}-{name}" for prefix in (FIRST_EVENT, BETWEEN_EVENTS) for name in ("mean", "p50", "p90", "p99"))
"""Times to the first event of a stream, and times between events."""

STARTUP = ("ready", "first", "to-steady", "memory-ready", "memory-rest", "size")
"""Results of starts."""

GATES = (
    *("rps", "mean", "p50", "p90", "p95", "p99", "p99.9"),
    *("ttfb-mean", "ttfb-p50", "ttfb-p90", "ttfb-p95", "ttfb-p99", "ttfb-p99.9"),
    *EVENTS,
    *("cpu", "memory", "time"),
    *STARTUP,
)
"""Results that a gate can bound."""

_NAMES = {name.replace(".", "-"): name for name in (*GATES, *LATENCIES, *FIRST_BYTES)}

HISTORY = ("rps", "p99", "time")
"""Results that `history` can show over many runs."""

JOURNAL = "/var/lib/httpbench/tune.json"

PUBLISHED_FORMS = {"techempower": "techempower:FILE", "web-frameworks": "web-frameworks:FILE", "httparena": "httparena:DIR"}
"""How to write a reference to the published results of each project."""

DURATIONS_S = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
MICROSECONDS = {"us": 1.0, "µs": 1.0, "ms": 1e3, "s": 1e6}
MULTIPLIERS = {"": 1, "k": 1_000, "M": 1_000_000}


class Parsed(click.ParamType[Value]):
    """A parameter type whose values are parsed by a function. It raises ``ValueError`` with a message for the user."""

    def __init__(self, name: str, parse: Callable[[str], Value]):
        self.name = name
        self._parse = parse

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Value:
        try:
            parsed: Value = self._parse(value) if isinstance(value, str) else value  # a default may already be parsed
        except ValueError as error:
            self.fail(str(error), param, ctx)
        return parsed


def duration_s(text: str, shortest_s: float = 0.001) -> float:
    """Parse a duration such as ``500ms``, ``10s`` or ``2m``. A bare number is in seconds."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)(ms|s|m|h)?", text)
    if not match:
        raise ValueError(f'"{text}" is not a duration; write it as 500ms, 10s or 2m')
    seconds = float(match[1]) * DURATIONS_S[match[2] or "s"]
    if seconds < shortest_s:
        raise ValueError(f'"{text}" is too short; the shortest is {shortest_s * 1000:g}ms')
    return seconds


def count(text: str) -> int:
    """Parse a count such as ``64``, ``10k`` or ``1M``."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([kM]?)", text)
    number = float(match[1]) * MULTIPLIERS[match[2]] if match else 0
    if number < 1 or number != int(number):
        raise ValueError(f'"{text}" is not a whole number above zero; write it as 64, 10k or 1M')
    return int(number)


def counts(text: str) -> tuple[int, ...]:
    """Parse a list of counts such as ``8,64,128,256``, without duplicates."""
    return tuple(dict.fromkeys(count(word.strip()) for word in text.split(",")))


def size(text: str) -> int:
    """Parse a size such as ``512m`` or ``1g`` into bytes. Units are powers of 1024, as in Docker."""
    from httpbench.model import size_bytes

    return size_bytes(text)


def words(text: str, noun: str, allowed: tuple[str, ...]) -> tuple[str, ...]:
    """Parse a list of words such as ``process,docker``, without duplicates."""
    found = tuple(dict.fromkeys(word.strip() for word in text.split(",")))
    if unknown := [word for word in found if word not in allowed]:
        raise ValueError(f'"{unknown[0]}" is not a {noun}; use {", ".join(allowed)}, or a list of them')
    return found


def columns(text: str) -> tuple[str, ...]:
    """Parse a list of columns such as ``target,rps,p99``. :meth:`TableOptions.view` checks the names, because tables differ."""
    names = tuple(filter(None, (name.strip() for name in text.split(","))))
    if not names:
        raise ValueError(f'"{text}" names no column; write it as target,rps,p99')
    return names


def published(text: str) -> tuple[str, Path]:
    """Parse a reference to another project's published results, such as ``techempower:results.json``, and return project and path."""
    project, _, path = text.partition(":")
    if project not in PUBLISHED_FORMS or not path:
        *forms, last = PUBLISHED_FORMS.values()
        raise ValueError(f'"{text}" names no published results; write {", ".join(forms)} or {last}')
    return project, Path(path).expanduser()


def request_path(text: str) -> str:
    """Check a request path such as ``/`` or ``/hello?name=x``."""
    if not re.fullmatch(r"/[!-~]*", text):
        raise ValueError(f'"{text}" is not a path: it must begin with a slash, with spaces and non-ASCII letters percent-encoded')
    return text


def percentage(text: str) -> float:
    """Parse a percentage above zero, such as ``2%`` or ``0.5%``, as a fraction.

    The percent sign may be missing, except where the number might be a fraction: ``2`` is 2%, but ``0.02`` could be 2% or 0.02%.
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?) ?(%?)", text)
    if not match or float(match[1]) == 0:
        raise ValueError(f'"{text}" is not a percentage above zero; write it as 2% or 0.5%')
    if not match[2] and float(match[1]) < 1:
        raise ValueError(f'"{text}" could be a fraction or a percentage; write it as {float(match[1]) * 100:g}% or {match[1]}%')
    return float(match[1]) / 100


def percentages(text: str) -> tuple[float, ...]:
    """Parse a list of percentages such as ``50%,80%`` as fractions, without duplicates."""
    return tuple(dict.fromkeys(percentage(word.strip()) for word in text.split(",")))


def latency_bound(text: str) -> Bound:
    """Parse a latency bound such as ``p99<5ms``, ``mean<800us`` or ``ttfb-p99<200ms``. ``ttfb`` stands for ``ttfb-p99``."""
    match = re.fullmatch(r"\s*([a-z0-9._-]+)\s*<=?\s*(\d+(?:\.\d+)?)\s*(us|µs|ms|s)\s*", text)
    figure = _figure(match[1]) if match else ""
    if not match or figure not in (*LATENCIES, *FIRST_BYTES):
        raise ValueError(
            f'"{text}" is not a bound; write it as p99<5ms, with one of {", ".join(LATENCIES)}, or as {FIRST_BYTE_P99}<5ms (first byte)'
        )
    limit_us = float(match[2]) * MICROSECONDS[match[3]]
    if limit_us == 0:
        raise ValueError(f'"{text}": a bound must be above zero')
    from httpbench.model import Bound

    return Bound(figure=cast("Figure", figure.replace(".", "_").replace("-", "_")), limit_us=limit_us)


def _figure(text: str) -> str:
    """Return the name of a result as in :data:`GATES`: ``p99.9`` for ``p99_9``, and ``ttfb-p99`` for ``ttfb_p99`` or ``ttfb``."""
    if text == FIRST_BYTE:
        return FIRST_BYTE_P99
    return _NAMES.get(re.sub(r"[_.]", "-", text), text)


def gate(text: str) -> Gate:
    """Parse a gate such as ``rps<-3%`` or ``p99>10%``. ``ttfb`` stands for ``ttfb-p99``."""
    match = re.fullmatch(r"\s*([a-z0-9._-]+?)\s*([<>])\s*([+-]?\d+(?:\.\d+)?)\s*%\s*", text)
    figure = _figure(match[1]) if match else ""
    if not match or figure not in GATES:
        raise ValueError(f"\"{text}\" is not a gate; write it as 'rps<-3%' or 'p99>10%', with one of {', '.join(GATES)}")
    change = float(match[3]) / 100
    if change <= -1:
        raise ValueError(f'"{text}": a change must be above −100%')
    from httpbench.model import Gate

    return Gate(figure=figure, side=cast("Literal['<', '>']", match[2]), change=change)


def doublings(text: str) -> tuple[int, ...]:
    """Parse a range such as ``1..256`` into 1, 2, 4 … 256. The end of the range is always included."""
    first, dots, last = text.partition("..")
    if not dots:
        raise ValueError(f'"{text}" is not a range; write it as 1..256')
    low, high = count(first), count(last)
    if low > high:
        raise ValueError(f'"{text}" goes down; write it as {high}..{low}')
    steps = [low]
    while steps[-1] * 2 < high:
        steps.append(steps[-1] * 2)
    return tuple(dict.fromkeys((*steps, high)))


def rate(text: str) -> tuple[int | None, int]:
    """Parse a rate such as ``25k`` or ``10k..25k`` into its lowest and highest values. The lowest is ``None`` for a constant rate."""
    first, dots, last = text.partition("..")
    if not dots:
        return None, count(text)
    low, high = count(first), count(last)
    if low >= high:
        raise ValueError(f'"{text}" does not rise; write it as 10k..25k')
    return low, high


def step(text: str) -> tuple[int | None, float]:
    """Parse a step of a rising rate, such as ``1k/60s`` or ``60s``.

    Return its rise in requests/s, or ``None`` if the text contains no rise, and its duration in seconds.
    """
    rise, slash, each = text.rpartition("/")
    return count(rise) if slash else None, duration_s(each, shortest_s=0.1)


def server_url(text: str) -> str:
    """Add the scheme ``http`` to an address without a scheme, such as ``localhost:8080``."""
    return text if re.match(r"[A-Za-z][A-Za-z0-9+.-]*://|unix:", text) else f"http://{text}"


def origin(text: str) -> str:
    """Check an origin such as ``https://example.com``, and return it in its usual form."""
    from httpbench.load.text_file import origin_of

    found = origin_of(text)
    if found is None:
        raise ValueError(f'"{text}" is not an origin; write it as https://example.com')
    return found


DURATION = Parsed("duration", duration_s)
DURATION_OR_NONE = Parsed("duration", partial(duration_s, shortest_s=0))
COUNT = Parsed("count", count)
COUNTS = Parsed("count[,count…]", counts)
SIZE = Parsed("size", size)
PLACE_LIST = Parsed("place[,place…]", partial(words, noun="place", allowed=PLACES))
NETWORK_LIST = Parsed("network[,network…]", partial(words, noun="network", allowed=NETWORKS))
COLUMNS = Parsed("name[,name…]", columns)
PUBLISHED = Parsed("project:path", published)
SERVER_URL = Parsed("url", server_url)
ORIGIN = Parsed("origin", origin)
REQUEST_PATH = Parsed("path", request_path)
PERCENTAGE = Parsed("percent", percentage)
PERCENTAGES = Parsed("percent[,percent…]", percentages)
LATENCY_BOUND = Parsed("figure<duration", latency_bound)
GATE = Parsed("figure<change%", gate)
DOUBLINGS = Parsed("from..to", doublings)
RATE = Parsed("rate", rate)
STEP = Parsed("step", step)
