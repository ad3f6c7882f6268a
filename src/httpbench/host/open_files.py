"""Limits on open files: the maximum of this machine, the limit for programs that httpbench starts, and a raised limit for the harness."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from httpbench.host.kernel_files import read_int

ENOUGH = 65_536
"""Limit for programs that httpbench starts. It is enough for both ends of 10,000 connections.

A higher limit has a cost: some runtimes start slowly if the limit is in the millions.
"""

KERNEL_MAX = 1 << 20
"""The kernel's default for ``fs.nr_open``."""


def hard_limit(root: Path = Path("/")) -> int:
    """Return the hard limit: the maximum number of open files to which a process on this machine may raise its soft limit."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    highest = read_int(root / "proc/sys/fs/nr_open") or KERNEL_MAX
    return highest if hard == resource.RLIM_INFINITY else min(hard, highest)


def limit_of_programs() -> int:
    """Return the limit on open files for each program that httpbench starts."""
    return min(hard_limit(), ENOUGH)


@contextmanager
def raised(files: int) -> Iterator[None]:
    """Until the block ends, raise our own soft limit (often 1,024) to ``files``, or to the hard limit if that is lower."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(files, hard_limit())), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
