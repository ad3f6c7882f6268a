"""All columns of the tables: name, title, unit, text, and how soon a narrow terminal omits them.

All output formats share one list of columns for each kind of table. Values that were not measured are empty cells. A terminal shows the
columns that fit, all columns, or those chosen with ``--columns``.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from httpbench.analysis.compared import is_undecided, ranking
from httpbench.analysis.evidence import memory_is_proportional
from httpbench.analysis.rows import Group, Row
from httpbench.model import Load, Table
from httpbench.report.words import ALWAYS
from httpbench.report.words.numbers import column_name, figure_name, four_digits, half_width_text, rank_text
from httpbench.report.words.targets import label, short_name
from httpbench.stats.clients import ClientSummary
from httpbench.stats.facts import facts
from httpbench.stats.summary import Estimate

UNKNOWN_BOUND = "~"
"""Mark of a result that may be higher or lower, because it relates two lower bounds."""

LOWER_BOUND = "≥ "
"""Mark before a throughput that is a lower bound, because something other than the target limited it."""
UPPER_BOUND = "≤"
"""Mark before a latency in a row whose throughput is a lower bound. The latency includes waiting for whatever limited the row.

The mark contains no space, because the columns of latencies are narrow.
"""
ODD_SIZE = "*"
"""Mark after a response size that is far from the sizes in the other rows."""
PARTLY = "†"
"""Mark after the verdict of a row in which only some rounds are valid."""

RANK_NEED, BAR_NEED = 5, 20
"""``need`` of the rank column and of the bar column. Bars are omitted first, because they repeat another column."""

SERVERS = ("rank", "target", "rps", "interval", "p50", "p99", "cpu", "memory", "verdict")

USUAL = {
    Table.HTTP_SERVERS: SERVERS,
    Table.APP_SERVERS: SERVERS,
    Table.COMMANDS: SERVERS,
    Table.TCP_PROXIES: ("rank", "target", "held", "rps", "p50", "p99", "cpu-request", "memory", "verdict"),
    Table.FAILOVER: ("target", "failed", "failed-share", "avoided", "used-again", "max", "verdict"),
    Table.STARTUP: ("rank", "target", "ready", "interval", "first", "to-steady", "memory-ready", "memory", "size", "verdict"),
    Table.HTTP_CLIENTS: ("rank", "target", "median", "relative", "mean", "stddev", "startup", "cpu-request", "memory", "verdict"),
}
"""Columns shown by default. A bar is added next to the column by which the rows are ordered."""

AT_SHARE = ("target", "rate", "p50", "p99", "cpu-request", "memory", "verdict")
OVERLOADED = ("target", "rate", "goodput", "goodput-share", "failed-share", "p50", "p99", "verdict")
"""Columns shown by default if the load is a share of each target's own peak, at most 1 or above."""

OF_GROUP = ("rank", "target", "bar")
"""Columns that depend on other rows of a table, or that only a terminal shows."""

OVERHEAD = ("target", "rps", "p50", "p99", "p99.9")
"""Default columns of the overhead table of proxies."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table."""

    name: str
    """Name that ``--columns`` accepts."""
    title: str
    unit: str
    """Unit of the values. Empty if they have none."""
    text: Callable[[Row], str]
    need: int
    """How soon a narrow terminal omits the column. The highest value is omitted first, and ``ALWAYS`` is never omitted."""
    is_number: bool = True
    is_headline: bool = False
    """Whether the rows are ordered by this column."""
    short: str = ""
    """Title on a narrow terminal. If empty, ``title`` is used."""
    is_name: bool = False
    """Whether the texts are names, which a narrow terminal may shorten."""
    length: Callable[[Row], float | None] | None = None
    """Value that a bar represents. ``None``: the column has no bars."""

    def is_struck(self, row: Row) -> bool:
        """Return whether the value comes from invalid rounds and is therefore struck through."""
        return not row.counts and not self.text(row) and bool(self.text(row.as_measured))

    def shown(self, row: Row) -> str:
        """Return the text of a cell, including results of invalid rounds.

        Such results are in parentheses in the headline column, because some terminals don't support strikethrough.
        """
        text = self.text(row.as_measured)
        return f"({text})" if self.is_headline and self.is_struck(row) else text

    @property
    def heading(self) -> str:
        """The title and the unit on one line."""
        return f"{self.title} ({self.unit})" if self.unit else self.title


