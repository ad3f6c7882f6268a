"""Options for the load, and for the cores and workers of the target."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from httpbench.cli.options.fields import Options, option
from httpbench.cli.options.params import ARRIVALS, COUNT, COUNTS, DURATION, DURATION_OR_NONE, RATE, STEP
from httpbench.errors import UsageError

if TYPE_CHECKING:
    from httpbench.host import Topology
    from httpbench.model import Load, Scaling, SuiteLoad

WORKERS_MAX = 1024

NOT_OF_A_LOAD = {"connections", "caps", "shares_of_peak"}
"""Fields of a suite's load that determine how many loads it defines, and with which rates and connections."""


threads_option = partial(
    option, "-t", "--threads", type=COUNT, default_text="one per core of its share", help="Threads of the load generator."
)
arrivals_option = partial(option, "--arrivals", type=click.Choice(ARRIVALS), help="Open loop: spacing of the requests.")


class ShareOptions(Options):
    """Options for the cores and workers of a target. By default, it gets its usual share of the cores, and one worker per core."""

    cores: int | None = option(
        "--cores", type=COUNT, default_text="its share", metavar="N", help="Physical cores for the target; implies --scaling multi."
    )
    workers: int | None = option(
        "--workers",
        type=click.IntRange(1, WORKERS_MAX),
        default_text="one per core",
        metavar="N",
        help="Workers that the target starts, such as puma's processes; implies --scaling multi.",
    )

    def scalings(self, given: Sequence[str], usual: Sequence[Scaling]) -> list[Scaling]:
        """Return the scalings in ``given`` or, if it is empty, in ``usual``. With ``--cores`` or ``--workers``, return only ``multi``.

        Raise :class:`UsageError` if ``given`` contradicts these options.
        """
        from httpbench.model import Scaling

        name = "--cores" if self.cores else "--workers" if self.workers else None
        if name is None:
            return [Scaling(word) for word in given] or list(usual)
        if "single" in given:
            raise UsageError(f"{name} requires --scaling multi: single gives a target one core and one worker")
        return [Scaling.MULTI]

    def cores_of(self, topology: Topology) -> int | None:
        """Return the number of cores that the user requested, or ``None``. Raise :class:`UsageError` if this machine has fewer."""
        count = len(topology.cores)
        if self.cores and self.cores > count:
            raise UsageError(f"--cores {self.cores} is more than the {count} physical cores that httpbench may use here")
        return self.cores


class LoadOptions(Options):
    """Options for the load of each trial. A field is ``None`` if the user did not give the option.

    Most fields correspond to those of :class:`~httpbench.model.Load`.
    """

    connections: tuple[int, ...] | None = option(
        "-c", "--connections", type=COUNTS, default_text="64", help="Connections; a list makes one table per value."
    )
    duration_s: float | None = option(
        "-d",
        "--duration",
        type=DURATION,
        default_text="10s",
        help="Measured duration of each trial; with a rising rate, of its last step.",
    )
    threads: int | None = threads_option()
    warmup_s: float | None = option("--warmup", type=DURATION_OR_NONE, default_text="until steady", help="Warm-up duration.")
    warmup_max_s: float | None = option(
        "--warmup-max",
        type=DURATION,
        default_text="10s, or --duration if shorter",
        help="Maximum warm-up duration; the warm-up ends once throughput is steady.",
    )
    pipeline: int | None = option("-p", "--pipeline", type=COUNT, default_text="1", help="Requests in flight on each connection.")
    keepalive: bool | None = option(
        "--keepalive/--no-keepalive", default=None, default_text="keepalive", help="Keep connections alive, or open one per request."
    )
    timeout_s: float | None = option("--timeout", type=DURATION, default_text="2s", help="Request timeout.")
    requests_per_connection: int | None = option(
        "--requests-per-connection", type=COUNT, default_text="unlimited", help="Requests per connection before reconnecting."
    )
    rate: tuple[int | None, int] | None = option(
        "--rate",
        type=RATE,
        metavar="RATE",
        default_text="closed loop",
        help="Open loop at this rate, in requests per second, or rising: 10k..25k.",
    )
    step: tuple[int | None, float] | None = option(
        "--step",
        type=STEP,
        metavar="RATE/TIME",
        default_text="the suite's",
        help="Step of a rising rate, such as 1k/60s. For a suite, 60s alone changes only the time.",
    )

    arrivals: str | None = arrivals_option(default_text="constant")

    def given(self) -> dict[str, Any]:
        """Return the options that the user gave, except connections, as fields of :class:`~httpbench.model.Load`."""
        fields = dataclasses.asdict(self)
        del fields["connections"]
        fields["rate_from_rps"], fields["rate_rps"] = fields.pop("rate") or (None, None)
        fields["rate_step_rps"], fields["step_s"] = fields.pop("step") or (None, None)
        found = {name: value for name, value in fields.items() if value is not None}
        if "warmup_s" in found:
            found.setdefault("warmup_max_s", None)  # a warm-up of fixed duration doesn't wait for a steady state
        return found


