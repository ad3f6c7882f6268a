"""Freeze the processes of targets while another target is measured.

The first choice is the freezer of a control group. A single write to a file freezes all processes of the group, including processes that
are being forked and processes of other users. Their parents and signal handlers don't notice it. If this user may not change the group,
httpbench sends SIGSTOP to every process and later SIGCONT. These signals require no special rights, but the processes' parents get SIGCHLD.
With both methods, an interrupted ``epoll_wait`` fails with EINTR after the thaw.

With version 1 of control groups, httpbench uses the freezer only for containers, which the engine has already put into a group. It doesn't
put other programs into a group, because SIGKILL doesn't end a process in a frozen group of version 1.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from httpbench.errors import FreezeError
from httpbench.host.control_groups import ControlGroups, groups_of
from httpbench.host.kernel_files import read_text
from httpbench.isolate import guard

LIMIT_S = 2.0  # a program stops only once it gets the CPU, which can take a fifth of a second on an overloaded machine
POLL_S = 0.0002
HELD_S = 0.01
"""Time, in seconds, after which a process counts as stopped although some of its threads wait in the kernel (state D).

A thread in ``vfork``, for example, waits for a child that is stopped. The process can't run program code, because SIGSTOP takes effect
before such a thread returns to the program.
"""
ENDED = frozenset((b"Z", b"X"))
STOPPED = ENDED | {b"T", b"t"}
HELD = STOPPED | {b"D"}
THREADS_FIELD = 17  # index among the fields after the name; field 20 in proc_pid_stat(5)


class Freezer(Protocol):
    """A way to freeze processes."""

    def freeze(self) -> None:
        """Freeze the processes, and wait until none of them is running.

        If a process is still running after ``LIMIT_S`` seconds, thaws all processes and raises :class:`FreezeError`.
        """

    def thaw(self) -> None:
        """Resume the processes."""


@dataclass(frozen=True, slots=True)
class GroupFreezer:
    """The freezer of a control group."""

    file: Path
    """``cgroup.freeze`` (version 2) or ``freezer.state`` (version 1)."""

    def freeze(self) -> None:
        deadline = time.monotonic() + LIMIT_S
        try:
            self._write(freeze=True)
            while not self._is_frozen():
                if time.monotonic() > deadline:
                    raise FreezeError(f"a process did not freeze within {LIMIT_S:g} s: it waits in the kernel")
                time.sleep(POLL_S)
        except BaseException:
            self.thaw()
            raise

    def thaw(self) -> None:
        if self.file.exists():  # if the file is gone, the processes are gone, too
            self._write(freeze=False)

    def _write(self, *, freeze: bool) -> None:
        words = ("0", "1") if self.file.name == "cgroup.freeze" else ("THAWED", "FROZEN")
        try:
            self.file.write_text(words[freeze])
        except OSError as error:
            raise FreezeError(f"{self.file} cannot be written: {error.strerror}") from None

    def _is_frozen(self) -> bool:
        if self.file.name == "cgroup.freeze":
            return "frozen 1" in (read_text(self.file.with_name("cgroup.events")) or "frozen 1").splitlines()
        return read_text(self.file) in ("FROZEN", None)


@dataclass(slots=True)
class SignalFreezer:
    """A freezer that sends SIGSTOP and SIGCONT to every process below a root.

    Parents are stopped before their children and continued after them. A parent that waits with WUNTRACED therefore never sees a stopped
    child.
    """

    root_pid: int
    """Process id of the root, which isn't stopped itself."""
    _stopped: dict[int, None] = field(default_factory=dict)
    """The processes to which this freezer sent SIGSTOP, in order. Processes that were already stopped aren't included or continued."""
    _proved: set[int] = field(default_factory=set)
    """The processes that have been found stopped. None of their threads can run program code."""
    _held_since: dict[int, float] = field(default_factory=dict)

    def freeze(self) -> None:
        deadline = time.monotonic() + LIMIT_S
        proved: set[int] | None = None
        try:
            while True:
                found, running = self._scan()
                # A stopped process can't fork. If two scans in a row find the same processes and all of them are stopped, none can run.
                if not running and found == proved:
                    return
                proved = None if running else found
                if time.monotonic() > deadline:
                    name = guard.name_of(running[0]) if running else "a process"
                    raise FreezeError(f"{name} did not stop within {LIMIT_S:g} s after SIGSTOP")
                if running:
                    time.sleep(POLL_S)
        except BaseException:
            self.thaw()
            raise

    def thaw(self) -> None:
        for pid in reversed(self._stopped):
            guard.send_signal(pid, signal.SIGCONT)
        self._stopped.clear()
        self._proved.clear()
        self._held_since.clear()

    def _scan(self) -> tuple[set[int], list[int]]:
        """Send SIGSTOP to every process that hasn't received it. Return all processes, and those that were still running when checked."""
        children = guard.lister()
        found: dict[int, None] = dict.fromkeys(children(self.root_pid) or ())
        pending, running = list(found), []
        while pending:
            level, pending = pending, []
            for pid in level:
                if pid not in self._proved and not self._is_stopped(pid):
                    running.append(pid)
                    self._stop(pid)
                below = [child for child in children(pid) or () if child not in found]
                found.update(dict.fromkeys(below))
                pending += below
        return set(found), running

    def _stop(self, pid: int) -> None:
        if pid in self._stopped:
            return
        self._stopped[pid] = None  # recorded first, so that the process is continued even if Ctrl-C arrives before the signal
        try:
            os.kill(pid, signal.SIGSTOP)
        except ProcessLookupError:
            del self._stopped[pid]
        except PermissionError:
            del self._stopped[pid]
            raise FreezeError(f"{guard.name_of(pid)} belongs to another user, so this user may not stop it") from None

    def _is_stopped(self, pid: int) -> bool:
        """Return whether no thread of the process can run program code. A process that is gone counts as stopped."""
        states = _states(pid)
        if not states <= STOPPED:
            if not states <= HELD or pid not in self._stopped:
                self._held_since.pop(pid, None)
                return False
            if time.monotonic() - self._held_since.setdefault(pid, time.monotonic()) < HELD_S:
                return False
        self._proved.add(pid)
        return True


