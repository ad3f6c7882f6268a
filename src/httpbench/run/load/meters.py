"""The meters of a measurement: samplers for each program, and counters for the whole machine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from httpbench.isolate import Container
from httpbench.model import Cores, Observed, ProxyMode, build_validators
from httpbench.run.load.place import RunningGenerator, Sampler
from httpbench.run.trial.running import RunningTarget
from httpbench.sample import Current, NetworkMeter, OccupancyMeter, SharedQuotaMeter, StrangerMeter

if TYPE_CHECKING:
    from httpbench.run.database.running import RunningDatabase


@dataclass(frozen=True, slots=True)
class Subject:
    """The programs under load."""

    target: RunningTarget
    cores: Cores
    backend: RunningTarget | None = None
    """Server behind a proxy, or ``None`` if the target isn't a proxy."""
    database: RunningDatabase | None = None
    """Database that the target uses, or ``None``."""
    mode: ProxyMode = ProxyMode.TCP
    """What the target relays, if it is a proxy."""


class Meters:
    """All meters of a measurement.

    Call ``begin()``, then ``mark()`` if the window begins later, then ``read()``. After that, ``begin()`` starts another window.
    """

    def __init__(self, subject: Subject, generator: RunningGenerator):
        build_validators()
        self._subject, self._generator = subject, generator
        self._network = NetworkMeter()
        self._samplers: dict[str, Sampler] = {}
        """Samplers of the programs, by the name of the usage field in ``Observed``."""

    @property
    def current(self) -> Callable[[], Current] | None:
        """Function that reads the target's current CPU use and memory, or ``None`` if the target isn't sampled."""
        target = self._samplers.get("target_usage")
        return target.current if target else None

    def begin(self) -> None:
        """Start the samplers, and begin the measured window.

        The slowest meters are started first, so that the time that this takes isn't part of the window of the other meters.
        """
        subject = self._subject
        self._strangers = StrangerMeter(subject.cores.measured, roots=_contained(subject))
        self._quota = SharedQuotaMeter()
        self._network.mark()
        self._generator.mark()
        samplers = {
            "target_usage": subject.target.sampler(subject.cores.target),
            "backend_usage": subject.backend.sampler() if subject.backend else None,
            "database_usage": subject.database.sampler() if subject.database else None,
        }
        self._samplers = {name: sampler for name, sampler in samplers.items() if sampler}
        for sampler in self._samplers.values():
            sampler.start()
        self._occupancy = OccupancyMeter(subject.cores.measured)

    def mark(self) -> None:
        """Begin the measured window again while the load runs, and drop earlier samples.

        The slowest meters come last, so that they don't delay the other meters.
        """
        for sampler in self._samplers.values():
            sampler.mark()
        self._generator.mark()
        self._occupancy.mark()
        self._network.mark()
        self._quota.mark()
        self._strangers.mark()

    def read(self) -> Observed:
        """End the measured window, stop the samplers, and return what they observed."""
        occupancy, network, quota = self._occupancy.read(), self._network.read(), self._quota.read()
        usages = {name: sampler.stop() for name, sampler in self._samplers.items()}
        own, load_host = self._generator.close()
        return Observed(
            **usages,
            generator_usage=own,
            occupancy=occupancy,
            others=self._strangers.read().model_copy(update={"quota": quota}),
            network=network,
            load_host=load_host,
        )


def _contained(subject: Subject) -> list[int]:
    """Return the process ids of the containers' first processes, which aren't descendants of the harness."""
    programs = [each.program for each in (subject.target, subject.database) if each]
    return [program.pid for program in programs if isinstance(program, Container)]
