"""Read how much a proxy's backend has handled, and check that it handled everything that the proxy answered."""

from __future__ import annotations

from dataclasses import dataclass

from httpbench import http
from httpbench.model import ProxyMode, Reason, ReasonKind, Request, Trial, TrialPlan
from httpbench.run.trial.running import RunningTarget


@dataclass(frozen=True, slots=True)
class Handled:
    """Counts of a backend."""

    connections: int
    """Number of accepted connections."""
    requests: int
    """Number of handled requests."""

    def __add__(self, other: Handled) -> Handled:
        return Handled(self.connections + other.connections, self.requests + other.requests)

    def __sub__(self, other: Handled) -> Handled:
        return Handled(self.connections - other.connections, self.requests - other.requests)


QUERY = Handled(connections=1, requests=1)
"""What the backend handles when its counts are read."""


def handled_by(backend: RunningTarget, path: str | None) -> Handled | None:
    """Return what a backend has handled so far, including this query, or ``None`` if it doesn't count.

    ``path`` is the path of its counters, in the format of nginx's ``stub_status``.
    """
    if path is None:
        return None
    try:
        page, _ = http.exchange(backend.host, backend.port, Request(path=path))
        accepted, _, requests = page.body.splitlines()[2].split()
        return Handled(int(accepted), int(requests))
    except (http.ExchangeError, OSError, ValueError, IndexError):
        return None


def unrelayed(trial: Trial, handled: Handled | None, mode: ProxyMode) -> Reason | None:
    """Return a reason if the proxy can't have relayed all its responses, or ``None`` if it can or the backend doesn't count.

    The backend must have handled each request, and accepted a connection for each connection through a TCP proxy. HTTP proxies may share
    connections between clients. The contents of the requests aren't compared.

    Args:
        trial: The trial of the proxy. Its counts include the warm-up.
        handled: What the backend handled during the trial.
        mode: What the proxy relays.
    """
    if handled is None:
        return None
    if handled.requests < trial.responses:
        return Reason.of(ReasonKind.BACKEND_NOT_ASKED, requests=handled.requests, responses=trial.responses)
    opened = trial.measurement.connections_opened if trial.measurement else None
    if mode is ProxyMode.TCP and opened is not None and handled.connections < opened - _unrelayed_max(trial.plan, opened):
        return Reason.of(ReasonKind.BACKEND_NOT_CONNECTED, accepted=handled.connections, opened=opened)
    return None


def _unrelayed_max(plan: TrialPlan, opened: int) -> int:
    """Return how many connections an honest proxy may not have relayed yet.

    If connections are reopened, the load may end just after each of them was. With slices, it ends several times.
    """
    return 0 if opened <= plan.load.connections else plan.load.connections * (plan.slices or 1)
