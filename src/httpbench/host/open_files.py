"""Limits on open files: this machine's maximum, the limit of started programs, and a higher one for the harness."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from httpbench.host.kernel_files import read_int

ENOUGH = 65_536
"""Limit of started programs: enough for both sides of 10,000 connections. Limits in the millions slow the start of some runtimes."""

KERNEL_MAX = 1 << 20
"""The kernel's default for ``fs.nr_open``."""


def hard_limit(root: Path = Path("/")) -> int:
    """Return how many files a process may open on this machine: the hard limit, up to which it may raise its soft limit."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    highest = read_int(root / "proc/sys/fs/nr_open") or KERNEL_MAX
    return highest if hard == resource.RLIM_INFINITY else min(hard, highest)


def limit_of_programs() -> int:
    """Return how many files each started program may open."""
    return min(hard_limit(), ENOUGH)


@contextmanager
def raised(files: int) -> Iterator[None]:
    """Raise our own soft limit (often 1,024) to this many files until the block ends, as far as the hard limit allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(files, hard_limit())), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
