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
from httpbench.host.commands import capture
from httpbench.isolate import Command, ProcessTree, tail
from httpbench.model import Cores
from httpbench.profile import Perf, Profilers, PySpy, ShellCommand, folded, has_frame_pointers, is_python, stacks_of
from httpbench.run.trial.running import RunningTarget

START_LIMIT_S = 20.0
"""Maximum time for a profiler to attach to a target, in seconds."""
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
    """A profiler of one target, which is started anew for each slice.

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
        """Wait until a profiler samples the target."""
        deadline = time.monotonic() + START_LIMIT_S
        while not is_ready():
            if tree.exits():
                raise self._failed("could not sample the target")
            if time.monotonic() > deadline:
                raise self._failed(f"did not attach within {START_LIMIT_S:g} s")
            time.sleep(POLL_S)

    def _wait_for_end(self, tree: ProcessTree) -> None:
        """Wait until all commands have ended. Raises :class:`ProfileError` if one failed or takes too long."""
        deadline = time.monotonic() + END_LIMIT_S
        while len(exits := tree.exits()) < len(tree.pids):
            if time.monotonic() > deadline:
                raise self._failed(f"did not end within {END_LIMIT_S:g} s after its slice")
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
    """perf. Functions are named at the end, because some runtimes name theirs only then."""

    def __init__(self, perf: Perf, running: RunningTarget, scratch: Path, cpus: tuple[int, ...]):
        super().__init__(perf.name, scratch, cpus)
        self._perf, self._running = perf, running
        self._by_frame_pointers = any(map(has_frame_pointers, running.pids()))
        self._recorded: list[Path] = []

    @property
    def sees_kernel(self) -> bool:
        return self._perf.sees_kernel

    @property
    def frequency_hz(self) -> float:
        return self._perf.rate_hz

    def begin(self, seconds: float) -> None:
        pids, data = self._running.pids(), self._scratch / f"slice-{len(self._recorded)}"
        orders, answers = (self._pipe(data.with_suffix(suffix)) for suffix in (".orders", ".answers"))
        argv = self._perf.record(pids, data, orders.path, answers.path, by_frame_pointers=self._by_frame_pointers)
        tree = self._tree = self._started([argv], self._log)
        os.write(orders.descriptor, b"enable\n")
        self._wait(tree, lambda: bool(select.select([answers.descriptor], [], [], POLL_S)[0]))
        self._recorded.append(data)

    def end(self) -> None:
        self._tree.stop(END_LIMIT_S)
        self._stack.close()

    def stacks(self) -> list[dict[str, int]]:
        return list(map(self._read, self._recorded))

    def _read(self, data: Path) -> dict[str, int]:
        read = capture(self._perf.script(data), READ_LIMIT_S)
        if read is None or read.returncode != 0:
            raise ProfileError("perf cannot read its own samples", log_tail=read.stderr.strip() if read else tail(self._log))
        return stacks_of(read.stdout.splitlines())

    def _pipe(self, path: Path) -> _Pipe:
        """Make a named pipe, and open it for reading and writing, because opening it for one of them would wait for perf."""
        os.mkfifo(path)
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        self._stack.callback(os.close, descriptor)
        return _Pipe(path, descriptor)


class PySpySampling(Sampling):
    """py-spy, once for each copy of a target."""

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
