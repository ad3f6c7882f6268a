"""Tests of the names of machines in paths and headings."""

from __future__ import annotations

import re

import pytest

from tests.factories import make_environment
from tools.results.machine import machine_name, machine_title


@pytest.mark.parametrize(
    ("model", "cpus", "hypervisor", "name"),
    [
        ("Intel(R) Xeon(R) Processor @ 2.10GHz", (0, 1), "kvm", "intel-xeon-2-cpus-kvm"),
        ("Intel(R) Core(TM) i5-5300U CPU @ 2.30GHz", (0, 1, 2, 3), None, "intel-core-i5-5300u-4-cpus"),
        ("AMD Ryzen 7 3700X 8-Core Processor", tuple(range(16)), None, "amd-ryzen-7-3700x-16-cpus"),
        ("../../etc/passwd\n<img>", (0,), "Amazon EC2", "etc-passwd-img-1-cpus-amazon-ec2"),
        ("處理器", (0,), None, "unknown-1-cpus"),
    ],
)
def test_the_name_of_a_machine_is_safe_in_a_path(model: str, cpus: tuple[int, ...], hypervisor: str | None, name: str) -> None:
    found = machine_name(make_environment(cpu_model=model, cpus_allowed=cpus, virtualization=hypervisor))
    assert found == name


def test_names_are_short_and_have_only_safe_characters() -> None:
    found = machine_name(make_environment(cpu_model="Processor of " + "very " * 100 + "long name"))
    assert re.fullmatch(r"[a-z0-9-]{1,90}", found)


def test_properties_that_change_between_runs_are_not_in_the_name() -> None:
    one = make_environment(load_average_1m=0.1, kernel="6.1", hostname="a")
    assert machine_name(one) == machine_name(one.model_copy(update={"load_average_1m": 3.0, "kernel": "6.18", "hostname": "b"}))


def test_a_title_says_that_a_machine_is_virtual() -> None:
    assert "virtual machine (kvm)" in machine_title(make_environment(virtualization="kvm"))
    assert "virtual" not in machine_title(make_environment(virtualization=None))
