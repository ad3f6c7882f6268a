"""Does the process that made something still exist? Judged by the boot and the ticks since then, never by a clock that can be set."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
START_FIELD = 19  # of those after the name: field 22 of proc_pid_stat(5)


class Owner(NamedTuple):
    """Identifies a process, even if its number is reused later."""

    boot_id: str
    pid: int
    start_ticks: int
    """Clock ticks between the boot and its start."""


def this_process() -> Owner:
    """The owner of runs that begin in this process."""
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
    """``None`` if there is no such process, or if it is a zombie."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return None
    fields = stat[stat.rindex(b")") + 2 :].split()  # the name may hold spaces and parentheses
    return None if fields[0] in (b"Z", b"X") else int(fields[START_FIELD])
