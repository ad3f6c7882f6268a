from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from httpbench.host import Finding, examine, most_harmful, open_files, read_topology
from tests.unit.host.fake import CPU, DISTURBED, QUIET, cores, quiet, write


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2, 3})
    monkeypatch.setattr(open_files, "hard_limit", lambda _: 65_536)
    return quiet(tmp_path)


def found(root: Path) -> dict[str, Finding]:
    return {finding.name: finding for finding in examine(root=root, pause_s=0)}


def test_a_quiet_machine_has_nothing_to_fix(root: Path) -> None:
    findings = found(root)
    assert {finding.severity for finding in findings.values()} == {"ok"}
    assert all(finding.do is None for finding in findings.values())
    assert len(findings) >= 17


DISTURBANCES = [
    ("governor", {f"{CPU}/cpu3/cpufreq/scaling_governor": "powersave"}, "warning", "performance,powersave", "tune apply governor"),
    ("turbo", DISTURBED["turbo"], "warning", "turbo is on", "tune apply turbo"),
    ("idle-states", DISTURBED["idle-states"], "note", "1 enabled idle states", "tune apply idle-states"),
    ("halt-polling", DISTURBED["halt-polling"], "warning", "halt after 0 ms", "tune apply halt-polling"),
    ("nmi-watchdog", DISTURBED["nmi-watchdog"], "note", "watchdog is on", "tune apply nmi-watchdog"),
    ("numa-balancing", DISTURBED["numa-balancing"], "warning", "NUMA balancing is on", "tune apply numa-balancing"),
    ("packet-queue", DISTURBED["packet-queue"], "note", "1000 received packets", "tune apply packet-queue"),
    ("tracked-connections", DISTURBED["tracked-connections"], "warning", "65536 connections", "tune apply tracked-connections"),
    ("siblings", {f"{CPU}/smt/active": "1"}, "note", "SMT is on", "echo off > /sys/devices/system/cpu/smt/control"),
    ("siblings", {f"{CPU}/cpu3/topology/core_cpus_list": "3,7"}, "warning", "CPUs 7, the SMT siblings", "whole physical cores"),
    ("cpu-quota", {"sys/fs/cgroup/user.slice/cpu.max": "150000 100000"}, "warning", "to 1.5 cores", "--cpuset-cpus"),
    ("cpu-quota", {"sys/fs/cgroup/user.slice/cpu.max": "400000 100000"}, "note", "to 4 cores", "--cpuset-cpus"),
    ("virtual-machine", {"proc/cpuinfo": "flags : hypervisor"}, "note", "(hypervisor)", "physical machine"),
    (
        "clocksource",
        {"sys/devices/system/clocksource/clocksource0/current_clocksource": "hpet"},
        "warning",
        "hpet",
        "tune apply clocksource",
    ),
    ("mitigations", {f"{CPU}/vulnerabilities/spectre_v2": "Mitigation: Retpolines"}, "note", "spectre_v2", "production"),
    ("load-average", {"proc/loadavg": "0.5 0.1 0.1 1/100 9"}, "warning", "0.5; up to 0.4 is quiet", "top"),
    ("swap", {"proc/meminfo": "SwapTotal: 2048000 kB\nSwapFree: 1024000 kB"}, "warning", "1000 MB", "swapoff"),
    ("ephemeral-ports", {"proc/sys/net/ipv4/ip_local_port_range": "60000 60999"}, "warning", "1000 ports", "tune apply ephemeral-ports"),
    ("closed-connections", {"proc/sys/net/ipv4/tcp_tw_reuse": "0"}, "note", "are not reused", "tune apply closed-connections"),
    (
        "time-wait",
        {"proc/net/sockstat": "TCP: inuse 5 orphan 0 tw 16129 alloc 9 mem 1"},
        "warning",
        "16,129 of 64,512 local ports",
        "wait a minute",
    ),
    ("backlog", {"proc/sys/net/core/somaxconn": "128"}, "warning", "128 connections", "tune apply backlog"),
    ("memory-limit", {"sys/fs/cgroup/user.slice/memory.max": "8388608"}, "warning", "8 MiB", "--memory"),
    ("io-uring", {"proc/sys/kernel/io_uring_disabled": "2"}, "note", "disabled", "io_uring_disabled=0"),
    ("huge-pages", {"sys/kernel/mm/transparent_hugepage/enabled": "[always] madvise never"}, "note", "always", "tune apply huge-pages"),
]


@pytest.mark.parametrize(("name", "files", "severity", "what", "do"), DISTURBANCES)
def test_each_disturbance_gives_exactly_one_finding(
    root: Path, name: str, files: dict[str, str], severity: str, what: str, do: str
) -> None:
    write(root, files)
    findings = found(root)
    finding = findings[name]
    assert (finding.severity, what in finding.what, do in (finding.do or "")) == (severity, True, True), finding
    assert {other.name for other in findings.values() if other.severity != "ok"} == {name}


def test_a_clock_that_cannot_be_improved_is_a_note(root: Path) -> None:
    folder = "sys/devices/system/clocksource/clocksource0"
    write(root, {f"{folder}/current_clocksource": "hpet", f"{folder}/available_clocksource": "hpet acpi_pm"})
    assert (found(root)["clocksource"].severity, "offers no better setting" in (found(root)["clocksource"].do or "")) == ("note", True)


def test_each_finding_is_documented(root: Path) -> None:
    names = {*found(root), *(name for name, *_ in DISTURBANCES)}
    page = (Path(__file__).parents[4] / "docs" / "prepare.md").read_text()
    of_this_machine = page.partition("## Findings of `doctor`")[2].partition("With `-r`")[0]
    knobs = page.partition("## Knobs")[2].partition("\n## ")[0]
    assert names == set(re.findall(r"^\| `([a-z-]+)` \|", of_this_machine + knobs, re.MULTILINE)) - {"warning", "note", "ok"}


def test_a_low_limit_on_open_files_is_a_finding(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(open_files, "hard_limit", lambda _: 1024)
    assert found(root)["open-files"].severity == "warning"


@pytest.mark.parametrize(("count", "severity"), [(1, "warning"), (2, "warning"), (3, "warning"), (4, "ok")])
def test_too_few_cores_are_a_finding(tmp_path: Path, count: int, severity: str) -> None:
    write(cores(tmp_path, *(str(cpu) for cpu in range(count))), QUIET)
    findings = examine(read_topology(tmp_path, range(count)), tmp_path, 0)
    assert next(finding for finding in findings if finding.name == "cores").severity == severity


def test_the_worst_finding_comes_first(root: Path) -> None:
    write(root, {"proc/loadavg": "9 9 9 1/1 1", "proc/sys/kernel/io_uring_disabled": "1"})
    assert [finding.severity for finding in examine(root=root, pause_s=0)][:3] == ["warning", "note", "ok"]


def test_the_most_harmful_warnings_come_first() -> None:
    names = ["cores", "load-average", "turbo", "busy-processes"]
    findings = [Finding("virtual-machine", "note", "", ""), *(Finding(name, "warning", "", "") for name in names)]
    assert [finding.name for finding in most_harmful(findings, 2)] == ["busy-processes", "cores"]
    assert [finding.name for finding in most_harmful(findings[:4], 9)] == ["load-average", "cores", "turbo"]
    assert most_harmful(findings[:1], 2) == []
