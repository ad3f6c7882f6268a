"""Tests of a framework in HttpArena's layout. Its folder stays unchanged, and the data set comes from the clone."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests import containers
from tests.harness import TARGETS, Harness

pytestmark = pytest.mark.container

CATALOGUE = ("--targets", f"httparena:{TARGETS / 'httparena'}")
BASE = "httpbench.test/perl:5"
WORKLOADS = ("httparena-baseline", "httparena-baseline-post", "httparena-json", "httparena-pipelined")
QUICK = ("-c", "8", "-d", "500ms", "--warmup", "200ms", "--rounds", "1", "-q", "--export-json", "-")


@pytest.fixture(scope="module", autouse=True)
def _base(debian_base: str) -> Iterator[None]:
    """Tag a minimal Debian, which includes Perl, as the base image that the Dockerfiles name."""
    containers.docker("tag", debian_base, BASE)
    yield
    containers.docker("rmi", "--no-prune", BASE)


def test_a_framework_follows_the_published_rules(harness: Harness) -> None:
    done = harness.run("verify", *CATALOGUE, "perl/small", "--isolate", "docker", "--scaling", "single", timeout_s=280)
    assert done.returncode == 0, done.stdout + done.stderr
    for workload in WORKLOADS:
        assert f"perl/small@docker single {workload}: passed" in done.stdout


def test_a_framework_is_measured_under_each_supported_test(harness: Harness) -> None:
    words = [word for name in WORKLOADS for word in ("--workload", name)]
    done = harness.run("bench", *CATALOGUE, "perl/small", "--isolate", "docker", *words, *QUICK, timeout_s=280)
    results = json.loads(done.stdout)["results"]
    assert sorted(result["workload"] for result in results) == sorted(WORKLOADS), done.stderr
    for result in results:
        (trial,) = result["rounds"]
        assert trial["measurement"]["requests"]["ok"] > 0, trial
        assert "target=/data/dataset.json,readonly" in trial["container"]["command"]