def columns(found: Sequence[Group], table: Table) -> list[Column]:
    """Return all columns of a run's tables, from left to right."""
    return _COLUMNS[table](found)


def further(found: Sequence[Group], table: Table) -> list[Column]:
    """Return the columns that appear only if ``--columns`` lists them."""
    if table in (Table.HTTP_CLIENTS, Table.STARTUP, Table.FAILOVER):
        return []
    if table is Table.TCP_PROXIES:
        return [*(_latency(name, ALWAYS, unit="µs") for name in _FIRST_BYTES), *_AT_SHARES, *_KERNEL]
    return [
        *(_latency(name, ALWAYS) for name in ("p95", "p99_9", "p99_99", *_FIRST_BYTES)),
        *_events(),
        _CPU_PER_REQUEST,
        _HANDSHAKES,
        _CIPHER,
        *_DATABASE,
        *_AT_SHARES,
        *_KERNEL,
        *_http_servers(found),
    ]


def _http_servers(found: Sequence[Group]) -> list[Column]:
    return [
        Column("language", "Language", "", lambda row: row.target.language, ALWAYS, is_number=False),
        Column("framework", "Framework", "", lambda row: row.target.title, ALWAYS, is_number=False),
        Column("category", "Category", "", lambda row: row.target.category or "", 7, is_number=False),
        Column("variant", "Name", "", lambda row: row.target.variant or "", ALWAYS, is_number=False),
        *_figures(found),
    ]


def _commands(found: Sequence[Group]) -> list[Column]:
    return [Column("target", "Target", "", lambda row: row.target.title, ALWAYS, is_number=False), *_figures(found)]


def _figures(found: Sequence[Group]) -> list[Column]:
    return [
        *_at_shares(found),
        Column("response", "Res", "B", _response, 8),
        Column("requests", "Req", "", lambda row: _exact(row.summary.requests), 15),
        Column("errors", "Err", "", lambda row: _exact(row.summary.errors), 5),
        Column("rps", "Requests/s", "", _throughput, ALWAYS, is_headline=True),
        *([_HANDSHAKES, _CIPHER] if any(counts_handshakes(group.load) for group in found) else []),
        Column("interval", "±", "%", lambda row: margin(row.summary.throughput_rps), 1),
        Column("spread", "Half range", "%", lambda row: _spread(row.summary.throughput_rps), 17),
        Column("bytes", "BPS", "MB/s", lambda row: scaled(row.summary.bytes_per_s, 1e6, 1), 14),
        *(_latency(name, need) for name, need in _LATENCIES.items()),
        *(_latency(name, need) for name, need in _first_bytes(found).items()),
        *(_events() if any(group.has_events for group in found) else []),
        Column("cpu", "CPU", "%", lambda row: scaled(row.summary.cpu_cores, 0.01, 0), 4),
        Column("memory", "Memory", "MB", _memory(found, "peak"), 6, short="Mem"),
        Column("memory-mean", "Memory mean", "MB", _memory(found, "mean"), 16),
        *_kernel(found),
        Column("probe", "Probe", "", _label, ALWAYS, is_number=False),
        Column("verdict", "Verdict", "", _verdict, ALWAYS, is_number=False),
    ]


def _app_servers(found: Sequence[Group]) -> list[Column]:
    return [
        Column("language", "Language", "", lambda row: row.target.language, ALWAYS, is_number=False),
        Column("server", "App Server", "", _server, ALWAYS, is_number=False),
        Column("rps", "Requests/s", "", _throughput, ALWAYS, is_headline=True),
        Column("interval", "±", "%", lambda row: margin(row.summary.throughput_rps), 1),
        Column("memory", "RAM", "MB", _memory(found, "peak"), ALWAYS),
        Column("memory-mean", "RAM mean", "MB", _memory(found, "mean"), ALWAYS),
        Column("cpu-peak", "CPU peak", "%", lambda row: scaled(row.summary.cpu_cores_peak, 0.01, 1), ALWAYS),
        Column("cpu", "CPU mean", "%", lambda row: scaled(row.summary.cpu_cores, 0.01, 1), ALWAYS, short="CPU"),
        *_kernel(found),
        Column("probe", "Probe", "", _label, ALWAYS, is_number=False),
        Column("verdict", "Verdict", "", _verdict, ALWAYS, is_number=False),
    ]


