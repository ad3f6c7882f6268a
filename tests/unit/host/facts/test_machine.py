from __future__ import annotations

from pathlib import Path

import pytest

from httpbench.host.facts import environment
from httpbench.host.kernel_files import CLOCKSOURCE
from tests.unit.host.fake import CPU, quiet, write


def test_different_governors_are_all_listed(tmp_path: Path) -> None:
    quiet(tmp_path)
    write(tmp_path, {f"{CPU}/cpu2/cpufreq/scaling_governor": "powersave"})
    assert environment.governor(tmp_path, (0, 1, 2, 3)) == "performance,powersave"
    assert environment.governor(tmp_path, (0, 1)) == "performance"


def test_turbo_is_read_from_both_drivers(tmp_path: Path) -> None:
    assert environment.turbo(tmp_path) is None
    write(tmp_path, {f"{CPU}/cpufreq/boost": "1"})
    assert environment.turbo(tmp_path) is True
    write(tmp_path, {f"{CPU}/intel_pstate/no_turbo": "1"})
    assert environment.turbo(tmp_path) is False


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"proc/cpuinfo": "flags : fpu tsc", "sys/class/dmi/id/bios_vendor": "Google"}, None),
        ({"proc/cpuinfo": "flags : fpu hypervisor", "sys/class/dmi/id/sys_vendor": "QEMU"}, "qemu"),
        ({"proc/cpuinfo": "flags : hypervisor", "sys/class/dmi/id/product_name": "VMware Virtual Platform"}, "vmware"),
        ({"proc/cpuinfo": "flags : fpu hypervisor"}, "hypervisor"),
        ({"sys/hypervisor/type": "xen"}, "xen"),
        ({"sys/class/dmi/id/sys_vendor": "Amazon EC2", "sys/class/dmi/id/product_name": "c7g.metal"}, None),
        ({"sys/class/dmi/id/sys_vendor": "Amazon EC2", "sys/class/dmi/id/product_name": "c7g.large"}, "amazon"),
        ({"proc/cpuinfo": "flags : hypervisor", f"{CLOCKSOURCE}/available_clocksource": "tsc kvm-clock"}, "kvm"),
    ],
)
def test_the_hypervisor_is_detected(tmp_path: Path, files: dict[str, str], expected: str | None) -> None:
    assert environment.virtualization(write(tmp_path, files)) == expected


@pytest.mark.parametrize(("file", "engine"), [(".dockerenv", "docker"), ("run/.containerenv", "podman"), ("run/systemd/container", "lxc")])
def test_the_container_engine_is_detected(tmp_path: Path, file: str, engine: str) -> None:
    assert environment.container(write(tmp_path, {file: "lxc"})) == engine


def test_a_processor_without_a_name_is_described_by_numbers(tmp_path: Path) -> None:
    write(tmp_path, {"proc/cpuinfo": "CPU implementer\t: 0x41\nCPU part\t: 0xd0c", "proc/device-tree/model": "Some Board"})
    assert environment.cpu_model(tmp_path) == "Some Board 0x41 0xd0c"
