"""Tests that each trial uses a build of its own target with exactly the features that it needs."""

from __future__ import annotations

import json

import pytest

from httpbench import catalog
from httpbench.model import Scaling
from httpbench.run import builds_of, built_for, is_verified_here, mark_verified
from httpbench.run.builds.build import build_folder
from tests.harness import TARGETS, Harness, results

ID = "test/optional"
KNOWN = ("--targets", str(TARGETS))


@pytest.fixture
def own_cache(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> Harness:
    monkeypatch.setenv("XDG_CACHE_HOME", str(harness.home / "cache"))
    return harness


def features_built() -> list[str]:
    """Return the features of each build in the cache of the test."""
    target = catalog.load([TARGETS]).targets[ID]
    return [(folder / "features").read_text() for folder in map(build_folder, builds_of(target)) if folder.exists()]


def test_each_load_uses_its_own_build(own_cache: Harness) -> None:
    done = own_cache.bench(ID, "--export-json", "-")
    assert results(done)[ID]["rounds"][0]["verdict"]["kind"] != "failed", done.stdout
    assert features_built() == [""]
    assert f"built {ID} in" in done.stderr
    done = own_cache.bench(ID, "--tls", "-k", "--export-json", "-")
    assert results(done)[ID]["rounds"][0]["verdict"]["kind"] != "failed", done.stdout
    assert features_built() == ["", "tls"]
    assert f"built {ID} (tls) in" in done.stderr
    assert "built" not in own_cache.bench(ID).stderr  # the first build is still up to date


def test_the_plan_and_the_list_name_the_build(own_cache: Harness) -> None:
    assert own_cache.run("build", *KNOWN, ID, "--tls").stdout == "1 of 1 targets are built\n"
    plain, tls = (own_cache.bench(ID, *words, "--dry-run").stdout.split() for words in ((), ("--tls",)))
    assert plain[plain.index(ID) :][1:4] == ["plain", "not", "built"]
    assert tls[tls.index(ID) :][1:3] == ["tls", "built"]
    (listed,) = json.loads(own_cache.run("list", *KNOWN, "--json", ID).stdout)
    assert listed["state"] == "not built"
    assert listed["builds"] == [{"features": ["tls"], "state": "built", "version": None}]
    assert "tls built" in own_cache.run("list", *KNOWN, "--long", ID).stdout


@pytest.mark.parametrize("verb", ["probe", "responses"])
def test_a_verb_with_tls_starts_the_build_with_tls(own_cache: Harness, verb: str) -> None:
    assert own_cache.run(verb, *KNOWN, ID, "--tls", "-k").returncode == 0
    assert features_built() == ["tls"]


@pytest.mark.slow
def test_verify_names_each_build_and_remembers_it(own_cache: Harness) -> None:
    done = own_cache.run("verify", *KNOWN, ID, "--tls", "-k")
    assert f"{ID} (tls) single: passed" in done.stdout
    target = catalog.load([TARGETS]).targets[ID]
    tls = built_for(target, catalog.load().workload("plaintext"), tls=True)
    assert mark_verified(tls, [], []) == (Scaling.SINGLE,)
    assert not is_verified_here(target)
