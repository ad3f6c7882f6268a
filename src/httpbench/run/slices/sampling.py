"""Profilers that are attached to a running target, and take samples during its slices."""

from __future__ import annotations

import math
import os
import select
import signal
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from httpbench.errors import ProfileError
from httpbench.isolate import Command, ProcessTree, tail
from httpbench.model import Cores
from httpbench.profile import Perf, Profilers, PySpy, ShellCommand, folded, has_frame_pointers, is_python, stacks_of
from httpbench.run.trial.running import RunningTarget

START_LIMIT_S = 20.0
"""Maximum time for a profiler to attach to a target or to follow an order, in seconds."""
END_LIMIT_S = 60.0
"""Maximum time for a profiler to write its samples, in seconds."""
READ_LIMIT_S = 600.0
"""Maximum time for perf to name the functions of its samples, in seconds."""
POLL_S = 0.01


@dataclass(frozen=True, slots=True)
class _Pipe:
    path: Path
    descriptor: int


def sampling(profilers: Profilers, running: RunningTarget, scratch: Path, cores: Cores, warn: Callable[[str], object]) -> Sampling:
    """Return the profiler for a target. It writes into the empty folder ``scratch``.

    py-spy never runs on the load generator's CPUs: when it woke up there, it would stop the load, and find the target either idle or in a
    function that takes long.
    """
    firsts, cpus = running.first_pids(), cores.harness
    if profilers.command:
        return CommandSampling(profilers.command, firsts[0], scratch, cpus)
    if all(map(is_python, firsts)):
        if isinstance(profilers.py_spy, PySpy):
            return PySpySampling(profilers.py_spy, firsts, scratch, cores.target if set(cpus) & set(cores.generator) else cpus)
        warn(f"perf doesn't see functions in Python: {profilers.py_spy}")
    assert profilers.perf is not None, "there is a command or perf"
    return PerfSampling(profilers.perf, running, scratch, cpus)


class Sampling(ABC):
    """A profiler of one target.

    As a context manager, it ends everything that it started. All methods raise :class:`ProfileError`.
    """

    def __init__(self, name: str, scratch: Path, cpus: tuple[int, ...]):
        self.name = name
        self._scratch, self._cpus = scratch, cpus
        self._log = scratch / "profiler.log"
        self._stack = ExitStack()

    @property
    def sees_kernel(self) -> bool:
        """Whether the samples include the kernel."""
        return True

    @property
    def frequency_hz(self) -> float | None:
        """Samples per second of CPU time, or ``None`` if the profiler counts time in another way."""
        return None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._stack.close()

    @abstractmethod
    def begin(self, seconds: float) -> None:
        """Begin to take samples, for a slice of about ``seconds``."""

    @abstractmethod
    def end(self) -> None:
        """End the slice."""

    @abstractmethod
    def stacks(self) -> list[dict[str, int]]:
        """Return the stacks of each slice. The target must still be running."""

    def _wait(self, tree: ProcessTree, is_ready: Callable[[], bool]) -> None:
        """Wait until a profiler has begun or ended to sample the target."""
        deadline = time.monotonic() + START_LIMIT_S
        while not is_ready():
            if tree.exits():
                raise self._failed("could not sample the target")
            if time.monotonic() > deadline:
                raise self._failed(f"did not respond within {START_LIMIT_S:g} s")
            time.sleep(POLL_S)

    def _wait_for_end(self, tree: ProcessTree, limit_s: float = END_LIMIT_S) -> None:
        """Wait until all commands have ended. Raises :class:`ProfileError` if one failed or takes longer than ``limit_s`` seconds."""
        deadline = time.monotonic() + limit_s
        while len(exits := tree.exits()) < len(tree.pids):
            if time.monotonic() > deadline:
                raise self._failed(f"did not end within {limit_s:g} s after its slices")
            time.sleep(POLL_S)
        if failed := next((each for each in exits if each.code), None):
            raise self._failed(f"failed ({failed})")

    def _started(self, commands: Sequence[tuple[str, ...]], stdout: Path) -> ProcessTree:
        """Start commands that end with this object at the latest."""
        own = [Command(argv, self._scratch, {}, self._cpus) for argv in commands]
        return self._stack.enter_context(ProcessTree(own, stdout=stdout, stderr=self._log))

    def _failed(self, what: str) -> ProfileError:
        return ProfileError(f"{self.name} {what}", log_tail=tail(self._log))


