"""Tests of frameworks in TechEmpower's layout. Their folders stay unchanged, and a small image replaces the official base image."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import containers
from tests.harness import TARGETS, Harness

pytestmark = pytest.mark.container

CLONE = TARGETS / "techempower"
CATALOGUE = ("--targets", f"techempower:{CLONE}")
BASE = "httpbench.test/perl:5"
"""Base image that the Dockerfiles name. The test gives this name to a minimal Debian, which includes Perl."""

REGISTRY = "httpbench.database"
"""Registry of the database's base image. No real image comes from this registry."""
QUICK = ("-c", "8", "-d", "500ms", "--warmup", "200ms", "--rounds", "1", "-q", "--export-json", "-")


@pytest.fixture(scope="module", autouse=True)
def _base(debian_base: str) -> Iterator[None]:
    containers.docker("tag", debian_base, BASE)
    yield
    containers.docker("rmi", "--no-prune", BASE)


def test_tests_without_a_database_follow_the_published_rules(harness: Harness) -> None:
    before = _state_of_the_clone(CLONE)
    done = harness.run("verify", *CATALOGUE, "perl/small", "perl/small/forks", "--isolate", "docker", "--scaling", "single", timeout_s=280)
    assert done.returncode == 0, done.stdout + done.stderr
    for name in ("perl/small", "perl/small/forks"):
        for workload in ("plaintext", "json"):
            assert f"{name}@docker single {workload}: passed" in done.stdout
    assert _state_of_the_clone(CLONE) == before


@pytest.mark.parametrize("network", ["host", "bridge"])
def test_a_test_is_measured_under_each_workload_that_it_declares(harness: Harness, network: str) -> None:
    words = ("perl/small", "perl/asks-database/mongo", "--skip-missing", "--isolate", "docker", "--network", network)
    done = harness.run("bench", *CATALOGUE, *words, "--workload", "plaintext", "--workload", "json", *QUICK, timeout_s=280)
    assert "skipped perl/asks-database/mongo" in done.stderr
    assert "requires a database (mongodb) that Debian does not package: not supported" in done.stderr
    results = json.loads(done.stdout)["results"]
    assert sorted(result["workload"] for result in results) == ["json", "plaintext"], done.stderr
    for result in results:
        (trial,) = result["rounds"]
        assert trial["response"]["status"] == 200, trial
        assert trial["response"]["body"].lower().count("hello, world!") == 1
        assert trial["measurement"]["requests"]["ok"] > 0, trial
        assert (trial["learned"] or {}).get("body_bytes") == (27 if result["workload"] == "json" else 13)


@pytest.mark.parametrize("network", ["host", "bridge"])
def test_tests_find_their_database_containers_by_name(harness: Harness, debian_base: str, network: str) -> None:
    systems = {"perl/asks-database": "postgres", "perl/asks-database/mysql": "mysql"}
    env = {**harness.env, "HTTPBENCH_REGISTRY": REGISTRY}
    base = f"{REGISTRY}/library/debian:bookworm-slim"
    containers.docker("tag", debian_base, base)
    workloads = [word for each in ("db", "update-20", "fortune") for word in ("--workload", each)]
    words = (*CATALOGUE, *systems, "--isolate", "docker", "--network", network, *workloads, *QUICK, "-d", "2s", "--timeout", "10s")
    try:
        done = harness.run("bench", *words, timeout_s=600, env=env)
    finally:
        containers.docker("rmi", "--no-prune", base)
    results = json.loads(done.stdout)["results"]
    assert len(results) == 6, done.stderr
    for result in results:
        (trial,) = result["rounds"]
        assert trial["verdict"]["kind"] not in ("invalid", "failed"), trial["verdict"]
        assert trial["database"]["system"] == systems[result["target"].partition("@")[0]]
        assert trial["database_usage"]["cpu_cores_mean"] > 0


def _state_of_the_clone(folder: Path) -> str:
    """Return git's status of the folder, in which builds must leave no files."""
    done = subprocess.run(["git", "status", "--porcelain", "--ignored", folder], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout
