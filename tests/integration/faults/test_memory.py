"""Test of a target that uses more and more memory. A control group with limited memory protects the rest of the machine."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.integration.faults.fault import Fault

MOUNT = Path("/sys/fs/cgroup")
LIMIT_BYTES = 512 << 20  # far more than the harness and the load generator need


@contextmanager
def memory_limited() -> Iterator[Path]:
    """Create a control group with limited memory, and yield the file that moves processes into it. Skip the test if that isn't possible."""
    is_first_version = (MOUNT / "memory" / "memory.limit_in_bytes").exists()
    group = MOUNT / ("memory" if is_first_version else "") / f"httpbench-test-{os.getpid()}"
    limits = ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes") if is_first_version else ("memory.max", "memory.swap.max")
    try:
        group.mkdir()
    except OSError as error:
        pytest.skip(f"no control group can be made: {error}")
    try:
        try:
            (group / limits[0]).write_text(str(LIMIT_BYTES))
            if (group / limits[1]).exists():
                (group / limits[1]).write_text(str(LIMIT_BYTES) if is_first_version else "0")
        except OSError as error:
            pytest.skip(f"control groups do not limit memory here: {error}")
        yield group / "cgroup.procs"
    finally:
        group.rmdir()


@pytest.mark.slow
def test_eats_memory(fault: Fault) -> None:
    with memory_limited() as members:
        enter = f"import os; from pathlib import Path; Path({str(members)!r}).write_text(str(os.getpid()))"
        target = "test/misbehaving/eats-memory"
        fault.holds(fault.bench(target, "--warmup", "0s", "-d", "3s", first=enter), trials=2)
        assert fault.verdicts(target) == ["invalid"]
