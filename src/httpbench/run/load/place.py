"""Where load generators run: on this machine, or wherever the caller of a run says.

A run starts each load generator through a :class:`LoadPlace` and knows nothing else of the place. So it depends neither on ssh nor on what
divides a load among several hosts.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from httpbench import load
from httpbench.isolate import Command, Exit, ProcessTree
from httpbench.load import Job, LoadGenerator
from httpbench.model import LoadHost, LoadHostUse, Usage
from httpbench.sample import Current, TreeSampler

NATIVE = "native"
"""The load generator that reports its throughput while it runs."""


class RunningGenerator(Protocol):
    """A load generator that was started. Every method raises :class:`~httpbench.errors.LostHostError` if its host is lost."""

    @property
    def stderr(self) -> int:
        """File descriptor of its standard error."""

    @property
    def events(self) -> int:
        """File descriptor that is readable when it has ended: then call :meth:`exits`."""

    def exits(self) -> Sequence[Exit]:
        """How it ended, if it has."""

    def stop(self) -> object:
        """Tells it to end, and waits for that."""

    def mark(self) -> None:
        """Begins the measured window; what was watched before is dropped."""

    def close(self) -> tuple[Usage, LoadHostUse | None]:
        """Ends the measured window: what the generator cost in it, and what was seen of its host, if that is not this machine."""

    def stdout(self) -> str:
        """What it printed on its standard output."""


class Sampler(Protocol):
    """Watches what a program costs."""

    @property
    def current(self) -> Callable[[], Current] | None:
        """Its cost at this moment; ``None``: not known."""

    def start(self) -> None:
        """Begins to watch."""

    def mark(self) -> None:
        """Begins the measured window; what was watched before is dropped."""

    def stop(self) -> Usage:
        """Its cost since the mark."""


class ServerThere(Protocol):
    """A server that runs on another host."""

    host: str
    port: int

    def death(self) -> str | None:
        """How it ended, if it has. Raises :class:`~httpbench.errors.LostHostError` if its host is lost."""

    def log(self) -> str:
        """What it printed."""

    def sampler(self) -> Sampler:
        """What watches its CPU time and memory."""

    def stop(self, grace_s: float) -> None:
        """Tells it to end, and waits for that."""


class BackendPlace(Protocol):
    """Another host, where the backend of proxies runs."""

    def serve(
        self, fill: Callable[[str, int, int, str], tuple[tuple[str, ...], Mapping[str, str]]], folder: Path
    ) -> AbstractContextManager[ServerThere]:
        """Starts it from the files of a folder. ``fill``: command and environment for address, port, workers and scratch folder."""


class LoadPlace(Protocol):
    """Where load generators run."""

    @property
    def host(self) -> LoadHost | None:
        """The machine, as it is stored; ``None``: this one, or many."""

    @property
    def is_here(self) -> bool:
        """Whether load generators run on this machine."""

    @property
    def address(self) -> str | None:
        """Of this machine, that targets listen on so that the load reaches them; ``None``: loopback."""

    @property
    def cpus(self) -> tuple[int, ...] | None:
        """Logical CPUs of load generators there; ``None``: as the plan divides those of this machine."""

    @property
    def is_gone(self) -> bool:
        """Whether it was lost for good."""

    def native(self) -> LoadGenerator | None:
        """Our own load generator, as it is there; ``None`` if it is missing there."""

    def start(self, generator: LoadGenerator, job: Job, *, warmup: bool) -> AbstractContextManager[RunningGenerator]:
        """Starts a load generator, which is gone when the block ends. Raises :class:`~httpbench.errors.HttpbenchError`."""


class _RunningHere:
    def __init__(self, tree: ProcessTree, stdout: Path):
        self._tree, self._stdout = tree, stdout
        self._sampler: TreeSampler | None = None

    @property
    def stderr(self) -> int:
        return self._tree.stderr

    @property
    def events(self) -> int:
        return self._tree.events

    def exits(self) -> Sequence[Exit]:
        return self._tree.exits()

    def stop(self) -> object:
        return self._tree.stop()

    def mark(self) -> None:
        if self._sampler is None:
            self._sampler = TreeSampler(self._tree.guard_pid, threads_often=True)
            self._sampler.start()
        else:
            self._sampler.mark()

    def close(self) -> tuple[Usage, LoadHostUse | None]:
        assert self._sampler is not None, "a window has a begin"
        return self._sampler.stop(), None

    def stdout(self) -> str:
        return self._stdout.read_text(errors="replace")


class ThisMachine:
    """Load generators run beside the target, on cores of their own where there are enough."""

    host: LoadHost | None = None
    is_here = True
    address: str | None = None
    cpus: tuple[int, ...] | None = None
    is_gone = False

    def native(self) -> LoadGenerator | None:
        found = load.get(NATIVE)
        return found if found.locate() else None

    @contextmanager
    def start(self, generator: LoadGenerator, job: Job, *, warmup: bool) -> Iterator[RunningGenerator]:
        stdout = job.scratch / ("warmup.out" if warmup else "generator.out")
        stdout.unlink(missing_ok=True)
        with ProcessTree([Command(generator.argv(job, warmup=warmup), Path(job.scratch), {}, job.cpus)], stdout=stdout) as tree:
            yield _RunningHere(tree, stdout)


@dataclass(frozen=True)
class ManyPlaces(ThisMachine):
    """Load generators run on many hosts. The program that directs them runs here, on the cores of the harness."""

    is_here: bool
    address: str | None

    @contextmanager
    def start(self, generator: LoadGenerator, job: Job, *, warmup: bool) -> Iterator[RunningGenerator]:
        with super().start(generator, replace(job, cpus=tuple(os.sched_getaffinity(0))), warmup=warmup) as running:
            yield running


HERE: LoadPlace = ThisMachine()
