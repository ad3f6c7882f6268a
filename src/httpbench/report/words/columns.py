"""All columns of the tables: name, title, unit, text, and how soon a narrow terminal omits them.

All output formats share one list of columns for each kind of table. Values that were not measured are empty cells. A terminal shows the
columns that fit, all columns, or those chosen with ``--columns``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from httpbench.analysis.compared import is_undecided, ranking
from httpbench.analysis.evidence import memory_is_proportional
from httpbench.analysis.rows import Group, Row
from httpbench.model import Load, Table
from httpbench.report.words.numbers import figure_name, four_digits, half_width_text, rank_text
from httpbench.report.words.targets import short_name
from httpbench.stats.clients import ClientSummary
from httpbench.stats.summary import Estimate

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

ALWAYS = 0
"""``need`` of a column that is never omitted."""


RANK_NEED, BAR_NEED = 5, 20
"""``need`` of the rank column and of the bar column. Bars are omitted first, because they repeat another column."""

SERVERS = ("rank", "target", "rps", "interval", "p50", "p99", "cpu", "memory", "verdict")

USUAL = {
    Table.HTTP_SERVERS: SERVERS,
    Table.APP_SERVERS: SERVERS,
    Table.COMMANDS: SERVERS,
    Table.TCP_PROXIES: ("rank", "target", "held", "rps", "p50", "p99", "cpu-request", "memory", "verdict"),
    Table.HTTP_CLIENTS: ("rank", "target", "median", "relative", "mean", "stddev", "startup", "cpu-request", "memory", "verdict"),
}
"""Columns shown by default. A bar is added next to the column by which the rows are ordered."""

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
    if table in (Table.HTTP_CLIENTS, Table.TCP_PROXIES):
        return []
    return [
        *(_latency(name, ALWAYS) for name in ("p95", "p99_9", "p99_99")),
        _CPU_PER_REQUEST,
        _HANDSHAKES,
        _CIPHER,
        *_DATABASE,
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
        Column("response", "Res", "B", _response, 8),
        Column("requests", "Req", "", lambda row: _exact(row.summary.requests), 15),
        Column("errors", "Err", "", lambda row: _exact(row.summary.errors), 5),
        Column("rps", "Requests/s", "", _throughput, ALWAYS, is_headline=True),
        *([_HANDSHAKES, _CIPHER] if any(counts_handshakes(group.load) for group in found) else []),
        Column("interval", "±", "%", lambda row: half_width(row.summary.throughput_rps), 1),
        Column("spread", "Range", "± %", lambda row: _spread(row.summary.throughput_rps), 17),
        Column("bytes", "BPS", "MB/s", lambda row: scaled(row.summary.bytes_per_s, 1e6, 1), 14),
        *(_latency(name, need) for name, need in _LATENCIES.items()),
        Column("cpu", "CPU", "%", lambda row: scaled(row.summary.cpu_cores, 0.01, 0), 4),
        Column("memory", "Memory", "MB", _memory(found, "peak"), 6, short="Mem"),
        Column("memory-mean", "Memory mean", "MB", _memory(found, "mean"), 16),
        Column("probe", "Probe", "", _label, ALWAYS, is_number=False),
        Column("verdict", "Verdict", "", _verdict, ALWAYS, is_number=False),
    ]


def _app_servers(found: Sequence[Group]) -> list[Column]:
    return [
        Column("language", "Language", "", lambda row: row.target.language, ALWAYS, is_number=False),
        Column("server", "App Server", "", _server, ALWAYS, is_number=False),
        Column("rps", "Requests/s", "", _throughput, ALWAYS, is_headline=True),
        Column("interval", "±", "%", lambda row: half_width(row.summary.throughput_rps), 1),
        Column("memory", "RAM", "MB", _memory(found, "peak"), ALWAYS),
        Column("memory-mean", "RAM mean", "MB", _memory(found, "mean"), ALWAYS),
        Column("cpu-peak", "CPU peak", "%", lambda row: scaled(row.summary.cpu_cores_peak, 0.01, 1), ALWAYS),
        Column("cpu", "CPU mean", "%", lambda row: scaled(row.summary.cpu_cores, 0.01, 1), ALWAYS, short="CPU"),
        Column("probe", "Probe", "", _label, ALWAYS, is_number=False),
        Column("verdict", "Verdict", "", _verdict, ALWAYS, is_number=False),
    ]


def _server(row: Row) -> str:
    return "/".join(filter(None, (row.target.title, row.target.variant)))


def _tcp_proxies(found: Sequence[Group]) -> list[Column]:
    return [
        Column("target", "Proxy", "", lambda row: short_name(row.target), ALWAYS, is_number=False),
        Column("held", "Held", "1/s", lambda row: _exact(row.summary.rate_held_rps), ALWAYS),
        Column("rps", "Requests/s", "", _throughput, ALWAYS, is_headline=True),
        Column("interval", "±", "%", lambda row: half_width(row.summary.throughput_rps), 8),
        Column("spread", "Range", "± %", lambda row: _spread(row.summary.throughput_rps), 17),
        *(_latency(name, need, unit="µs") for name, need in _TAIL.items()),
        Column("cpu", "CPU", "cores", lambda row: scaled(row.summary.cpu_cores, 1, 2), 5),
        Column("cpu-request", "CPU/req", "µs", lambda row: scaled(row.summary.cpu_us_per_request, 1, 1), 6),
        Column("memory", "Memory", "MB", _memory(found, "peak"), 7, short="Mem"),
        Column("memory-mean", "Memory mean", "MB", _memory(found, "mean"), 19),
        Column("backend", "Backend", "cores", lambda row: scaled(row.summary.backend_cpu_cores, 1, 2), 14),
        Column("backend-request", "Backend/req", "µs", lambda row: scaled(row.summary.backend_cpu_us_per_request, 1, 1), 16),
        Column("generator", "Generator", "cores", lambda row: scaled(row.summary.generator_cpu_cores, 1, 2), 15),
        Column("generator-request", "Generator/req", "µs", lambda row: scaled(row.summary.generator_cpu_us_per_request, 1, 1), 17),
        Column("errors", "Err", "", lambda row: _exact(row.summary.errors), 13),
        Column("verdict", "Verdict", "", _verdict, ALWAYS, is_number=False),
    ]


_TAIL = {"p50": ALWAYS, "p90": 9, "p95": 18, "p99": ALWAYS, "p99_9": 2, "p99_99": 11, "max": 10, "tm99_9": 4, "stddev": 12}
_LATENCIES = {"min": 11, "max": 10, "p25": 13, "p50": 2, "p75": 12, "p90": 9, "p99": 3}
"""How soon the latency columns are omitted as the terminal gets narrower."""

_DATABASE = (
    Column("database", "Database", "%", lambda row: scaled(row.summary.database_cpu_cores, 0.01, 0), ALWAYS),
    Column("database-request", "Database/req", "µs", lambda row: scaled(row.summary.database_cpu_us_per_request, 1, 1), ALWAYS),
)
_CPU_PER_REQUEST = Column("cpu-request", "CPU/req", "µs", lambda row: scaled(row.summary.cpu_us_per_request, 1, 1), ALWAYS)


def latency_title(name: str) -> str:
    """Return the title of a column of latencies."""
    return "σ" if name == "stddev" else figure_name(name)


def _latency(name: str, need: int, *, unit: str = "ms") -> Column:
    divisor, decimals = (1000, 3) if unit == "ms" else (1, 0)

    def text(row: Row) -> str:
        value = scaled(getattr(row.latency, name), divisor, decimals) if row.latency else ""
        return UPPER_BOUND + value if value and row.is_lower_bound and name != "stddev" else value

    return Column(figure_name(name), latency_title(name), unit, text, need)


def _memory(found: Sequence[Group], figure: str) -> Callable[[Row], str]:
    kind = "pss" if memory_is_proportional(found) else "rss"
    return lambda row: scaled(getattr(row.summary, f"{kind}_bytes_{figure}"), 1e6, 1)


def _response(row: Row) -> str:
    return "" if row.response_bytes is None else f"{row.response_bytes:,}{ODD_SIZE if row.odd_size else ''}"


def _throughput(row: Row) -> str:
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


def half_width(estimate: Estimate | None) -> str:
    """Format half the width of the 95% interval in percent. The text is empty for fewer than three rounds."""
    return "" if estimate is None or estimate.interval is None else half_width_text(estimate.interval.half_width)


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
        Column("stddev", "± σ", "ms", _ms(lambda client: client.stddev_s), 2),
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
    return [known[name] for name in view.names or _usual(table, group.load) if name in known]


def chosen_overhead(every: Sequence[Column], view: View) -> list[Column]:
    """Return the columns of the overhead table of proxies, which ``--columns`` doesn't affect."""
    return [column for column in every if view.wide or column.name in OVERHEAD]


def _usual(table: Table, load: Load) -> list[str]:
    usual = list(USUAL[table])
    if counts_handshakes(load) and table is not Table.TCP_PROXIES:
        usual[usual.index("rps")] = "handshakes"
    beside = "p99" if load.rate_rps is not None else next(name for name in ("stddev", "interval", "rps") if name in usual)
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
    """Return the value by which the rows are ordered: throughput, a client's time, or p99 if the load has a rate."""
    if not row.counts:
        return None
    if row.summary.client is not None:
        return row.summary.client.median_s
    return row.headline.median if row.headline else None