class Freezable(ABC):
    """A program that can be frozen, with all its processes."""

    _freezer: Freezer | None = None
    _is_frozen = False

    def freeze(self) -> None:
        """Freeze all processes of the program, so that none can run until :meth:`thaw`.

        Does nothing if the program is already frozen or has ended. If a process can't be frozen within two seconds, thaws all processes and
        raises :class:`FreezeError`.
        """
        if self._is_frozen or self._has_ended():
            return
        self._freezer = self._freezer or self._new_freezer()
        self._is_frozen = True
        try:
            self._freezer.freeze()
        except BaseException:
            self._is_frozen = False
            raise

    def thaw(self) -> None:
        """Resume all processes of the program. Does nothing if the program isn't frozen."""
        if self._is_frozen and self._freezer is not None:
            self._freezer.thaw()
            self._is_frozen = False

    @abstractmethod
    def death(self) -> str | None:
        """Return how the program ended, or ``None`` if it is still running."""

    @abstractmethod
    def _has_ended(self) -> bool: ...

    @abstractmethod
    def _new_freezer(self) -> Freezer: ...


def _states(pid: int) -> set[bytes]:
    """Return the states of all threads of a process, as in ``/proc/PID/stat``. The set is empty if the process is gone."""
    first = _fields(pid, pid)
    if first is None or first[THREADS_FIELD] in (b"0", b"1"):  # a zombie has no threads
        return set() if first is None else {first[0]}
    try:
        tasks = [task.name for task in Path(f"/proc/{pid}/task").iterdir()]
    except OSError:
        return set()
    return {fields[0] for task in tasks if (fields := _fields(pid, task))}


def _fields(pid: int, task: int | str) -> list[bytes] | None:
    """Return the fields of a thread's ``stat`` after its name, or ``None`` if the thread is gone."""
    try:
        file = os.open(f"/proc/{pid}/task/{task}/stat", os.O_RDONLY)  # a file object would take a fifth longer to open
    except OSError:
        return None
    try:
        stat = os.read(file, 1024)
    except OSError:
        return None
    finally:
        os.close(file)
    return stat[stat.rindex(b")") + 2 :].split(None, THREADS_FIELD + 1)  # the name may contain spaces and parentheses


def has_ended(pid: int) -> bool:
    """Return whether a process has ended, or will end once it is thawed because a SIGKILL is pending."""
    if _states(pid) <= ENDED:
        return True
    status = dict(line.split(":", 1) for line in (read_text(Path(f"/proc/{pid}/status")) or "").splitlines())
    pending = int(status.get("SigPnd", "0"), 16) | int(status.get("ShdPnd", "0"), 16)
    return bool(pending >> (signal.SIGKILL - 1) & 1)


def of_container(groups: ControlGroups, others: Iterable[int]) -> Freezer | None:
    """Return the freezer of a container's group.

    Returns ``None`` if this user may not change the group, or if freezing it would also freeze a process of ``others``.
    """
    file = groups.freezer()
    if file is None or any(found is None or groups.freezes(found) for found in map(groups_of, others)):
        return None
    return GroupFreezer(file)


def thaw_container(pid: int, container_id: str) -> None:
    """Thaw a container that a killed harness may have left frozen. Does nothing if ``pid`` isn't a process of this container."""
    groups = groups_of(pid) if pid else None
    file = groups.freezer() if groups else None
    if file and container_id in file.parent.name:
        with contextlib.suppress(FreezeError):  # if this fails, the engine will report that it can't remove the container
            GroupFreezer(file).thaw()


def of_tree(guard_pid: int, group: str | None, commands: Iterable[int]) -> Freezer:
    """Return the freezer for the processes under a guard process. ``commands`` are the ids of the guard's running commands."""
    if group is not None and os.access(file := Path(group) / "cgroup.freeze", os.W_OK) and set(commands) <= set(guard.members(group)):
        return GroupFreezer(file)
    return SignalFreezer(guard_pid)
