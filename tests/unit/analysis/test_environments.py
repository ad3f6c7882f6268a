"""Tests of the properties of the environment that must match before two runs are compared."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from httpbench.analysis import environments
from httpbench.analysis.environments import Mismatch
from httpbench.model import Environment, LoadHost
from httpbench.report.words.changes import mismatch_text, version_text
from tests.factories import make_environment, make_load_host


def texts(found: Iterable[Mismatch]) -> list[str]:
    return list(map(mismatch_text, found))


def differences(base: Environment, head: Environment) -> list[str]:
    return texts(environments.differences(base, head))


def load_hosts(before: LoadHost | None, after: LoadHost | None) -> list[str]:
    return texts(environments.load_hosts(before, after))


@pytest.mark.parametrize(
    ("field", "value", "phrase"),
    [
        ("kernel", "6.9", "kernel (6.1.0-28-amd64 → 6.9)"),
        ("turbo", True, "turbo ("),
        ("cpus_allowed", (0, 1), "CPUs allowed ("),
        ("mitigations", {"spectre_v2": "Vulnerable"}, "mitigations (spectre_v2"),
        ("memory_bytes", 1, "memory ("),
        ("cpu_quota_cores", 2.0, "CPU quota (none → 2.0)"),
    ],
)
def test_differences_between_environments_are_listed(field: str, value: object, phrase: str) -> None:
    base = make_environment(turbo=False)
    (found,) = differences(base, base.model_copy(update={field: value}))
    assert found.startswith(phrase)


def test_each_different_knob_is_listed() -> None:
    base = make_environment(tuning={"idle-states": "on", "numa-balancing": "1", "packet-queue": "1000"})
    head = make_environment(tuning={"idle-states": "off", "packet-queue": "1000", "backlog": "4096"})
    assert differences(base, head) == ["knob backlog (absent → 4096)", "knob idle-states (on → off)", "knob numa-balancing (1 → absent)"]


def test_a_different_governor_is_listed_once() -> None:
    base = make_environment(tuning={"governor": "performance"})
    head = make_environment(governor="powersave", tuning={"governor": "powersave"})
    assert differences(base, head) == ["governor (performance → powersave)"]


def test_a_run_without_stored_knobs_matches_any_knobs() -> None:
    """Earlier versions stored no knobs."""
    assert differences(make_environment(), make_environment(tuning={"backlog": "4096"})) == []


def test_properties_under_test_are_not_mismatches() -> None:
    base = make_environment()
    head = base.model_copy(update={"git_commit": "f" * 40, "load_average_1m": 9.0, "versions": {**base.versions, "go": "1.27"}})
    assert differences(base, head) == []
    assert list(map(version_text, environments.toolchains(base, head))) == [f"go {base.versions['go']} → 1.27"]


def test_random_host_names_of_containers_are_ignored() -> None:
    base = make_environment(container="docker", hostname="d34db33f")
    assert differences(base, base.model_copy(update={"hostname": "c0ffee"})) == []


def test_load_hosts_must_match() -> None:
    there = make_load_host()
    faster = make_load_host(environment=make_environment(hostname="load1", cpu_model="Faster"))
    assert load_hosts(None, None) == load_hosts(there, there) == []
    assert load_hosts(None, there) == ["load host (the target's machine → load1)"]
    assert load_hosts(there, faster) == ["load host: processor (AMD EPYC 7B13 → Faster)"]
    with_backend = make_load_host(backend_cpus=(2, 3))
    assert load_hosts(there, with_backend) == ["host of the backend (the target's machine → load host)"]