def _server(row: Row) -> str:
    return "/".join(filter(None, (row.target.title, row.target.variant)))


def _tcp_proxies(found: Sequence[Group]) -> list[Column]:
    return [
        Column("target", "Proxy", "", lambda row: short_name(row.target), ALWAYS, is_number=False),
        *_at_shares(found),
        Column("held", "Held", "1/s", lambda row: _exact(row.summary.rate_held_rps), ALWAYS),
        Column("rps", "Requests/s", "", _throughput, ALWAYS, is_headline=True),
        Column("interval", "±", "%", lambda row: margin(row.summary.throughput_rps), 8),
        Column("spread", "Half range", "%", lambda row: _spread(row.summary.throughput_rps), 17),
        *(_latency(name, need, unit="µs") for name, need in {**_TAIL, **_first_bytes(found)}.items()),
        Column("cpu", "CPU", "cores", lambda row: scaled(row.summary.cpu_cores, 1, 2), 5),
        Column("cpu-request", "CPU/req", "µs", lambda row: scaled(row.summary.cpu_us_per_request, 1, 1), 6),
        Column("memory", "Memory", "MB", _memory(found, "peak"), 7, short="Mem"),
        Column("memory-mean", "Memory mean", "MB", _memory(found, "mean"), 19),
        *_kernel(found),
        Column("backend", "Backend", "cores", lambda row: scaled(row.summary.backend_cpu_cores, 1, 2), 14),
        Column("backend-request", "Backend/req", "µs", lambda row: scaled(row.summary.backend_cpu_us_per_request, 1, 1), 16),
        Column("generator", "Generator", "cores", lambda row: scaled(row.summary.generator_cpu_cores, 1, 2), 15),
        Column("generator-request", "Generator/req", "µs", lambda row: scaled(row.summary.generator_cpu_us_per_request, 1, 1), 17),
        Column("errors", "Err", "", lambda row: _exact(row.summary.errors), 13),
        Column("verdict", "Verdict", "", _verdict, ALWAYS, is_number=False),
    ]


def _at_shares(found: Sequence[Group]) -> list[Column]:
    """Return the columns of loads at a share of each target's own peak. There are none if the run has no such load."""
    return list(_AT_SHARES) if any(group.load.share_of_peak is not None for group in found) else []


def _own_rate(row: Row) -> str:
    load = row.summary.load
    return f"{load.rate_rps:,.0f}" if load.share_of_peak is not None and load.rate_rps is not None else ""


def _goodput(row: Row) -> str:
    return _throughput(row) if row.summary.load.is_overload else ""


def _goodput_share(row: Row) -> str:
    """Format the goodput of an overload in percent of the peak, which follows from the rate."""
    load, goodput = row.summary.load, row.summary.throughput_rps
    if not load.is_overload or load.share_of_peak is None or load.rate_rps is None or goodput is None:
        return ""
    mark = LOWER_BOUND if row.is_lower_bound else ""
    return f"{mark}{100 * goodput.median * load.share_of_peak / load.rate_rps:.0f}"


def _failed_share(row: Row) -> str:
    """Format the share of requests without a correct response among those that were sent in an overload, in percent."""
    if not row.summary.load.is_overload:
        return ""
    shares = [each.failed_share for trial in row.trials if trial.verdict.counts and (each := facts(trial))]
    return f"{100 * statistics.median(shares):.2f}" if shares else ""


