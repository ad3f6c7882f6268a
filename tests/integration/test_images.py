"""Tests of the images of targets, built from substitutes for the official base images."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests import containers
from tests.harness import Harness

pytestmark = pytest.mark.container

REGISTRY = "httpbench.test"
BASE = f"{REGISTRY}/library/debian:bookworm-slim"


@pytest.fixture(scope="module")
def registry(debian_base: str) -> Iterator[dict[str, str]]:
    """Return an environment that uses a registry on this machine, which contains only Debian's base image."""
    had = containers.docker("images", "--quiet", BASE)
    if not had:
        containers.docker("tag", debian_base, BASE)
    yield {"HTTPBENCH_REGISTRY": REGISTRY}
    if not had:
        containers.docker("rmi", "--no-prune", BASE)


@pytest.mark.parametrize("target", ["c/epoll/edge", "c/nginx"])
def test_an_image_passes_the_contract(harness: Harness, registry: dict[str, str], target: str) -> None:
    """One target is compiled in a build stage. The other comes from a package."""
    done = harness.run("verify", target, "--isolate", "docker", env={**harness.env, **registry}, timeout_s=280)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{target}@docker single: passed" in done.stdout


def test_a_language_without_a_base_image_is_listed_with_the_missing_image(harness: Harness, registry: dict[str, str]) -> None:
    listed = harness.run("list", "dart", "c/nginx", "--isolate", "docker", "--json", env={**harness.env, **registry})
    states = {entry["id"]: entry for entry in json.loads(listed.stdout)}
    dart = states["dart/http-server@docker"]
    missing = f"{REGISTRY}/library/dart:3.9"
    assert (dart["state"], dart["fix"]) == ("missing", f"docker pull {missing}")
    assert dart["reason"] == f"base image {missing}: not on this machine, and its registry does not provide it"
    assert states["c/nginx@docker"]["state"] in ("not built", "built")
