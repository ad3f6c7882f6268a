"""Tests of limits on open files: the machine's maximum, the limit for programs that httpbench starts, and the harness's own limit."""

from __future__ import annotations

import resource
from pathlib import Path

import pytest

from httpbench.host import open_files
from tests.unit.host.fake import write


def limits(monkeypatch: pytest.MonkeyPatch, soft: int, hard: int) -> list[tuple[int, int]]:
    """Fake these limits. Return a list that contains them, and to which later changes to the limits are appended."""
    history = [(soft, hard)]
    monkeypatch.setattr(resource, "getrlimit", lambda _: history[-1])
    monkeypatch.setattr(resource, "setrlimit", lambda _, pair: history.append(pair))
    return history


def test_programs_get_enough_files_or_all_that_are_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    limits(monkeypatch, 1024, 4096)
    assert open_files.limit_of_programs() == 4096
    limits(monkeypatch, 1024, 1_000_000)
    assert open_files.limit_of_programs() == open_files.ENOUGH


def test_without_a_hard_limit_the_kernels_maximum_applies(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    limits(monkeypatch, 1024, resource.RLIM_INFINITY)
    assert open_files.hard_limit(tmp_path) == open_files.KERNEL_MAX
    assert open_files.hard_limit(write(tmp_path, {"proc/sys/fs/nr_open": "2048"})) == 2048


@pytest.mark.parametrize(("wanted", "granted"), [(3000, 3000), (512, 1024), (9000, 4096)])
def test_our_own_limit_is_raised_temporarily_and_never_lowered(monkeypatch: pytest.MonkeyPatch, wanted: int, granted: int) -> None:
    history = limits(monkeypatch, 1024, 4096)
    with open_files.raised(wanted):
        assert history[-1] == (granted, 4096)
    assert history[-1] == (1024, 4096)
