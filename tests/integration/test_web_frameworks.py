"""Tests of a framework in the layout of the-benchmarker/web-frameworks, with a Dockerfile like those that `rake config` writes there."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests import containers
from tests.harness import TARGETS, Harness

pytestmark = pytest.mark.container

CATALOGUE = ("--targets", f"web-frameworks:{TARGETS / 'web-frameworks'}")
BASE = "httpbench.test/perl:5"
WORKLOADS = ("web-frameworks-create", "web-frameworks-index", "web-frameworks-user")
QUICK = ("-c", "8", "-d", "500ms", "--warmup", "200ms", "--rounds", "1", "-q", "--export-json", "-")


@pytest.fixture(scope="module", autouse=True)
def _base(debian_base: str) -> Iterator[None]:
    """Tag a minimal Debian, which includes Perl, as the base image that the Dockerfiles name."""
    containers.docker("tag", debian_base, BASE)
    yield
    containers.docker("rmi", "--no-prune", BASE)


def test_an_engine_follows_the_published_rules(harness: Harness) -> None:
    done = harness.run("verify", *CATALOGUE, "perl/small/default", "--isolate", "docker", "--scaling", "single", timeout_s=280)
    assert done.returncode == 0, done.stdout + done.stderr
    for workload in WORKLOADS:
        assert f"perl/small/default@docker single {workload}: passed" in done.stdout


def test_an_engine_is_measured_under_all_three_requests(harness: Harness) -> None:
    words = [word for name in WORKLOADS for word in ("--workload", name)]
    done = harness.run("bench", *CATALOGUE, "perl/small/forks", "--isolate", "docker", *words, *QUICK, timeout_s=280)
    results = json.loads(done.stdout)["results"]
    statuses = {result["workload"]: [trial["response"]["status"] for trial in result["rounds"]] for result in results}
    assert statuses == dict(zip(WORKLOADS, ([201], [200], [200]), strict=True)), done.stderr
    assert all(trial["measurement"]["requests"]["ok"] > 0 for result in results for trial in result["rounds"])
