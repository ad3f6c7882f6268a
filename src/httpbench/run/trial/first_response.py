"""Wait for the first correct response of a target that runs as processes, and explain why there is none."""

from __future__ import annotations

import time

from httpbench import http
from httpbench.errors import StartError
from httpbench.host import inherited
from httpbench.isolate import ProcessTree, accepts, is_only_on_ipv6, listeners, listening
from httpbench.model import SampledResponse, Target, Workload
from httpbench.run.trial.context import HOST, StartContext
from httpbench.run.trial.running import exit_hint

LOOPBACK_IPV6 = "::1"
LATE_S = 0.5
"""Time for a target that listens on ``::1`` to listen on 127.0.0.1, too, in seconds."""


def first_response(
    tree: ProcessTree, port: int, workload: Workload, copies: int, place: StartContext, target: Target
) -> tuple[str, SampledResponse]:
    """Wait until every copy listens, because a late copy might get no connections. Return the address and the first correct response.

    The address is ``::1`` if a target from the command line doesn't listen on 127.0.0.1.
    """
    address, limit_s = place.address, place.start_limit_s
    deadline = time.monotonic() + limit_s
    ipv6 = _OnlyOnIpv6(port, is_possible=address == HOST and not target.is_declared)
    try:
        try:
            response = http.wait_until_correct(address, port, workload, limit_s, lambda: not (tree.exits() or ipv6), place.transport)
        except StartError:
            if not ipv6 or tree.exits():
                raise
            address, left_s = LOOPBACK_IPV6, max(deadline - time.monotonic(), LATE_S)
            response = http.wait_until_correct(address, port, workload, left_s, lambda: not tree.exits(), place.transport)
        if tree.exits():  # a daemon may respond after the command that started it has ended
            raise StartError("ended before it responded")
        while copies > 1 and listeners(port) < copies:
            if tree.exits() or time.monotonic() > deadline:
                raise StartError(
                    f"only {listeners(port)} of {copies} copies listen on port {port}",
                    hint="a target that scales as prefork must set SO_REUSEPORT before it binds",
                )
            time.sleep(0.005)
    except StartError as error:
        raise _explained(error, tree, address, port, _hint_about(target)) from None
    return address, response


class _OnlyOnIpv6:
    """A condition that is true once a target has listened on ``::1``, but not on 127.0.0.1, for ``LATE_S``.

    Some targets listen on both addresses, one after the other. If the target must listen on 127.0.0.1 or on another address, so that this
    isn't possible, the condition is always false.
    """

    def __init__(self, port: int, *, is_possible: bool):
        self._port, self._is_possible = port, is_possible
        self._since_s: float | None = None

    def __bool__(self) -> bool:
        if not self._is_possible or not is_only_on_ipv6(self._port):
            self._since_s = None
            return False
        now_s = time.monotonic()
        self._since_s = self._since_s or now_s
        return now_s - self._since_s >= LATE_S


def _hint_about(target: Target) -> str | None:
    """Return why a user's command may fail although it works in the user's shell, or ``None`` if it gets the shell's whole environment."""
    if target.is_declared or not inherited.withheld(target.env):
        return None
    return "a server gets only basic variables such as PATH; pass on others with --env NAME, or all with --env-all"


def _explained(error: StartError, tree: ProcessTree, address: str, port: int, hint: str | None) -> StartError:
    """Return the error, with observations added that may explain why the target didn't respond."""
    exits = tree.exits()
    is_served = accepts(port, address)
    places = listening(tree.guard_pid)
    if exits and is_served and not any(place.endswith(f":{port}") for place in places):
        return StartError(f"{error.message} ({exits[0]}); another program took port {port} in the meantime", hint=error.hint)
    if exits:
        return StartError(f"{error.message} ({exits[0]})", hint=error.hint or exit_hint(exits[0]) or hint)
    name = f"[{address}]" if ":" in address else address
    if places and f"{name}:{port}" not in places:
        return StartError(f"{error.message}; it listens on {', '.join(places)}", hint=f"it must listen on {name}, or on all addresses")
    return error
