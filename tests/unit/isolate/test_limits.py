"""Tests that limits that aren't in force are reported."""

from __future__ import annotations

from pathlib import Path

import pytest

from httpbench.errors import LimitError
from httpbench.host.control_groups import groups_of
from httpbench.isolate import limits
from httpbench.model import Engine, Isolation
from tests import control_groups as fake

HALF = Isolation(engine=Engine.DOCKER, cpus=0.5, memory_bytes=64 << 20)
CPUSET = (0, 1, 2, 5)


def prove(root: Path, isolation: Isolation = HALF) -> float | None:
    groups = groups_of(fake.PID, root)
    assert groups is not None
    return limits.prove(isolation, CPUSET, groups)


def test_limits_that_are_in_force_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake.version_2(tmp_path)
    monkeypatch.setattr(limits, "burned_cpus", lambda *_: 0.51)
    assert prove(tmp_path) == 0.51


@pytest.mark.parametrize(
    ("file", "text", "named"),
    [
        ("cpu_max", "max 100000\n", "--cpus 0.5 is not in force: the container's control groups have no CPU limit"),
        ("cpu_max", "100000 100000\n", "--cpus 0.5 is not in force: the container's control groups have 1 cores"),
        ("memory_max", "max\n", "--memory 64m is not in force: the container's control groups have no memory limit"),
        ("memory_max", "134217728\n", "--memory 64m is not in force: the container's control groups have 134,217,728 bytes"),
        ("cpuset_cpus_effective", "0-7\n", "--cpuset-cpus 0,1,2,5 is not in force: the container's control groups have 0,1,2,3,4,5,6,7"),
    ],
)
def test_a_limit_that_is_not_in_force_is_reported(tmp_path: Path, file: str, text: str, named: str) -> None:
    fake.version_2(tmp_path, **{file: text})
    with pytest.raises(LimitError, match="is not in force") as caught:
        prove(tmp_path)
    assert caught.value.message == named


def test_a_burn_beyond_the_limit_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake.version_2(tmp_path)
    monkeypatch.setattr(limits, "burned_cpus", lambda *_: 0.99)
    with pytest.raises(LimitError, match=r"--cpus 0.5 is not in force: a burn inside the container used 0.99 cores"):
        prove(tmp_path)


def test_limits_are_only_read_if_this_user_may_not_test_them(tmp_path: Path) -> None:
    """Testing the limits requires entering the group, which requires a writable cgroup.procs file."""
    group = fake.version_2(tmp_path)
    (group / "cgroup.procs").unlink()
    (group / "cgroup.procs").mkdir()
    assert prove(tmp_path) is None
