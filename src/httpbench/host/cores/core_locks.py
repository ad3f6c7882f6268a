"""Allow one run at a time on each physical core. Every core has a lock file in a folder that all users share.

The kernel holds the locks (flock(2)) and frees them when the owning process ends, however it ends. The files remain, but an unlocked file
has no effect. Each file contains the process id of the last run that locked it. A run that finds the core locked reports this id.

Runs on different cores don't conflict. Runs in containers with their own ``/run/lock`` or ``/tmp`` don't detect each other unless
``HTTPBENCH_LOCKS`` names a folder that they share. Runs that don't detect each other count as other programs, so their trials can get the
verdict ``disturbed``.
"""

from __future__ import annotations

import fcntl
import os
import stat
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from httpbench.errors import CoresInUseError
from httpbench.host.cores.topology import Topology
from httpbench.paths import open_unlinked

VARIABLE = "HTTPBENCH_LOCKS"
"""Environment variable that names the folder of the locks."""
PREFERRED, OTHERWISE = Path("/run/lock"), Path("/tmp")
SHARED_MODE = stat.S_ISVTX | stat.S_IWOTH
POLL_S = 0.5
WAIT_MAX_S = 24 * 3600.0
OWNER_BYTES = 64


@contextmanager
def only_run_on(
    cpus: Collection[int], topology: Topology, *, waits: bool, say: Callable[[str], None], lasts_s: float | None = None
) -> Iterator[None]:
    """Lock the physical cores of these logical CPUs against other runs until the block ends.

    ``lasts_s`` is the expected duration of the block, in seconds. Runs that wait for it report when it will end.

    If another run holds one of the locks, report that and wait until it ends. If ``waits`` is false, or after waiting for a day, raise
    :class:`CoresInUseError`. If locking is impossible, report that and continue.
    """
    with ExitStack() as held:
        try:
            held.enter_context(_locked(_numbers(cpus, topology), folder_of_locks(), waits=waits, say=say, lasts_s=lasts_s))
        except OSError as error:
            say(f"can't detect other runs on the same cores: {error.filename or folder_of_locks()}: {error.strerror}")
        yield


def folder_of_locks() -> Path:
    """Return the path of the lock folder, which is the same for all users of this machine."""
    if named := os.environ.get(VARIABLE):
        return Path(named)
    try:
        mode = PREFERRED.stat().st_mode
    except OSError:
        return OTHERWISE
    return PREFERRED if mode & SHARED_MODE == SHARED_MODE else OTHERWISE


def _numbers(cpus: Collection[int], topology: Topology) -> list[int]:
    """Return the number of each physical core, which is that of its lowest logical CPU, even if we may not use that CPU."""
    return sorted({min(core.siblings) for core in topology.cores if set(core.cpus) & set(cpus)})


def _locked(numbers: Collection[int], folder: Path, *, waits: bool, say: Callable[[str], None], lasts_s: float | None) -> ExitStack:
    """Take all locks, and return a stack that releases them. If ``waits`` is true, wait for locks that another run holds."""
    deadline, said = time.monotonic() + WAIT_MAX_S, ""
    while isinstance(owner := _try(numbers, folder, lasts_s), _Owner):
        if not waits or time.monotonic() > deadline:
            raise CoresInUseError(f"{owner.name} is measuring on the same cores", hint="without --no-wait, httpbench waits until it ends")
        if owner.name != said:
            when = f", expected at {time.strftime('%H:%M:%S', time.localtime(owner.end_s))}" if owner.end_s else ""
            say(f"waiting until {owner.name} ends{when}: it is measuring on the same cores; with --no-wait, httpbench would exit instead")
            said = owner.name
        time.sleep(POLL_S)
    return owner


@dataclass(frozen=True, slots=True)
class _Owner:
    """The run that holds a lock."""

    name: str
    end_s: float | None = None
    """Expected end in seconds since the epoch, or ``None`` if it is unknown."""


def _try(numbers: Collection[int], folder: Path, lasts_s: float | None) -> ExitStack | _Owner:
    """Try to take all locks. Return a stack that releases them or, if another run holds a lock, that run."""
    descriptors = []
    with ExitStack() as held:
        for number in numbers:
            descriptor = _opened(folder / f"httpbench-core-{number}.lock")
            held.callback(os.close, descriptor)
            descriptors.append(descriptor)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return _owner(descriptor)
        end = "" if lasts_s is None else f" {time.time() + lasts_s:.0f}"
        for descriptor in descriptors:
            with suppress(OSError):  # the disk might be full, but the lock works anyway
                os.truncate(descriptor, 0)
                os.pwrite(descriptor, f"{os.getpid()} {_process_ids()}{end}\n".encode(), 0)
        return held.pop_all()


def _opened(path: Path) -> int:
    """Open a lock file, or create it if it is missing. The file may belong to any user, because all users share it.

    In a world-writable folder, the kernel may refuse to open another user's file with ``O_CREAT``, so this flag is used only if the file
    is missing.
    """
    try:
        return open_unlinked(path, os.O_RDWR, of_any_user=True)
    except FileNotFoundError:
        try:
            descriptor = open_unlinked(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666, of_any_user=True)
        except FileExistsError:  # another run has just created the file
            return open_unlinked(path, os.O_RDWR, of_any_user=True)
    os.fchmod(descriptor, 0o666)
    return descriptor


def _owner(descriptor: int) -> _Owner:
    """Return the owner of a lock, as recorded in the lock file: a process id, a PID namespace and, if it is known, the expected end."""
    try:
        pid, process_ids, *end = os.pread(descriptor, OWNER_BYTES, 0).decode("ascii").split()
        number, end_s = int(pid), float(end[0]) if end else None
    except (OSError, ValueError):
        return _Owner("another httpbench run")
    where = "" if process_ids == _process_ids() else " in another container"
    return _Owner(f"the httpbench run with process id {number}{where}", end_s)


def _process_ids() -> str:
    """Return the PID namespace of this process."""
    try:
        return os.readlink("/proc/self/ns/pid")  # noqa: PTH115  (it is not a path)
    except OSError:
        return "unknown"
