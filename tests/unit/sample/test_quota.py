"""How often a quota stopped a program, from the kernel's counters."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from httpbench.sample.quota import QuotaMeter
from tests.quota import limited_to
from tests.waiting import until

PID = 7


def write(root: Path, folder: str, text: str) -> None:
    (root / folder).mkdir(parents=True, exist_ok=True)
    (root / folder / "cpu.stat").write_text(text)


def group_of(root: Path, text: str) -> None:
    (root / f"proc/{PID}").mkdir(parents=True)
    (root / f"proc/{PID}/cgroup").write_text(text)


@pytest.mark.parametrize(
    ("line", "mount"),
    [("0::/pod/target", "sys/fs/cgroup"), ("3:cpuset:/elsewhere\n1:cpu,cpuacct:/pod/target", "sys/fs/cgroup/cpu")],
    ids=["version 2", "version 1"],
)
def test_the_group_between_us_and_the_root_that_throttled_most_counts(tmp_path: Path, line: str, mount: str) -> None:
    group_of(tmp_path, line)
    write(tmp_path, f"{mount}/pod/target", "nr_periods 10\nnr_throttled 1\nthrottled_usec 5\n")
    write(tmp_path, f"{mount}/pod", "nr_periods 10\nnr_throttled 5\nthrottled_usec 5\n")
    meter = QuotaMeter([PID], tmp_path)
    write(tmp_path, f"{mount}/pod/target", "nr_periods 110\nnr_throttled 11\nthrottled_usec 5\n")
    write(tmp_path, f"{mount}/pod", "nr_periods 110\nnr_throttled 65\nthrottled_usec 5\n")
    assert meter.throttled_share() == 0.6


def test_without_a_quota_nothing_is_known(tmp_path: Path) -> None:
    group_of(tmp_path, "0::/")
    write(tmp_path, "sys/fs/cgroup", "usage_usec 5\n")
    assert QuotaMeter([PID], tmp_path).throttled_share() is None
    assert QuotaMeter([8], tmp_path).throttled_share() is None, "a process that is gone"


def test_a_program_under_a_quota_is_seen_to_be_stopped() -> None:
    with limited_to(0.2) as group:
        burn = f"import os; open({str(group)!r}, 'w').write(str(os.getpid())); print(flush=True)\nwhile True: pass"
        with subprocess.Popen([sys.executable, "-c", burn], stdout=subprocess.PIPE) as process:
            assert process.stdout
            process.stdout.readline()
            meter = QuotaMeter([process.pid])
            until(lambda: (meter.throttled_share() or 0) > 0.5)
            process.kill()
