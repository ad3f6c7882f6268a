"""Whether the process that makes a run is still there: told by the boot and the ticks since it, never by a clock that can be set."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
START_FIELD = 19  # of those behind the name: field 22 of proc_pid_stat(5)


class Owner(NamedTuple):
    """A process, and no other one that gets its number later."""

    boot_id: str
    pid: int
    start_ticks: int
    """Clock ticks from the boot to its start."""


def this_process() -> Owner:
    """The owner of runs that are begun here."""
    return Owner(_boot_id(), os.getpid(), _start_ticks(os.getpid()) or 0)


def is_alive(owner: Owner) -> bool:
    """Whether that very process still runs."""
    return owner.boot_id == _boot_id() and owner.start_ticks == _start_ticks(owner.pid)


def _boot_id() -> str:
    try:
        return BOOT_ID.read_text().strip()
    except OSError:
        return "unknown"


def _start_ticks(pid: int) -> int | None:
    """``None`` where there is no such process, or it has ended and only waits for its parent."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return None
    fields = stat[stat.rindex(b")") + 2 :].split()  # the name may hold spaces and parentheses
    return None if fields[0] in (b"Z", b"X") else int(fields[START_FIELD])