_AT_SHARES = (
    Column("rate", "Rate", "1/s", _own_rate, ALWAYS),
    Column("goodput", "Goodput", "1/s", _goodput, ALWAYS),
    Column("goodput-share", "Goodput", "% of peak", _goodput_share, 1),
    Column("failed-share", "Failed", "%", _failed_share, 2),
)

_TAIL = {"p50": ALWAYS, "p90": 9, "p95": 18, "p99": ALWAYS, "p99_9": 2, "p99_99": 11, "max": 10, "tm99_9": 4, "stddev": 12}
_LATENCIES = {"min": 11, "max": 10, "p25": 13, "p50": 2, "p75": 12, "p90": 9, "p99": 3}
_FIRST_BYTES = {"ttfb_p50": 20, "ttfb_p99": 21}
"""How soon the latency columns are omitted as the terminal gets narrower."""

_EVENT_TIMES = {"first_event_p50": 8, "first_event_p99": 3, "between_p50": 15, "between_p99": 2}

_DATABASE = (
    Column("database", "Database", "%", lambda row: scaled(row.summary.database_cpu_cores, 0.01, 0), ALWAYS),
    Column("database-request", "Database/req", "µs", lambda row: scaled(row.summary.database_cpu_us_per_request, 1, 1), ALWAYS),
)
_CPU_PER_REQUEST = Column("cpu-request", "CPU/req", "µs", lambda row: scaled(row.summary.cpu_us_per_request, 1, 1), ALWAYS)


def _per_request(name: str) -> Callable[[Row], str]:
    return lambda row: _ratio(getattr(row.kernel, name, None), getattr(row.kernel, "requests", None), 3)


def _bytes_per_write(row: Row) -> str:
    return _ratio(row.kernel.bytes_sent, row.kernel.writes, 0) if row.kernel else ""


def _ratio(count: int | None, per: int | None, decimals: int) -> str:
    return four_digits(count / per, decimals) if count is not None and per else ""


_KERNEL = (
    Column("syscalls", "Syscalls/req", "", _per_request("syscalls"), 22),
    Column("switches", "Switches/req", "", _per_request("switches"), 23),
    Column("writes", "Writes/req", "", _per_request("writes"), 24),
    Column("write-size", "B/write", "", _bytes_per_write, 25),
    Column("packets", "Packets/req", "", _per_request("packets"), 26),
    Column("faults", "Faults/req", "", _per_request("minor_faults"), 27),
)
"""What the kernel did for each request in the profiled round."""


def _kernel(found: Sequence[Group]) -> tuple[Column, ...]:
    return _KERNEL if any(row.kernel for group in found for row in group.rows) else ()


def _first_bytes(found: Sequence[Group]) -> dict[str, int]:
    """Return the columns of the time to the first byte. There are none if no row has a visible difference to the latency."""
    return _FIRST_BYTES if any(row.as_measured.begins_early for group in found for row in group.rows) else {}


def _events() -> list[Column]:
    """Return the columns of event streams."""
    return [
        Column("events", "Events/s", "", lambda row: _rate(row) if row.has_events else "", ALWAYS, is_headline=True),
        *(_latency(name, need) for name, need in _EVENT_TIMES.items()),
        Column("lost", "Lost", "", lambda row: _exact(row.summary.events_lost), 9),
    ]


def latency_title(name: str) -> str:
    """Return the title of a column of latencies."""
    return "σ" if name == "stddev" else figure_name(name)


def _latency(name: str, need: int, *, unit: str = "ms") -> Column:
    divisor, decimals = (1000, 3) if unit == "ms" else (1, 0)

    def text(row: Row) -> str:
        is_of_events = name in _EVENT_TIMES
        value = scaled(row.latency_estimate(name), divisor, decimals) if is_of_events or not row.has_events else ""
        return UPPER_BOUND + value if value and row.is_lower_bound and name != "stddev" else value

    return Column(column_name(name), latency_title(name), unit, text, need)


def _memory(found: Sequence[Group], figure: str) -> Callable[[Row], str]:
    kind = "pss" if memory_is_proportional(found) else "rss"
    return lambda row: scaled(getattr(row.summary, f"{kind}_bytes_{figure}"), 1e6, 1)


