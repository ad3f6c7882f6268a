"""Tests of the share of periods in which a quota stopped a program, from the kernel's counters."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from httpbench.sample.quota import QuotaMeter, SharedQuotaMeter
from tests.quota import limited_to
from tests.waiting import SPIN, until

PID = 7


def write(root: Path, folder: str, text: str) -> None:
    (root / folder).mkdir(parents=True, exist_ok=True)
    (root / folder / "cpu.stat").write_text(text)


def group_of(root: Path, text: str) -> None:
    """Fake a process in the control groups that ``text`` lists, with the hierarchies of these groups mounted."""
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/self/mountinfo").write_text(
        "25 1 0:22 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n30 1 0:30 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
        if "cpu" in text
        else "25 1 0:22 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
    )
    (root / f"proc/{PID}").mkdir(parents=True)
    (root / f"proc/{PID}/cgroup").write_text(text)


@pytest.mark.parametrize(
    ("line", "mount"),
    [("0::/pod/target", "sys/fs/cgroup"), ("3:cpuset:/elsewhere\n1:cpu,cpuacct:/pod/target", "sys/fs/cgroup/cpu")],
    ids=["version 2", "version 1"],
)
def test_the_most_throttled_ancestor_counts(tmp_path: Path, line: str, mount: str) -> None:
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


def test_the_harness_quota_counts_all_programs_under_it(tmp_path: Path) -> None:
    group_of(tmp_path, "0::/pod/harness")
    write(tmp_path, "sys/fs/cgroup/pod/harness", "usage_usec 500\n")
    write(tmp_path, "sys/fs/cgroup/pod", "usage_usec 1000000\nnr_periods 10\nnr_throttled 1\n")
    meter = SharedQuotaMeter(tmp_path, PID)
    write(tmp_path, "sys/fs/cgroup/pod", "usage_usec 3000000000\nnr_periods 110\nnr_throttled 31\n")
    found = meter.read()
    assert found is not None
    assert found.throttled_share == 0.3
    assert found.used_cores > 1


def test_version_1_usage_comes_from_a_separate_file(tmp_path: Path) -> None:
    group_of(tmp_path, "1:cpu,cpuacct:/pod")
    write(tmp_path, "sys/fs/cgroup/cpu/pod", "nr_periods 10\nnr_throttled 1\n")
    assert SharedQuotaMeter(tmp_path, PID).read() is None
    (tmp_path / "sys/fs/cgroup/cpu/pod/cpuacct.usage").write_text("1000\n")
    meter = SharedQuotaMeter(tmp_path, PID)
    write(tmp_path, "sys/fs/cgroup/cpu/pod", "nr_periods 20\nnr_throttled 6\n")
    (tmp_path / "sys/fs/cgroup/cpu/pod/cpuacct.usage").write_text("900000001000\n")
    found = meter.read()
    assert found is not None
    assert (found.throttled_share, found.used_cores > 1) == (0.5, True)


def test_without_a_harness_quota_there_is_none_to_share(tmp_path: Path) -> None:
    group_of(tmp_path, "0::/")
    write(tmp_path, "sys/fs/cgroup", "usage_usec 5\nnr_periods 0\nnr_throttled 0\n")
    assert SharedQuotaMeter(tmp_path, PID).read() is None


def test_throttling_of_a_real_program_is_measured() -> None:
    with limited_to(0.2) as group:
        burn = f"import os; open({str(group)!r}, 'w').write(str(os.getpid())); print(flush=True)\n{SPIN}"
        with subprocess.Popen([sys.executable, "-c", burn], stdout=subprocess.PIPE) as process:
            assert process.stdout
            process.stdout.readline()
            meter = QuotaMeter([process.pid])
            until(lambda: (meter.throttled_share() or 0) > 0.5)
            process.kill()
