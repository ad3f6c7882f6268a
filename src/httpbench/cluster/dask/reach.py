"""At which address of this machine many load hosts reach the targets that it starts."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

from httpbench.cluster.address import checked, route_to
from httpbench.errors import UsageError

HINT = "name an address of this machine that all load hosts reach with --host"


def is_here(worker: str) -> bool:
    """Whether the worker at this address runs on this machine. One to which there is no route runs elsewhere."""
    try:
        return route_to(_host(worker)).stays_here
    except UsageError:
        return False


def chosen(workers: Mapping[str, str], named: str | None) -> str:
    """The address that was named; otherwise the one from which the routes to all load hosts leave. Raises :class:`UsageError`.

    ``workers``: their addresses, by the name of the load host.
    """
    if named is not None:
        return checked(named)
    sources = {name: route_to(_host(worker)).source for name, worker in workers.items()}
    if len(set(sources.values())) > 1:
        ways = ", ".join(f"{source} to {name}" for name, source in sources.items())
        raise UsageError(f"the routes to the load hosts leave from different addresses: {ways}", hint=HINT)
    return next(iter(sources.values()))


def _host(worker: str) -> str:
    return urlsplit(worker).hostname or worker