def _response(row: Row) -> str:
    return "" if row.response_bytes is None else f"{row.response_bytes:,}{ODD_SIZE if row.odd_size else ''}"


def _throughput(row: Row) -> str:
    return "" if row.has_events else _rate(row)


def _rate(row: Row) -> str:
    text = scaled(row.summary.throughput_rps, 1, 0)
    return LOWER_BOUND + text if text and row.is_lower_bound else text


def counts_handshakes(load: Load) -> bool:
    """Return whether each request of a load includes a TLS handshake."""
    return load.tls and not load.keepalive


def _handshakes(row: Row) -> str:
    return _throughput(row) if counts_handshakes(row.summary.load) else ""


def _cipher(row: Row) -> str:
    counts = (trial.measurement.tls_handshakes for trial in row.trials if trial.measurement)
    return ", ".join(dict.fromkeys(count.cipher for count in counts if count and count.cipher))


_CIPHER = Column("cipher", "Cipher", "", _cipher, ALWAYS, is_number=False)
_HANDSHAKES = Column("handshakes", "Handshakes/s", "", _handshakes, ALWAYS, is_headline=True)


def _label(row: Row) -> str:
    return (row.probed.label or "") if row.probed else ""


def margin(estimate: Estimate | None) -> str:
    """Format the margin around the median that covers the 95% interval, in percent. The text is empty for fewer than three rounds."""
    return "" if estimate is None or estimate.margin is None else half_width_text(estimate.margin)


def _spread(estimate: Estimate | None) -> str:
    return "" if estimate is None or estimate.spread is None else f"{estimate.spread * 100:.1f}"


def _exact(estimate: Estimate | None) -> str:
    """Format a count with all its digits."""
    return "" if estimate is None else f"{estimate.median:,.0f}"


def _http_clients(found: Sequence[Group]) -> list[Column]:
    """Return the columns of clients. Relative times are relative to the fastest client of the same table."""
    relatives = {id(row): f"{ratio:.2f}" for group in found for row, ratio in _relatives(group)}
    return [
        Column("target", "Command", "", lambda row: row.target.id.removeprefix("client:"), ALWAYS, is_number=False),
        Column("median", "Median", "ms", _ms(lambda client: client.median_s), ALWAYS, is_headline=True),
        Column("mean", "Mean", "ms", _ms(lambda client: client.mean_s), 1),
        Column("stddev", "σ", "ms", _ms(lambda client: client.stddev_s), 2),
        Column("min", "Min", "ms", _ms(lambda client: client.min_s), 5),
        Column("max", "Max", "ms", _ms(lambda client: client.max_s), 6),
        Column("relative", "Relative", "", lambda row: relatives.get(id(row), ""), ALWAYS, short="×"),
        Column("startup", "Start-up", "ms", _ms(lambda client: client.startup_s), 4, short="Start"),
        Column("rps", "Requests/s", "", lambda row: scaled(row.summary.throughput_rps, 1, 0), 3),
        Column("cpu-request", "CPU/request", "µs", lambda row: scaled(row.summary.cpu_us_per_request, 1, 1), 7, short="CPU/req"),
        Column("memory", "Memory", "MB", lambda row: scaled(row.summary.rss_bytes_peak, 1e6, 1), 8, short="Mem"),
        Column("requests", "Req", "", _count(lambda client: client.requests), 10),
        Column("connections", "Conn", "", _count(lambda client: client.connections), 9),
        Column("in-flight", "In flight", "", _count(lambda client: client.in_flight_max), 11),
        Column("verdict", "Verdict", "", _verdict, ALWAYS, is_number=False),
    ]


