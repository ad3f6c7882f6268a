"""Put targets into containers.

A target in a container gets its own id, so that a table can contain the same target twice: in a container and as a process.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from httpbench.errors import UsageError
from httpbench.model import Isolation, Kind, NetworkMode, Scaling, Target


def isolated(target: Target, isolation: Isolation) -> Target:
    """Return the target in a container: ``c/nginx`` becomes ``c/nginx@docker``. Raises :class:`UsageError` if that is impossible."""
    if target.kind is Kind.CLIENT:
        raise UsageError(f"{target.id} is a client: --isolate applies to servers and proxies", hint="remove --isolate")
    if target.kind is Kind.PROXY and isolation.network is NetworkMode.BRIDGE:
        raise UsageError(f"{target.id} is a proxy: in a bridge network it cannot reach its backend", hint="use --network host")
    if target.url is not None:
        raise UsageError(f"{target.url} is already running: --isolate applies to servers that httpbench starts", hint="remove --isolate")
    if not target.is_declared and isolation.image is None:
        raise UsageError("a command has no image to run in", hint="name one with --image, or remove --isolate")
    changed = target.model_copy(update={"isolation": isolation})
    scaling = tuple(own for own in target.scaling if own is not Scaling.PREFORK)
    # A target in a container can't use prefork, because its copies, one per core, couldn't share one limit.
    return changed.model_copy(update={"id": f"{target.id}{changed.place}", "scaling": scaling})


def everywhere(targets: Iterable[Target], places: Sequence[Isolation | None]) -> list[Target]:
    """Return each target once per place, where ``None`` stands for a process.

    Raises :class:`UsageError` if a target can't run in one of the places.
    """
    return [target if place is None else isolated(target, place) for target in targets for place in places]
