"""A container that runs in the foreground and is always removed.

The engine's client (such as ``docker run``) stays in the foreground, and the guard watches it. A container therefore ends like a process:
SIGTERM to the client reaches the program in the container, and the client exits with the program's exit code. httpbench then removes the
container by name. If the harness is killed, the guard removes it. If the guard is killed, too, a later run finds the container by its mark
and label.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from httpbench.errors import ContainerError, HttpbenchError, StartError
from httpbench.host.control_groups import ControlGroups, groups_of
from httpbench.isolate import engine as command_line
from httpbench.isolate import freezer, guard, limits, marks, removal
from httpbench.isolate.freezer import Freezable, Freezer
from httpbench.isolate.launch import Launch, size_text
from httpbench.isolate.tree import Command, ProcessTree, Stopped, tail
from httpbench.model import ContainerRun

CREATE_LIMIT_S = 60.0
END_LIMIT_S = 5.0  # maximum time between the end of the program in the container and the end of the engine's client
ENGINE_FAILED = (125, 126, 127)  # exit codes of the client if the program in the container never started
SETTLE_S = 0.2  # the client ends a moment after its container
POLL_S = 0.02
STATE = "{{.State.Pid}} {{.Image}} {{.State.OOMKilled}} {{.NetworkSettings.IPAddress}}"


@dataclass(frozen=True, slots=True)
class EngineFreezer:
    """A freezer that uses the engine's commands, which take about 100 ms."""

    launch: Launch
    tree: ProcessTree

    def freeze(self) -> None:
        self._ask("pause")

    def thaw(self) -> None:
        self._ask("unpause")

    def _ask(self, word: str) -> None:
        try:
            command_line.ask(self.launch.isolation.engine, word, self.launch.name)
        except ContainerError:
            if not self.tree.wait(SETTLE_S):  # if the container has ended, the engine rightly refuses to pause it
                raise


class Container(Freezable):
    """A running container. Use it as a context manager, which removes the container when the block ends.

    If we may not change the container's control group, the engine freezes the container. Freezing raises :class:`ContainerError` if the
    engine fails.
    """

    def __init__(self, launch: Launch, log: Path, timer: str | None = None):
        """Start the container with its output going to ``log``. Raises :class:`StartError` if the engine can't start it.

        ``timer`` is the timer of the engine's client (see :class:`Command`).
        """
        self.launch = launch
        self._log = log
        self._removed = False
        self._may_appear = False
        self._stopped: Stopped | None = None
        self._death: str | None = None
        self._main_pids: tuple[int, ...] = ()
        """Process ids of the container's init process and of the program that it started."""
        self.image_id = ""
        self.address: str | None = None
        """Address of the container in the engine's network, or ``None`` if the container uses the host's network."""
        name, *words = launch.labeled_command()
        argv = (command_line.program(launch.isolation.engine), *words)
        marks.mark(launch.isolation.engine, launch.name)
        client = Command(argv, Path("/"), {**command_line.environment(), **launch.passed_env}, timer=timer)
        self.tree = ProcessTree([client], stdout=log, stderr=log, last=removal.command(launch.isolation.engine, launch.name))
        try:
            self.pid = self._running_pid(name)
            self.groups = self._groups(name)
        except BaseException:
            self.close()
            raise

    def death(self) -> str | None:
        """Return how the container ended, including whether memory ran out, or ``None`` if it is still running."""
        if self._is_frozen and any(map(freezer.has_ended, self._main_pids)):
            self.thaw()  # a frozen init process can't report that its program has ended
            self.tree.wait(END_LIMIT_S)
        if self._death is None and (exits := self.tree.exits()):
            limit = size_text(self.launch.isolation.memory_bytes)
            out_of_memory = f"out of memory: the kernel killed it at its limit, --memory {limit}"
            self._death = out_of_memory if self._was_out_of_memory() else str(exits[0])
        return self._death

    def prove_limits(self) -> ContainerRun:
        """Check the container's limits, and return them with its command line. Raises :class:`LimitError` if a limit isn't in force."""
        launch = self.launch
        burned = limits.prove(launch.isolation, launch.cpuset, self.groups)
        return ContainerRun(
            command=shlex.join(launch.command()),
            engine_version=command_line.version(launch.isolation.engine),
            image_id=self.image_id,
            cpus=self.groups.cpus(),
            memory_bytes=self.groups.memory_bytes(),
            cpuset=self.groups.cpuset(),
            burned_cpus=burned,
        )

    def stop(self, grace_s: float) -> Stopped:
        """Send SIGTERM, wait for at most ``grace_s`` seconds, then remove the container. A frozen container is thawed first."""
        if self._stopped is None:
            with contextlib.suppress(HttpbenchError):  # a container that can't be thawed is killed
                self.thaw()
            stopped = self.tree.stop(grace_s)
            ignored = ("its container",) if stopped.ignored_sigterm else ()
            self._stopped = Stopped(ignored, (), self.groups.cpu_s() or 0.0, stopped.log_bytes_dropped)
            self.close()
        return self._stopped

    def close(self) -> None:
        """End and remove the container, whether or not it has started. Raises :class:`ContainerError` if the engine doesn't remove it."""
        if not self._removed:
            self._may_appear = not self.image_id and not self.tree.exits()
        with contextlib.suppress(HttpbenchError):
            self.thaw()  # with control groups version 1, not every engine can remove a frozen container
        self.tree.kill()
        if not self._removed:
            removal.remove(self.launch.isolation.engine, self.launch.name, removal.CHECKS if self._may_appear else 1)
            self._removed = True
            self.tree.release()
            marks.unmark(self.launch.name)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _has_ended(self) -> bool:
        return bool(self.tree.exits())

    def _new_freezer(self) -> Freezer:
        watching = (os.getpid(), self.tree.guard_pid, *self.tree.pids)
        self._main_pids = (self.pid, *(guard.lister()(self.pid) or [])[:1])
        return freezer.of_container(self.groups, watching) or EngineFreezer(self.launch, self.tree)

    def _running_pid(self, engine: str) -> int:
        """Wait until the container's init process is running, and return its process id."""
        deadline = time.monotonic() + CREATE_LIMIT_S
        while time.monotonic() < deadline:
            if exits := self.tree.exits():
                if exits[0].code in ENGINE_FAILED:
                    raise StartError(f"{engine} could not start the container", log_tail=tail(self._log))
                raise self._ended_at_once()
            with contextlib.suppress(ContainerError):
                pid, self.image_id, _, *address = self._state()
                self.address = address[0] if address else None
                if int(pid):
                    return int(pid)
            time.sleep(POLL_S)
        raise StartError(f"{engine} did not start the container within {CREATE_LIMIT_S:g} s", log_tail=tail(self._log))

    def _groups(self, engine: str) -> ControlGroups:
        """Return the container's control groups.

        If this machine has no process with the id that the daemon reports, either the process has ended or the daemon runs on another
        machine.
        """
        if groups := groups_of(self.pid):
            return groups
        if self.tree.wait(END_LIMIT_S):
            raise self._ended_at_once()
        raise StartError(
            f"the container's control groups cannot be read: the {engine} daemon runs on another machine",
            hint="run httpbench where the daemon runs",
        )

    def _ended_at_once(self) -> StartError:
        return StartError(f"the container ended immediately ({self.death()})", log_tail=tail(self._log))

    def _was_out_of_memory(self) -> bool:
        try:
            return self._state()[2] == "true"
        except ContainerError:
            return False

    def _state(self) -> list[str]:
        engine, name = self.launch.isolation.engine, self.launch.name
        return command_line.ask(engine, "inspect", "--type", "container", "--format", STATE, name).split()