def _startup(found: Sequence[Group]) -> list[Column]:
    kind = "pss" if memory_is_proportional(found) else "rss"
    return [
        Column("target", "Target", "", lambda row: label(row.target), ALWAYS, is_number=False),
        Column("ready", "Ready", "ms", lambda row: scaled(row.summary.ready_s, 1e-3, 2), ALWAYS, is_headline=True),
        Column("interval", "±", "%", lambda row: margin(row.summary.ready_s), 1),
        Column("first", "First", "ms", lambda row: scaled(row.summary.first_us, 1e3, 3), 2),
        Column("to-steady", "To steady", "s", lambda row: scaled(row.summary.steady_s, 1, 1), 3, short="Steady"),
        Column("memory-ready", "Memory ready", "MB", lambda row: _megabytes(row, f"{kind}_bytes_ready"), 4, short="Memory"),
        Column("memory", "Memory peak", "MB", _memory(found, "peak"), 6, short="Peak"),
        Column("memory-rest", "Memory after", "MB", lambda row: _megabytes(row, f"{kind}_bytes_rest"), 7, short="After"),
        Column("size", "Size", "MB", lambda row: scaled(row.summary.installed_bytes, 1e6, 1), 5),
        Column("requests", "Req", "", lambda row: _exact(row.summary.requests), 9),
        Column("errors", "Err", "", lambda row: _exact(row.summary.errors), 8),
        Column("probe", "Probe", "", _label, 10, is_number=False),
        Column("verdict", "Verdict", "", _verdict, ALWAYS, is_number=False),
    ]


def _failover(found: Sequence[Group]) -> list[Column]:
    def figure(name: str, unit: float, decimals: int) -> Callable[[Row], str]:
        return lambda row: scaled(getattr(row.summary.failover, name, None), unit, decimals)

    def count(name: str) -> Callable[[Row], str]:
        return lambda row: _exact(getattr(row.summary.failover, name, None))

    return [
        Column("target", "Proxy", "", lambda row: short_name(row.target), ALWAYS, is_number=False),
        Column("failed", "Failed", "", count("failed"), ALWAYS, is_headline=True),
        Column("failed-share", "Failed", "%", figure("failed_share", 0.01, 2), 1),
        Column("slow", "Slow", "", count("slow"), 5),
        Column("avoided", "Avoided after", "s", _avoided, ALWAYS, short="Avoided"),
        Column("used-again", "Used again after", "s", _used_again, 2, short="Used again"),
        Column("max", "Max", "ms", figure("worst_us", 1000, 0), 3),
        *(_latency(name, 9) for name in ("p50", "p99")),
        Column("rps", "Requests/s", "", _throughput, 6),
        Column("cpu", "CPU", "cores", lambda row: scaled(row.summary.cpu_cores, 1, 2), 7),
        Column("memory", "Memory", "MB", _memory(found, "peak"), 8, short="Mem"),
        Column("verdict", "Verdict", "", _verdict, ALWAYS, is_number=False),
    ]


def _avoided(row: Row) -> str:
    found = row.summary.failover
    return "" if found is None else _time_or_bound(found.avoided_s, found.rounds_avoided)


def _used_again(row: Row) -> str:
    found = row.summary.failover
    return "" if found is None else _time_or_bound(found.used_again_s, found.rounds_used_again)


def _time_or_bound(time_s: Estimate, rounds: int) -> str:
    """Format a median time in seconds, with the mark of a lower bound unless the event occurred in more than half of the rounds."""
    text = four_digits(time_s.median, 1)
    return text if 2 * rounds > time_s.rounds else f"{LOWER_BOUND}{text}"


def _megabytes(row: Row, figure: str) -> str:
    return scaled(getattr(row.summary, figure), 1e6, 1)


def _relatives(group: Group) -> list[tuple[Row, float]]:
    """Return the median time of each client, as a multiple of the shortest in the table."""
    medians = [(row, row.summary.client.median_s) for row in group.rows if row.summary.client is not None]
    fastest_s = min((median_s for _, median_s in medians), default=0.0)
    return [(row, median_s / fastest_s) for row, median_s in medians]


def _ms(figure: Callable[[ClientSummary], float | None]) -> Callable[[Row], str]:
    def text(row: Row) -> str:
        value = figure(row.summary.client) if row.summary.client else None
        return "" if value is None else four_digits(value * 1000, 1)

    return text


def _count(figure: Callable[[ClientSummary], int]) -> Callable[[Row], str]:
    return lambda row: f"{figure(row.summary.client):,}" if row.summary.client else ""


