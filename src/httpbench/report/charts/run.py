"""All charts of a run: charts of one table, charts of several tables, charts of one target over time, and the curve of a search.

To add a chart of one table, write a function that takes a group and yields the kind and the drawing of each of its charts. Call this
function in :func:`of_group`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from httpbench.analysis.groups import groups
from httpbench.analysis.rows import Group
from httpbench.model import Run, Table, Trial
from httpbench.report.charts import add, clients, over_time, proxies, search, servers
from httpbench.report.charts.drawing import Drawing, file_name


def of_run(run: Run, trials: Sequence[Trial]) -> dict[str, Drawing]:
    """Draw every chart of a run, and return the drawings by file name."""
    if run.search:
        return search.of_search(run, trials)
    found = groups(run, trials)
    drawn: dict[str, Drawing] = {}
    for group in found:
        add(drawn, ((f"{kind}-{file_name(group)}", drawing) for kind, drawing in of_group(run, group)))
    add(drawn, ((f"connections-{name}", drawing) for name, drawing in servers.over_connections(found)))
    add(drawn, ((f"over-time-{name}", drawing) for target in _watched(run, found) for name, drawing in over_time.of_target(found, target)))
    return drawn


def of_group(run: Run, group: Group) -> Iterator[tuple[str, Drawing]]:
    """Draw the charts of one table, and yield each with its kind."""
    if group.client_work is not None or group.load.is_of_startup:
        return clients.of_group(run, group)
    return proxies.of_group(run, group) if run.table is Table.TCP_PROXIES else servers.of_group(run, group)


def first_title(group: Group) -> str:
    """Return the title of a table's first chart, without drawing it."""
    if group.client_work is not None or group.load.is_of_startup:
        return clients.meaning(group)
    if group.proxy_baseline is None:
        return servers.first_title(group)
    return proxies.OVER_TIME if group.load.is_overload else proxies.ADDS


def of_target(run: Run, found: Sequence[Group], target: str) -> list[Drawing]:
    """Draw the charts of one target over time.

    Return none for clients and proxies. Clients have no such charts, and :func:`of_group` draws those of proxies.
    """
    return [drawing for _, drawing in over_time.of_target(found, target)] if target in _watched(run, found) else []


def _watched(run: Run, found: Sequence[Group]) -> list[str]:
    if run.table is Table.TCP_PROXIES:
        return []
    return list(dict.fromkeys(row.target.id for group in found if group.client_work is None for row in group.rows))
