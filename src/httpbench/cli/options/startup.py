"""Options for measuring how servers start."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from httpbench.cli.options.fields import Options, option
from httpbench.cli.options.params import DURATION_OR_NONE
from httpbench.errors import UsageError

if TYPE_CHECKING:
    from httpbench.run import RunSpec

STARTS = 30
"""Default number of rounds, and therefore of starts of each server."""
LOAD = {"duration_s": 5.0, "warmup_s": 0.0, "warmup_max_s": None}
REST_S = 5.0
NATIVE = "native"


class StartupOptions(Options):
    startup: bool = option(
        "--startup",
        is_flag=True,
        help=f"Measure {STARTS} starts of each server: time to the first response and to steady throughput, memory, and size.",
    )
    rest_s: float | None = option(
        "--rest", type=DURATION_OR_NONE, default_text=f"{REST_S:g}s", help="With --startup: time after the load until memory is measured."
    )

    def load_fields(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fields of :class:`~httpbench.model.Load` for measuring start-up. Without ``--startup``, there are none.

        ``given`` contains the fields that the user gave. Raise :class:`UsageError` if they contradict ``--startup``.
        """
        if not self.startup:
            if self.rest_s is not None:
                raise UsageError("--rest requires --startup")
            return {}
        if "warmup_s" in given or given.get("warmup_max_s") is not None:
            raise UsageError("--startup measures servers that are not warmed up", hint="remove --warmup and --warmup-max")
        return {**LOAD, "rest_s": REST_S if self.rest_s is None else self.rest_s}


def require_startable(spec: RunSpec, load_source: str | None) -> None:
    """Raise :class:`UsageError` if a run measures a start that it can't measure. ``load_source`` names the load hosts, if there are any."""
    from httpbench.model import Kind, NetworkMode

    for planned in spec.plan.trials:
        target = spec.targets[planned.target]
        if not planned.load.is_of_startup:
            continue
        if target.kind is not Kind.SERVER:
            raise UsageError(f"--startup measures servers, and {target.id} is a {target.kind}", hint="remove --startup")
        if target.url is not None:
            raise UsageError(f"--startup starts servers, and {target.url} is already running", hint="give a command instead of a URL")
        if target.isolation is not None and target.isolation.network is NetworkMode.BRIDGE:
            raise UsageError("--startup requires an address that is known before the container starts", hint="use --network host")
        if load_source is not None:
            raise UsageError("--startup requires a load generator on this machine", hint="remove -r and --scheduler")
        if planned.load_generator != NATIVE:
            raise UsageError(f"{planned.load_generator} cannot wait for a server to start", hint="remove --load-generator")