class PerfSampling(Sampling):
    """perf, started once, which samples during slices. Functions are named at the end, because some runtimes name theirs only then."""

    def __init__(self, perf: Perf, running: RunningTarget, scratch: Path, cpus: tuple[int, ...]):
        super().__init__(perf.name, scratch, cpus)
        self._perf, self._running = perf, running
        self._by_frame_pointers = any(map(has_frame_pointers, running.pids()))
        self._data = scratch / "samples"
        self._tree: ProcessTree | None = None
        self._slices: list[tuple[float, float]] = []

    @property
    def sees_kernel(self) -> bool:
        return self._perf.sees_kernel

    @property
    def frequency_hz(self) -> float:
        return self._perf.rate_hz

    def begin(self, seconds: float) -> None:
        if self._tree is None:
            self._orders, self._answers = self._pipe("orders"), self._pipe("answers")
            pids, pipes = self._running.pids(), (self._orders.path, self._answers.path)
            argv = self._perf.record(pids, self._data, *pipes, by_frame_pointers=self._by_frame_pointers)
            self._tree = self._started([argv], self._log)
        self._begin_s = time.monotonic()
        self._order("enable", self._tree)

    def end(self) -> None:
        assert self._tree is not None, "the slice has begun"
        self._order("disable", self._tree, may_have_ended=True)  # with the target
        self._slices.append((self._begin_s, time.monotonic()))

    def stacks(self) -> list[dict[str, int]]:
        if self._tree is None:
            return []
        self._tree.stop(END_LIMIT_S)
        named = self._scratch / "named"
        self._wait_for_end(self._started([self._perf.script(self._data)], named), READ_LIMIT_S)
        with named.open(errors="replace") as lines:
            return stacks_of(lines, self._slices)

    def _order(self, order: str, tree: ProcessTree, *, may_have_ended: bool = False) -> None:
        """Give perf an order, and wait until it has carried it out."""

        def is_done() -> bool:
            has_answered = bool(select.select([self._answers.descriptor], [], [], POLL_S)[0])
            if has_answered:
                os.read(self._answers.descriptor, select.PIPE_BUF)
            return has_answered or (may_have_ended and bool(tree.exits()))

        os.write(self._orders.descriptor, f"{order}\n".encode())
        self._wait(tree, is_done)

    def _pipe(self, name: str) -> _Pipe:
        """Make a named pipe, and open it for reading and writing, because opening it for one of them would wait for perf."""
        path = self._scratch / name
        os.mkfifo(path)
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        self._stack.callback(os.close, descriptor)
        return _Pipe(path, descriptor)


class PySpySampling(Sampling):
    """py-spy, once for each copy of a target and each slice."""

    def __init__(self, py_spy: PySpy, pids: Sequence[int], scratch: Path, cpus: tuple[int, ...]):
        super().__init__(py_spy.name, scratch, cpus)
        self._py_spy = py_spy
        self._outputs = {pid: scratch / f"stacks-{pid}" for pid in pids}
        self._found: list[dict[str, int]] = []

    @property
    def frequency_hz(self) -> float:
        return self._py_spy.rate_hz

    def begin(self, seconds: float) -> None:
        self._log.unlink(missing_ok=True)
        commands = [self._py_spy.argv(pid, output) for pid, output in self._outputs.items()]
        self._tree = self._started(commands, self._log)
        self._wait(self._tree, lambda: self._log.read_text(errors="replace").count(self._py_spy.is_ready) == len(commands))

    def end(self) -> None:
        ended = {end.index for end in self._tree.exits()}
        for index, pid in enumerate(self._tree.pids):
            if index not in ended:
                os.kill(pid, signal.SIGINT)
        self._wait_for_end(self._tree)
        found: Counter[str] = Counter()
        for output in self._outputs.values():
            found.update(folded(output.read_text(errors="replace"), self.name))
            output.unlink()
        self._found.append(dict(found))
        self._stack.close()

    def stacks(self) -> list[dict[str, int]]:
        return self._found


class CommandSampling(Sampling):
    """The user's command, which samples the first process of the target for a number of seconds."""

    def __init__(self, command: ShellCommand, pid: int, scratch: Path, cpus: tuple[int, ...]):
        super().__init__(command.name, scratch, cpus)
        self._command, self._pid = command, pid
        self._output = scratch / "stacks"
        self._found: list[dict[str, int]] = []

    def begin(self, seconds: float) -> None:
        self._output.unlink(missing_ok=True)
        self._tree = self._started([self._command.argv(self._pid, math.ceil(seconds))], self._output)

    def end(self) -> None:
        self._wait_for_end(self._tree)
        self._found.append(folded(self._output.read_text(errors="replace"), self.name))
        self._stack.close()

    def stacks(self) -> list[dict[str, int]]:
        return self._found
