"""Check whether the process that created a run or container still exists.

The boot id, the process id and the start in clock ticks since boot identify a process. A start time of the wall clock wouldn't be reliable,
because the clock can be adjusted. If the kernel hides a process, it counts as alive.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import NamedTuple

from httpbench.host.kernel_files import read_text

MACHINE_ID = Path("/etc/machine-id")
BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
START_FIELD = 19  # index among the fields after the name; field 22 in proc_pid_stat(5)


class Owner(NamedTuple):
    """The identity of a process, unique even if its process id is reused later."""

    boot_id: str
    pid: int
    start_ticks: int
    """Clock ticks from boot to the start of the process."""


def machine_id() -> str:
    """Return an id of this machine that stays the same after a reboot.

    It is a hash, because the id in the file is confidential (machine-id(5)).
    """
    return hashlib.sha256(f"{read_text(MACHINE_ID)} {os.uname().nodename}".encode()).hexdigest()[:16]


def this_process() -> Owner:
    """Return the identity of this process, which owns the runs that it starts."""
    return Owner(_boot_id(), os.getpid(), _start_ticks(os.getpid()) or 0)


def is_alive(owner: Owner) -> bool:
    """Return whether the owner is still running."""
    if owner.boot_id != _boot_id():
        return False
    return owner.start_ticks == _start_ticks(owner.pid) or _is_hidden(owner.pid)


def _is_hidden(pid: int) -> bool:
    """Return whether a process exists although ``/proc`` doesn't show it, because of its option ``hidepid``."""
    if Path(f"/proc/{pid}").exists():
        return False
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass
    return True


def _boot_id() -> str:
    return read_text(BOOT_ID) or "unknown"


def _start_ticks(pid: int) -> int | None:
    """Return the clock ticks from boot to the start of a process, or ``None`` if the process doesn't exist or is a zombie."""
    stat = read_text(Path(f"/proc/{pid}/stat")) or ""
    fields = stat.rpartition(")")[2].split()  # the name may contain spaces and parentheses
    return None if not fields or fields[0] in ("Z", "X") else int(fields[START_FIELD])
