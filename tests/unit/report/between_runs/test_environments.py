"""What must be alike before two runs are compared."""

from __future__ import annotations

import pytest

from httpbench.report.between_runs.environments import differences, toolchains
from tests.factories import make_environment


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
def test_what_differs_between_environments_is_named(field: str, value: object, phrase: str) -> None:
    base = make_environment(turbo=False)
    (found,) = differences(base, base.model_copy(update={field: value}))
    assert found.startswith(phrase)


def test_what_may_be_compared_is_no_difference() -> None:
    base = make_environment()
    head = base.model_copy(update={"git_commit": "f" * 40, "load_average_1m": 9.0, "versions": {**base.versions, "go": "1.27"}})
    assert differences(base, head) == []
    assert toolchains(base, head) == [f"go {base.versions['go']} → 1.27"]


def test_names_of_containers_are_made_up_anew_each_time() -> None:
    base = make_environment(container="docker", hostname="d34db33f")
    assert differences(base, base.model_copy(update={"hostname": "c0ffee"})) == []
