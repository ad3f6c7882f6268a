"""Tests of the stacks in the output of perf, and of what a user may sample."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from httpbench.errors import ProfileError, RequirementError, UsageError
from httpbench.profile import Perf, Profilers, ShellCommand, perf, stacks_of

SCRIPT = Path(__file__).with_name("fixtures") / "perf-script.txt"


def test_samples_become_the_folded_stacks_of_their_slices() -> None:
    assert stacks_of(SCRIPT.read_text().splitlines(), [(100.2, 101.0), (101.0, 102.5)]) == [
        {"[unknown];answer;__send;nf_hook_slow_[k];tcp_sendmsg_[k]": 1, "main;operator new(unsigned long)": 1},
        {"main": 1, "main;main": 2},
    ]


def usable(monkeypatch: pytest.MonkeyPatch, allowed: Sequence[str], missing: Sequence[str] = ()) -> Perf:
    """Return what is usable if this user may count certain events, of which the machine lacks some."""

    def stat(argv: Sequence[str], timeout_s: float = 10.0) -> subprocess.CompletedProcess[str]:
        event = argv[argv.index("--event") + 1]
        errors = f"<not supported>,,{event},0,100.00,,\n" if event in missing else f"0.62,msec,{event}\n"
        return subprocess.CompletedProcess(argv, 0 if event in allowed else 255, "", errors)

    monkeypatch.setattr(perf, "capture", stat)
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    return perf.usable_perf()


KERNEL, USER = ("cpu-clock:k", "cpu-clock:u", "cycles", "cycles:u"), ("cpu-clock:u", "cycles:u")


def test_hardware_counters_are_used_if_there_are_any(monkeypatch: pytest.MonkeyPatch) -> None:
    found = usable(monkeypatch, KERNEL)
    assert (found.name, found.sees_kernel) == ("perf (cycles)", True)
    found = usable(monkeypatch, KERNEL, missing=("cycles", "cycles:u"))
    assert (found.name, found.sees_kernel) == ("perf (cpu-clock)", True)


def test_a_plain_user_samples_user_space(monkeypatch: pytest.MonkeyPatch) -> None:
    found = usable(monkeypatch, USER, missing=("cycles:u",))
    assert (found.name, found.sees_kernel) == ("perf (cpu-clock:u)", False)


def test_without_permission_the_error_names_the_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ProfileError, match="doesn't let this user sample") as error:
        usable(monkeypatch, ())
    assert error.value.hint == "sysctl kernel.perf_event_paranoid=1 as root"


def test_without_perf_the_error_names_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(RequirementError) as error:
        Profilers.found(None)
    assert error.value.hint == "apt-get install linux-perf"


def test_a_command_gets_the_process_and_the_time() -> None:
    command = ShellCommand("/opt/asprof -d {seconds} -o collapsed {pid}")
    assert command.name == "asprof"
    assert command.argv(12, 2) == ("/bin/sh", "-c", "/opt/asprof -d 2 -o collapsed 12")
    with pytest.raises(UsageError, match="doesn't name the process"):
        ShellCommand("asprof -d {seconds}")
