"""Define where load generators run: on this machine, or at another place that the caller of a run provides.

A run starts load generators only through a :class:`LoadPlace`. This package therefore depends neither on ssh nor on the code that divides a
load among several hosts.
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
"""Name of the load generator that reports its throughput while it runs."""


class RunningGenerator(Protocol):
    """A running load generator. Every method raises :class:`~httpbench.errors.LostHostError` if its host is lost."""

    @property
    def stderr(self) -> int:
        """File descriptor of the generator's standard error."""

    @property
    def events(self) -> int:
        """File descriptor that becomes readable when the generator ends. Then call :meth:`exits`."""

    def exits(self) -> Sequence[Exit]:
        """Return how the generator ended. The sequence is empty while the generator is still running."""

    def stop(self) -> object:
        """Stop the generator and wait until it has ended."""

    def order(self, line: str) -> None:
        """Write a line to the standard input of a generator that measures in slices."""

    def mark(self) -> None:
        """Begin a measured window, and drop earlier observations."""

    def close(self) -> tuple[Usage, LoadHostUse | None]:
        """End the measured window.

        Returns the generator's usage in the window and, if the generator runs on another host, observations of that host.
        """

    def stdout(self) -> str:
        """Return the generator's standard output."""


class Sampler(Protocol):
    """A sampler of a program's CPU time and memory."""

    @property
    def current(self) -> Callable[[], Current] | None:
        """Function that reads the current CPU use and memory, or ``None`` if they are unknown."""

    def start(self) -> None:
        """Start sampling."""

    def mark(self) -> None:
        """Begin the measured window, and drop earlier samples."""

    def stop(self) -> Usage:
        """Stop sampling, and return the usage since the mark."""


class ServerThere(Protocol):
    """A server that runs on another host."""

    host: str
    port: int

    def death(self) -> str | None:
        """Return how the server ended, or ``None`` while it runs. Raises :class:`~httpbench.errors.LostHostError` if its host is lost."""

    def log(self) -> str:
        """Return the server's output."""

    def sampler(self) -> Sampler:
        """Return a sampler of the server's CPU time and memory."""

    def stop(self, grace_s: float) -> None:
        """Stop the server and wait until it has ended."""


class BackendPlace(Protocol):
    """Another host, on which the backend of the proxies runs."""

    def serve(
        self, fill: Callable[[str, int, int, str], tuple[tuple[str, ...], Mapping[str, str]]], folder: Path
    ) -> AbstractContextManager[ServerThere]:
        """Start the server from the files in a folder.

        ``fill`` returns the server's command and environment, given an address, a port, a number of workers and a scratch folder.
        """


class LoadPlace(Protocol):
    """A place where load generators run."""

    @property
    def host(self) -> LoadHost | None:
        """The record of the load host that is stored with a run, or ``None`` for this machine or several hosts."""

    @property
    def is_here(self) -> bool:
        """Whether load generators run on this machine."""

    @property
    def address(self) -> str | None:
        """Address of this machine on which targets must listen so that load generators can reach them, or ``None`` for loopback."""

    @property
    def cpus(self) -> tuple[int, ...] | None:
        """Logical CPUs for load generators at this place, or ``None`` if they use the CPUs in the plan."""

    @property
    def is_gone(self) -> bool:
        """Whether the load host was lost and a new connection to it failed."""

    def native(self) -> LoadGenerator | None:
        """Return our own load generator at this place, or ``None`` if it is missing there."""

    def start(self, generator: LoadGenerator, job: Job, *, warmup: bool) -> AbstractContextManager[RunningGenerator]:
        """Start a load generator. If it is still running when the block ends, stop it.

        Raises :class:`~httpbench.errors.HttpbenchError` if the load generator can't be started.
        """


class RunningHere:
    """A load generator on this machine. ``orders`` is the file descriptor of its standard input if it measures in slices."""

    def __init__(self, tree: ProcessTree, stdout: Path, orders: int | None = None):
        self._tree, self._stdout, self._orders = tree, stdout, orders
        self.stderr, self.events, self.exits, self.stop = tree.stderr, tree.events, tree.exits, tree.stop
        self._sampler: TreeSampler | None = None

    def order(self, line: str) -> None:
        assert self._orders is not None, "it was started for slices"
        os.write(self._orders, f"{line}\n".encode())

    def mark(self) -> None:
        if self._sampler is None:
            self._sampler = TreeSampler(self._tree.guard_pid, threads_often=True)
            self._sampler.start()
        else:
            self._sampler.mark()

    def close(self) -> tuple[Usage, LoadHostUse | None]:
        assert self._sampler is not None, "a window has a beginning"
        sampler, self._sampler = self._sampler, None  # the next window gets a new sampler
        return sampler.stop(), None

    def stdout(self) -> str:
        return self._stdout.read_text(errors="replace")


class ThisMachine:
    """The target's own machine as the place of load generators. They get separate cores if there are enough."""

    host: LoadHost | None = None
    is_here = True
    address: str | None = None
    cpus: tuple[int, ...] | None = None
    is_gone = False

    def native(self) -> LoadGenerator | None:
        found = load.get(NATIVE)
        return found if found.locate() else None

    @contextmanager
    def start(self, generator: LoadGenerator, job: Job, *, warmup: bool) -> Iterator[RunningHere]:
        stdout = job.scratch / ("warmup.out" if warmup else "generator.out")
        stdout.unlink(missing_ok=True)
        with _orders(job) as (pipe, orders):
            command = Command(generator.argv(job, warmup=warmup), Path(job.scratch), {}, job.cpus, pipe)
            with ProcessTree([command], stdout=stdout) as tree:
                yield RunningHere(tree, stdout, orders)


@contextmanager
def _orders(job: Job) -> Iterator[tuple[Path | None, int | None]]:
    """Make a named pipe for sending orders to a load generator that measures in slices, and open it for writing."""
    if not job.in_slices:
        yield None, None
        return
    pipe = job.scratch / "orders"
    os.mkfifo(pipe)
    descriptor = os.open(pipe, os.O_RDWR | os.O_CLOEXEC)  # with O_WRONLY, opening would wait for a reader
    try:
        yield pipe, descriptor
    finally:
        os.close(descriptor)
        pipe.unlink()


@dataclass(frozen=True)
class ManyPlaces(ThisMachine):
    """Many hosts as the places of load generators. A program on this machine directs them, and runs on the harness's cores."""

    is_here: bool
    address: str | None

    @contextmanager
    def start(self, generator: LoadGenerator, job: Job, *, warmup: bool) -> Iterator[RunningHere]:
        with super().start(generator, replace(job, cpus=tuple(os.sched_getaffinity(0))), warmup=warmup) as running:
            yield running


HERE = ThisMachine()
