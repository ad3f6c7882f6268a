"""The meters of a measurement: samplers of each program, and counters of this machine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from httpbench.model import Cores, Observed
from httpbench.run.database.running import RunningDatabase
from httpbench.run.load.place import RunningGenerator, Sampler
from httpbench.run.trial.start import RunningTarget
from httpbench.sample import Current, NetworkMeter, OccupancyMeter, SharedQuotaMeter, StrangerMeter


@dataclass(frozen=True, slots=True)
class Subject:
    """The programs that a load is put on."""

    target: RunningTarget
    cores: Cores
    backend: RunningTarget | None = None
    """Server behind a proxy. ``None``: no proxy."""
    database: RunningDatabase | None = None
    """Database that the target uses. ``None``: no database."""


class Meters:
    """All meters of a measurement. Call ``begin()``, ``mark()`` if the window begins later, and ``read()``; then they can begin again."""

    def __init__(self, subject: Subject, generator: RunningGenerator):
        self._subject, self._generator = subject, generator
        self._occupancy = OccupancyMeter(subject.cores.measured)
        self._network = NetworkMeter()
        self._quota = SharedQuotaMeter()
        self._strangers = StrangerMeter(subject.cores.measured, roots=_contained(subject))
        self._target: Sampler | None = None
        self._backend: Sampler | None = None
        self._database: Sampler | None = None

    @property
    def current(self) -> Callable[[], Current] | None:
        """Return a function that reads the current cost of the target; ``None`` if it isn't sampled."""
        return self._target.current if self._target else None

    def begin(self) -> None:
        """Start the samplers, and begin the measured window. The meters that take longest come first."""
        subject = self._subject
        self._strangers.mark()
        self._quota.mark()
        self._network.mark()
        self._generator.mark()
        self._target = subject.target.sampler()
        self._backend = subject.backend.sampler() if subject.backend else None
        self._database = subject.database.sampler() if subject.database else None
        for sampler in self._samplers:
            sampler.start()
        self._occupancy.mark()

    def mark(self) -> None:
        """Begin the measured window again while the load runs, and drop earlier samples. The meters that take longest come last."""
        for sampler in self._samplers:
            sampler.mark()
        self._generator.mark()
        self._occupancy.mark()
        self._network.mark()
        self._quota.mark()
        self._strangers.mark()

    def read(self) -> Observed:
        """End the measured window, stop the samplers, and return what they observed."""
        occupancy, network, quota = self._occupancy.read(), self._network.read(), self._quota.read()
        target, backend, database = (sampler.stop() if sampler else None for sampler in (self._target, self._backend, self._database))
        own, load_host = self._generator.close()
        return Observed(
            target_usage=target,
            generator_usage=own,
            backend_usage=backend,
            database_usage=database,
            occupancy=occupancy,
            others=self._strangers.read().model_copy(update={"quota": quota}),
            network=network,
            load_host=load_host,
        )

    @property
    def _samplers(self) -> list[Sampler]:
        return [sampler for sampler in (self._target, self._backend, self._database) if sampler]


def _contained(subject: Subject) -> list[int]:
    """Return the first processes of containers, which are children of their engine."""
    target = subject.target.container
    database = subject.database.container_pid if subject.database else None
    return [pid for pid in (target.pid if target else None, database) if pid is not None]