def _verdict(row: Row) -> str:
    kind = row.summary.verdict.kind
    return f"{kind}{PARTLY}" if row.counts_partly else str(kind)


def scaled(estimate: Estimate | None, unit: float, decimals: int) -> str:
    """Format the median in multiples of ``unit`` with at most four significant digits. The text is empty if there is no estimate."""
    return "" if estimate is None else four_digits(estimate.median / unit, decimals)


_COLUMNS = {
    Table.HTTP_SERVERS: _http_servers,
    Table.APP_SERVERS: _app_servers,
    Table.COMMANDS: _commands,
    Table.TCP_PROXIES: _tcp_proxies,
    Table.HTTP_CLIENTS: _http_clients,
    Table.STARTUP: _startup,
    Table.FAILOVER: _failover,
}


# --- which columns a terminal shows ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class View:
    """The columns and notes that the user asked to see."""

    wide: bool = False
    """Whether to show every column."""
    names: tuple[str, ...] = ()
    """Names of the columns to show. If empty, the default columns are shown."""
    explain: bool = False
    """Whether to show every note."""
    source: str = ""
    """Words that name the run on a command line, such as ``RUN --db FILE``. Empty: the run's id."""


def names(table: Table) -> list[str]:
    """Return the names that ``--columns`` accepts for this kind of table."""
    return list(dict.fromkeys([*OF_GROUP, *(column.name for column in (*columns((), table), *further((), table)))]))


def chosen(found: Sequence[Group], group: Group, table: Table, view: View) -> list[Column]:
    """Return the columns of one table, from left to right. Chosen names that this table lacks are ignored.

    ``found`` contains all tables of the run.
    """
    if view.wide:
        return [replace(column, short="") for column in columns(found, table)]
    every = (*_of_group(group), *columns(found, table), *further(found, table))
    known = {column.name: column for column in reversed(every)}  # if two columns have the same name, the first one is used
    return [known[name] for name in view.names or _usual(table, group) if name in known]


def chosen_overhead(every: Sequence[Column], view: View) -> list[Column]:
    """Return the columns of the overhead table of proxies, which ``--columns`` doesn't affect."""
    return [column for column in every if view.wide or column.name in OVERHEAD]


def _usual(table: Table, group: Group) -> list[str]:
    usual, load = list(USUAL[table]), group.load
    if load.share_of_peak is not None:
        return list(OVERLOADED if load.is_overload else AT_SHARE)
    if group.has_events:
        latencies = {"rps": ["events"], "p50": ["first-event-p50"], "p99": ["first-event-p99", "between-p99", "lost"]}
        usual = [name for each in usual for name in latencies.get(each, [each])]
    if counts_handshakes(load) and "rps" in usual and table is not Table.TCP_PROXIES:
        usual[usual.index("rps")] = "handshakes"
    if table is Table.FAILOVER:
        return usual
    beside = (
        next(name for name in ("first-event-p99", "p99") if name in usual)
        if load.rate_rps is not None and {"first-event-p99", "p99"} & set(usual)
        else next(name for name in ("stddev", "interval", "rps") if name in usual)
    )
    usual.insert(usual.index(beside) + 1, "bar")
    return usual


def _of_group(group: Group) -> list[Column]:
    places = ranking(group)
    ranks = {} if is_undecided(places) else {name: rank_text(rank) for name, rank in places.items()}
    return [
        Column("rank", "Rank", "", lambda row: ranks.get(row.target.id, ""), RANK_NEED, is_number=False, short="#"),
        Column("target", "Target", "", lambda row: short_name(row.target), ALWAYS, is_number=False, is_name=True),
        Column("bar", "", "", lambda row: "", BAR_NEED, is_number=False, length=_length),
    ]


def _length(row: Row) -> float | None:
    """Return the value by which the rows are ordered: throughput, the time of a client or start, or p99 if the load has a rate."""
    if not row.counts:
        return None
    if row.summary.ready_s is not None:
        return row.summary.ready_s.median
    if row.summary.client is not None:
        return row.summary.client.median_s
    return row.headline.median if row.headline else None
