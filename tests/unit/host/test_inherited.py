"""Tests of the environment variables that programs inherit from the harness."""

from __future__ import annotations

import os

import pytest

from httpbench.host import inherited

CI = ("GITHUB_TOKEN", "ACTIONS_RUNTIME_TOKEN", "CI_JOB_TOKEN", "AWS_SECRET_ACCESS_KEY", "CARGO_REGISTRY_TOKEN", "NPM_TOKEN", "PYTHONPATH")


@pytest.fixture
def of_a_ci_job(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*CI, "https_proxy", "GOMODCACHE", "LANG"):
        monkeypatch.setenv(name, "value")


@pytest.mark.usefixtures("of_a_ci_job")
def test_ci_tokens_do_not_leak_into_targets_or_builds() -> None:
    for passed in (inherited.for_targets(), inherited.for_builds()):
        assert not set(CI) & set(passed)
        assert passed["LANG"] == "value"
        assert passed["PATH"] == os.environ["PATH"]


@pytest.mark.usefixtures("of_a_ci_job")
def test_only_builds_inherit_proxies_and_caches() -> None:
    assert {"https_proxy", "GOMODCACHE"} <= set(inherited.for_builds())
    assert not {"https_proxy", "GOMODCACHE"} & set(inherited.for_targets())


@pytest.mark.usefixtures("of_a_ci_job")
def test_withheld_variables_are_those_that_targets_do_not_get(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PWD", "/home/user")
    withheld = inherited.withheld(["NPM_TOKEN"])
    assert withheld["GITHUB_TOKEN"] == "value"
    assert not {"NPM_TOKEN", "PATH", "LANG", "PWD"} & set(withheld)


def test_unset_variables_are_not_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TZ", raising=False)
    assert "TZ" not in inherited.for_targets()
