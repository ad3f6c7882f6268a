"""The columns of a table of clients: hyperfine's, then what a request costs, then what the reference server counted."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from httpbench.report.column import ALWAYS, Column, scaled, verdict
from httpbench.report.rows import Group, Row
from httpbench.stats.clients import ClientSummary, Relative, relative


def client_columns(found: Sequence[Group]) -> list[Column]:
    """Needs all tables: a row's relative speed is to the fastest of its own."""
    relatives = {id(row): known for group in found for row, known in _relatives(group)}

    def ratio(row: Row) -> str:
        known = relatives.get(id(row))
        return f"{known.ratio:.2f}" if known else ""

    def ratio_stddev(row: Row) -> str:
        known = relatives.get(id(row))
        return f"{known.stddev:.2f}" if known and known.stddev is not None else ""

    return [
        Column("Command", "", lambda row: row.target.id.removeprefix("client:"), ALWAYS, is_number=False),
        Column("Mean", "ms", _ms(lambda client: client.mean_s), ALWAYS),
        Column("± σ", "ms", _ms(lambda client: client.stddev_s), 1),
        Column("Min", "ms", _ms(lambda client: client.min_s), 5),
        Column("Max", "ms", _ms(lambda client: client.max_s), 6),
        Column("Relative", "", ratio, ALWAYS),
        Column("± σ ", "", ratio_stddev, 2),
        Column("Start-up", "ms", _ms(lambda client: client.startup_s), 4),
        Column("Requests/s", "", lambda row: scaled(row.summary.throughput_rps, 1, 0), 3),
        Column("CPU/request", "µs", lambda row: scaled(row.summary.cpu_us_per_request, 1, 1), 7),
        Column("Memory", "MB", lambda row: scaled(row.summary.rss_bytes_peak, 1e6, 1), 8),
        Column("Req", "", _count(lambda client: client.requests), 10),
        Column("Conn", "", _count(lambda client: client.connections), 9),
        Column("At once", "", _count(lambda client: client.in_flight_max), 11),
        Column("Verdict", "", verdict, ALWAYS, is_number=False),
    ]


def _relatives(group: Group) -> list[tuple[Row, Relative]]:
    known = [(row, row.summary.client) for row in group.rows]
    clients = [client for _, client in known if client is not None]
    if not clients:
        return []
    fastest = min(clients, key=lambda client: client.mean_s)
    return [(row, relative(client, fastest)) for row, client in known if client is not None]


def _ms(figure: Callable[[ClientSummary], float | None]) -> Callable[[Row], str]:
    def text(row: Row) -> str:
        value = figure(row.summary.client) if row.summary.client else None
        return "" if value is None else f"{value * 1000:,.1f}"

    return text


def _count(figure: Callable[[ClientSummary], int]) -> Callable[[Row], str]:
    return lambda row: f"{figure(row.summary.client):,}" if row.summary.client else ""
