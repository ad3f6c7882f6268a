"""Start commands under a guard process, and stop them together with all processes that they have started.

One :class:`ProcessTree` contains one or more commands that belong together (a server with its workers, or one copy per core) and every
process that they start. :mod:`httpbench.isolate.guard` explains why no process can escape.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Self

from httpbench.errors import FreezeError, StartError, StopError
from httpbench.host import inherited, open_files
from httpbench.isolate import freezer
from httpbench.isolate.adopted import adopt_orphans, end_adopted
from httpbench.isolate.freezer import Freezable, Freezer
from httpbench.model import Reason, ReasonKind

KERNEL_COUNTERS = Path("/proc/vmstat")
GUARD = Path(__file__).with_name("guard.py")
GUARD_GONE = "the guard of a process tree was killed before the processes that it guards: out of memory, or by another program"
GUARD_START_LIMIT_S = 20.0  # an interpreter may start slowly on a busy machine
SEPARATOR = re.compile(r"\s*([-=*_~#+.─━═])\1{2,}\s*")  # a line such as -----, which would push the lines that matter out of a tail
LINE_MAX = 500  # maximum number of characters shown of a log line
GUARD_END_LIMIT_S = 10.0  # longer than the guard itself waits for killed processes
PORT_HELD_S_MAX = 0.5  # the kernel needs less time to close the sockets of a program that has ended
CRASHES = (signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGSEGV)


@dataclass(frozen=True, slots=True)
class Command:
    """A program to start.

    ``env`` is added to the variables that :mod:`~httpbench.host.inherited` passes on. ``cpus`` are the logical CPUs that the program may
    use, or empty for all. ``stdin`` is a file or named pipe for the standard input, or ``None`` for an empty input. ``timer`` is the path
    of ``httpbench-timer``, which reports when the command is executed, or ``None`` if this time isn't needed.
    """

    argv: tuple[str, ...]
    cwd: Path
    env: Mapping[str, str]
    cpus: tuple[int, ...] = ()
    stdin: Path | None = None
    timer: str | None = None


@dataclass(frozen=True, slots=True)
class Exit:
    """The end of a command: its index in the tree and its exit code, which is the negative signal number if a signal killed it."""

    index: int
    code: int
    memory_ran_out: bool = False
    """Whether the kernel killed a program for lack of memory while the command ran."""

    def __str__(self) -> str:
        if self.code >= 0:
            return f"exit code {self.code}"
        cause = ": memory ran out" if self.code == -signal.SIGKILL and self.memory_ran_out else ""
        return f"killed by signal {-self.code}{cause}"


@dataclass(frozen=True, slots=True)
class Stopped:
    """The result of stopping a tree."""

    ignored_sigterm: tuple[str, ...]
    """Commands that were still running at the end of the grace period, and were then killed."""
    left_behind: tuple[str, ...]
    """Other processes of the tree that had to be killed."""
    cpu_s: float
    """User and system time of the whole tree, from start to end, in seconds."""
    log_bytes_dropped: int = 0
    """Number of bytes removed from a log that grew too large."""
    crashes: tuple[Exit, ...] = ()
    """Commands that crashed on SIGTERM."""
    port_held_s: float = 0.0
    """Time for which the port still accepted connections after the last process had ended, in seconds."""

    @property
    def problem(self) -> Reason | None:
        """A problem that occurred while the tree was stopped, or ``None``."""
        if self.crashes:
            return Reason.of(ReasonKind.CRASHED_ON_SIGTERM, exit=str(self.crashes[0]))
        if self.ignored_sigterm:
            return Reason.of(ReasonKind.IGNORED_SIGTERM, killed=list(self.ignored_sigterm))
        if self.left_behind:
            return Reason.of(ReasonKind.LEFT_PROCESSES, killed=list(self.left_behind))
        if self.port_held_s > PORT_HELD_S_MAX:
            return Reason.of(ReasonKind.HELD_PORT, held_s=self.port_held_s)
        return None


class ProcessTree(Freezable):
    """Running commands and all processes that they start. Use it as a context manager, which ends them when the block ends."""

    _keepers: ClassVar[set[int]] = set()
    """Process ids of the keepers of all running trees."""

    def __init__(
        self,
        commands: Sequence[Command],
        *,
        stdout: Path,
        stderr: Path | None = None,
        orphan_grace_s: float = 0.0,
        last: Command | None = None,
    ):
        """Start the commands, and append their output to the files.

        If ``stderr`` is ``None``, standard error goes to a pipe, which the attribute :attr:`stderr` identifies. If this process is killed,
        the guard sends SIGTERM to the commands, kills them after ``orphan_grace_s`` seconds, and runs ``last``, without output. A tree with
        ``last`` must be released (:meth:`release`).

        Raises :class:`StartError` if a command can't be executed.
        """
        self._exits: list[Exit] = []
        self._pending = b""
        self._stopped: Stopped | None = None
        self._guard_pid: int | None = None
        self._needs_release = last is not None
        self._is_killed = False
        self._out_of_memory_before = out_of_memory_kills()
        adopt_orphans()
        self._guard = subprocess.Popen(  # the new process is the keeper, and its child is the guard
            [sys.executable, "-I", "-S", str(GUARD)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE if stderr is None else subprocess.DEVNULL,
            start_new_session=True,
        )
        self._keepers.add(self._guard.pid)
        spec: dict[str, Any] = {
            "commands": [_described(command) for command in commands],
            "orphan_grace_s": orphan_grace_s,
            "last": None if last is None else _described(last),
            "stdout": str(stdout),
            "stderr": None if stderr is None else str(stderr),
            "open_files": open_files.limit_of_programs(),
        }
        try:
            self._send(spec)
            event = self._next_event(GUARD_START_LIMIT_S)
            if event is None or event["event"] != "started":
                reason = event["reason"] if event else "its guard did not start"
                raise StartError(f"cannot start {commands[0].argv[0]}: {reason}")
        except BaseException:
            self.kill()
            raise
        self._guard_pid = int(event["guard"])
        self._group: str | None = event["group"]
        self.pids: tuple[int, ...] = tuple(event["pids"])
        self.executed_ns: tuple[int | None, ...] = tuple(event["executed_ns"])
        """Time at which each command was executed, in nanoseconds of the monotonic clock. ``None`` for a command without a timer."""

    @property
    def guard_pid(self) -> int:
        """Process id of the guard, the parent of all commands. The guard itself isn't measured."""
        assert self._guard_pid is not None
        return self._guard_pid

    @property
    def stderr(self) -> int:
        """File descriptor of the pipe with the commands' standard error. Use it only if the tree wasn't given a file for standard error."""
        assert self._guard.stderr is not None
        return self._guard.stderr.fileno()

    @property
    def events(self) -> int:
        """File descriptor that becomes readable when a command has ended. Then call :meth:`exits`."""
        assert self._guard.stdout is not None
        return self._guard.stdout.fileno()

    def exits(self) -> list[Exit]:
        """Return the exits of the commands that have ended so far."""
        while self._stopped is None and (event := self._next_event(0)) is not None:
            self._note(event)
        return self._exits

    def wait(self, timeout_s: float) -> Exit | None:
        """Wait until the first command ends. Return ``None`` on a timeout."""
        deadline = time.monotonic() + timeout_s
        while not self._exits:
            event = self._next_event(deadline - time.monotonic())
            if event is None:
                return None
            self._note(event)
        return self._exits[0]

    def death(self) -> str | None:
        exits = self.exits()
        return str(exits[0]) if exits else None

    def stop(self, grace_s: float = 2.0) -> Stopped:
        """Send SIGTERM, wait for at most ``grace_s`` seconds, then send SIGKILL. Raises :class:`StopError` if a process survives SIGKILL.

        A frozen tree is thawed first, so that its programs receive the SIGTERM.
        """
        if self._stopped is not None:
            return self._stopped
        immortal: list[str] = []
        try:
            ended_before = len(self.exits())
            with contextlib.suppress(FreezeError):  # processes that can't be thawed are killed
                self.thaw()
            self._continue()
            self._send({"stop": grace_s})
            deadline = time.monotonic() + grace_s + GUARD_START_LIMIT_S
            while self._stopped is None:
                event = self._next_event(deadline - time.monotonic())
                if event is None:
                    raise StopError("the guard of a process tree does not end its processes")
                immortal = event.get("immortal", [])
                self._note(event)
        finally:
            self.kill()
        if immortal:
            raise StopError(f"SIGKILL did not end {', '.join(immortal)}")
        crashes = tuple(end for end in self._exits[ended_before:] if -end.code in CRASHES)
        self._stopped = replace(self._stopped, crashes=crashes)
        return self._stopped

    def kill(self) -> None:
        """Kill everything at once."""
        if self._needs_release and (self._stopped or self._is_killed):
            return  # the guard waits for the release
        with contextlib.suppress(StopError, ValueError):  # the guard has ended, or this isn't the first call
            self._send({"kill": True})
            if self._needs_release and self._guard_pid is not None:
                self._continue()
                self._is_killed = self._is_reported("killed")
                if self._is_killed:
                    return
        self._end()

    def release(self) -> None:
        """End the guard without running ``last``, because the caller has cleaned up by itself. Everything must have been killed before."""
        with contextlib.suppress(StopError, ValueError):
            self._send({"done": True})
        self._end()

    def _is_reported(self, event: str) -> bool:
        """Wait for the guard to report an event. Return ``False`` if it takes too long."""
        deadline = time.monotonic() + GUARD_END_LIMIT_S
        while (found := self._next_event(deadline - time.monotonic())) is not None:
            if found["event"] == event:
                return True
            self._note(found)
        return False

    def _end(self) -> None:
        """End the guard by closing its standard input, and kill it if it is stuck."""
        for pipe in (self._guard.stdin, self._guard.stdout, self._guard.stderr):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):  # closing flushes unsent data, which fails if the guard has ended
                    pipe.close()
        self._continue()
        for pid in (self._guard_pid, self._guard.pid):  # kill a stuck guard first, because its keeper then kills the rest
            try:
                self._guard.wait(GUARD_END_LIMIT_S)
            except subprocess.TimeoutExpired:
                if pid is not None:
                    os.kill(pid, signal.SIGKILL)
        self._keepers.discard(self._guard.pid)
        if self._guard.wait() < 0:  # the keeper was killed, and perhaps the guard too
            end_adopted(self._keepers, self._guard_pid)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def _has_ended(self) -> bool:
        return self._stopped is not None

    def _new_freezer(self) -> Freezer:
        ended = {end.index for end in self.exits()}
        running = [pid for index, pid in enumerate(self.pids) if index not in ended]
        return freezer.of_tree(self.guard_pid, self._group, running)

    def _continue(self) -> None:
        """Send SIGCONT to the guard and its keeper, in case they were stopped."""
        if self._guard.poll() is None:
            os.killpg(self._guard.pid, signal.SIGCONT)

    def _send(self, message: Mapping[str, Any]) -> None:
        assert self._guard.stdin is not None
        try:
            self._guard.stdin.write(json.dumps(message).encode() + b"\n")
            self._guard.stdin.flush()
        except BrokenPipeError:
            raise StopError(GUARD_GONE) from None

    def _note(self, event: dict[str, Any]) -> None:
        if event["event"] == "exited":
            ran_out = out_of_memory_kills() > self._out_of_memory_before
            self._exits.append(Exit(event["index"], event["code"], ran_out))
        elif event["event"] == "stopped":
            self._stopped = Stopped(
                tuple(event["ignored_sigterm"]), tuple(event["left_behind"]), event["cpu_s"], event["log_bytes_dropped"]
            )

    def _next_event(self, timeout_s: float) -> dict[str, Any] | None:
        """Return the next event, or ``None`` if none comes in time. Raises :class:`StopError` if the guard has ended."""
        deadline = time.monotonic() + max(timeout_s, 0)
        while b"\n" not in self._pending:
            ready, _, _ = select.select([self.events], [], [], max(deadline - time.monotonic(), 0))
            if not ready:
                return None
            data = os.read(self.events, 65_536)
            if not data:
                raise StopError(GUARD_GONE)
            self._pending += data
        line, self._pending = self._pending.split(b"\n", 1)
        event: dict[str, Any] = json.loads(line)
        return event


def _described(command: Command) -> dict[str, Any]:
    """Return a command as the guard reads it."""
    return {
        "argv": command.argv,
        "cwd": str(command.cwd),
        "env": {**inherited.for_targets(), **command.env},
        "cpus": command.cpus,
        "stdin": None if command.stdin is None else str(command.stdin),
        "timer": command.timer,
    }


def out_of_memory_kills() -> int:
    """Return how many programs the kernel killed for lack of memory since boot, or 0 if the kernel doesn't count them.

    Kills within control groups are included.
    """
    try:
        counters = dict(line.split() for line in KERNEL_COUNTERS.read_text().splitlines())
    except (OSError, ValueError):
        return 0
    return int(counters.get("oom_kill", 0))


def tail(log: Path, lines: int = 15, limit_bytes: int = 8192) -> str | None:
    """Return the last lines of a log without separators, each cut to a readable length, or ``None`` if the log is empty or missing."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - limit_bytes))
            text = file.read().decode(errors="replace").strip()
    except OSError:
        return None
    said = [line for line in text.splitlines() if not SEPARATOR.fullmatch(line)]
    shown = [line if len(line) <= LINE_MAX else line[:LINE_MAX] + "…" for line in said[-lines:]]
    return "\n".join(shown) or None
