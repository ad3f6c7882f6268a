"""The limit on open files, in one place: what this machine allows, what the programs we start get, and a higher one for ourselves."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ENOUGH = 65_536
"""For 10,000 connections on both sides. Some runtimes scan the whole table, so a limit in the millions slows their start."""

KERNEL_MAX = 1 << 20
"""The kernel's default of ``fs.nr_open``."""


def hard_limit(root: Path = Path("/")) -> int:
    """The most files that a process may open here: its hard limit, to which it may raise its own soft limit."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        highest = int((root / "proc/sys/fs/nr_open").read_text())
    except (OSError, ValueError):
        highest = KERNEL_MAX
    return highest if hard == resource.RLIM_INFINITY else min(hard, highest)


def limit_of_programs() -> int:
    """How many files each program that we start may open."""
    return min(hard_limit(), ENOUGH)


@contextmanager
def raised(files: int) -> Iterator[None]:
    """Within, we may open this many files ourselves, as far as the hard limit allows; the soft limit is often 1,024."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(files, hard_limit())), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