@dataclass(frozen=True, slots=True)
class Overrides:
    """Options that override fields of every load."""

    fields: Mapping[str, Any]
    """Fields of :class:`~httpbench.model.Load` to replace in every load. ``scale`` does not change these values."""
    connections: tuple[int, ...] | None
    scale: float = 1.0
    shares_of_peak: tuple[float, ...] | None = None
    """Shares of each target's own peak, which replace those of a suite."""

    def loads(self, parts: Sequence[SuiteLoad], target: str | None = None) -> list[Load]:
        """Return the loads that apply to all targets.

        If ``target`` is given, return the loads of that target instead, with its rate capped as the suite specifies.
        Raise :class:`UsageError` if a load is invalid.
        """
        from pydantic import ValidationError

        from httpbench import catalog
        from httpbench.model import Load
        from httpbench.run import load_of

        if "arrivals" in self.fields and all(self._merged(part)["rate_rps"] is None and not self._shares(part) for part in parts):
            raise UsageError("--arrivals requires an open loop", hint="give a rate, such as --rate 10k")
        if "step_s" in self.fields and all(self._merged(part)["rate_from_rps"] is None for part in parts):
            raise UsageError("--step requires a rising rate", hint="give --rate FROM..TO, such as --rate 10k..25k")
        if self.shares_of_peak and not any(map(self._shares, parts)):
            raise UsageError("--shares-of-peak requires a closed loop, which measures the peak of each target", hint="remove --rate")
        try:
            found = [
                load
                for part in parts
                for connections in self.connections or part.connections
                for load in self._each(
                    load_of(
                        {**self._merged(part), "connections": connections},
                        scale=self.scale,
                        as_typed=self.fields,
                        cap_rps=part.caps.get(target) if target else None,
                    ),
                    part,
                )
            ]
            return list(dict.fromkeys(found))  # the overloads of several numbers of connections may be the same
        except ValidationError as error:
            raise UsageError("\n".join(catalog.sentences(Load, error))) from None

    def capped(self, parts: Sequence[SuiteLoad]) -> dict[str, list[Load]]:
        """Return the loads of each target whose rate the suite caps. A rate on the command line is never capped."""
        targets = () if "rate_rps" in self.fields else dict.fromkeys(name for part in parts for name in part.caps)
        return {target: self.loads(parts, target) for target in targets}

    def _each(self, load: Load, part: SuiteLoad) -> Iterator[Load]:
        """Yield a load and its repetitions at shares of each target's own peak."""
        from httpbench.model import Arrivals
        from httpbench.run import at_share

        yield load
        for share in self._shares(part):
            yield at_share(load, share, Arrivals(self.fields.get("arrivals", Arrivals.POISSON)))

    def _shares(self, part: SuiteLoad) -> tuple[float, ...]:
        """Return the shares of the peak at which a load is repeated. There are none if the load has a rate."""
        if self._merged(part)["rate_rps"] is not None:
            return ()
        return part.shares_of_peak if self.shares_of_peak is None else self.shares_of_peak

    def _merged(self, part: SuiteLoad) -> dict[str, Any]:
        """Return the fields of a suite's load with the overrides applied. If the rate is constant, remove its steps."""
        merged = {**part.model_dump(exclude=NOT_OF_A_LOAD), **self.fields}
        if "rate_rps" in self.fields and not self.fields.get("rate_from_rps"):
            merged["rate_from_rps"] = None
        if merged["rate_from_rps"] is None:
            merged |= {"rate_step_rps": None, "step_s": None}
        return merged
