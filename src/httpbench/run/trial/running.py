"""A target that has responded correctly, until it is stopped."""

from __future__ import annotations

import time
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path

from httpbench import http
from httpbench.errors import StartError, TargetDiedError
from httpbench.http.server import Server
from httpbench.isolate import Container, Exit, ProcessTree, Stopped, accepts, tail
from httpbench.model import ContainerRun, SampledResponse, Usage, Workload
from httpbench.run.load.place import Sampler, ServerThere
from httpbench.run.trial.startup import Started
from httpbench.sample import TreeSampler
from httpbench.sample.tree import descendants

STOP_GRACE_S = 2.0
RELEASE_LIMIT_S = 2.0  # the kernel closes the sockets of an io_uring some time after the process ends


@dataclass(frozen=True, slots=True)
class RunningTarget:
    """A target that has responded correctly."""

    program: ProcessTree | Container | None
    """The target's processes, or ``None`` if the target was already running or runs on another host."""
    host: str
    port: int
    response: SampledResponse
    log: Path
    contained: ContainerRun | None = None
    """Record of the target's container and of the limits in force."""
    there: ServerThere | None = None
    """Server on another host, or ``None`` if the target runs on this machine."""
    argv: tuple[str, ...] = ()
    """Command line, which is empty if the target was already running or runs in a container."""
    copies: int = 1
    """Number of processes with this command line."""
    transport: http.Transport = http.PLAIN
    """How requests reach the target."""
    started: Started | None = None
    """How the target started, or ``None`` if start-up isn't measured."""
    is_shared: bool = False
    """Whether several trials share this target. A shared target is neither frozen between turns nor stopped at the end of a trial."""

    def url(self, path: str) -> str:
        name = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.transport.scheme}://{name}:{self.port}{path}"

    def server(self, workload: Workload) -> Server:
        """Return the target as a server that responds to a workload."""
        return Server(self.host, self.port, workload, transport=self.transport)

    def death(self) -> str | None:
        """Return how the target ended, or ``None`` while it runs."""
        running = self.there or self.program
        return running.death() if running else None

    def require_alive(self, when: str) -> None:
        """Raise :class:`~httpbench.errors.TargetDiedError` if the target has ended."""
        if (death := self.death()) is not None:
            exits = self.program.exits() if isinstance(self.program, ProcessTree) else []
            raise TargetDiedError(f"the target died {when} ({death})", hint=exit_hint(exits[0]) if exits else None)

    def sampler(self, cpus: Collection[int] = ()) -> Sampler | None:
        """Return a sampler of the target's CPU time and memory, or ``None`` if the harness didn't start the target.

        On this machine, it also samples the time that the hypervisor takes from ``cpus``.
        """
        if self.there is not None:
            return self.there.sampler()
        return sampler_of(self.program, cpus) if self.program else None

    def first_pids(self) -> list[int]:
        """Return the process ids of the target's commands on this machine, or of its container's first process."""
        if isinstance(self.program, Container):
            return [self.program.pid]
        return list(self.program.pids) if self.program else []

    def pids(self) -> list[int]:
        """Return the process ids of all processes of the target on this machine."""
        if isinstance(self.program, Container):
            return [self.program.pid, *descendants(self.program.pid)]
        return descendants(self.program.guard_pid) if self.program else []

    def log_tail(self) -> str | None:
        """Return the last lines of the target's output, or ``None`` if there are none."""
        if self.there is not None:
            self.log.write_text(self.there.log())
        return tail(self.log)

    def freeze(self) -> None:
        """Suspend the target's processes until :meth:`thaw`.

        Does nothing if the target is shared, or if the harness didn't start it on this machine.
        """
        if self.program and not self.is_shared:
            self.program.freeze()

    def thaw(self) -> None:
        """Let the target's processes run again."""
        if self.program and not self.is_shared:
            self.program.thaw()

    def stop(self) -> Stopped:
        """Stop the target and prove that it is gone, unless it is shared or was already running before the trial.

        Raises :class:`~httpbench.errors.StopError` if the target can't be stopped.
        """
        if self.there is not None and not self.is_shared:
            self.there.stop(STOP_GRACE_S)
        if self.program is None or self.is_shared:
            return Stopped(ignored_sigterm=(), left_behind=(), cpu_s=0.0)
        stopped = self.program.stop(STOP_GRACE_S)
        ended = time.monotonic()
        while accepts(self.port, self.host):
            if time.monotonic() - ended > RELEASE_LIMIT_S:
                # All processes under the guard have ended, so the server has escaped from the guard, or another program shares the port.
                raise StartError(f"port {self.port} still accepts connections: a program other than the target was measured")
            time.sleep(0.01)
        return replace(stopped, port_held_s=time.monotonic() - ended)


def exit_hint(end: Exit) -> str | None:
    """Return why a target may have ended, or ``None``."""
    return "a target must stay in the foreground" if end.code == 0 else None


def usage_now(sampler: Sampler) -> Usage:
    """Return the current usage of memory. The peak values of the result are the current ones."""
    sampler.start()
    return sampler.stop()


def sampler_of(program: ProcessTree | Container, cpus: Collection[int] = ()) -> TreeSampler:
    """Return a sampler of a program's CPU time and memory, and of the time that the hypervisor takes from ``cpus``."""
    if isinstance(program, Container):
        return TreeSampler(program.pid, groups=program.groups, cpus=cpus)
    return TreeSampler(program.guard_pid, cpus=cpus)
