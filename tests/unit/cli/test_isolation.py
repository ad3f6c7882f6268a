"""Tests of the options for containers: valid and invalid combinations, and their effect on a suite."""

from __future__ import annotations

from typing import Any

import pytest

from httpbench.cli.options.isolation import IsolationOptions
from httpbench.errors import UsageError
from httpbench.model import Engine, Isolation, NetworkMode, Runtime, Suite, SuiteLoad, size_bytes


def options(**changes: Any) -> IsolationOptions:
    return IsolationOptions(**{"isolate": None, "cpus": None, "memory": None, "network": None, **changes})


def test_targets_are_processes_by_default() -> None:
    assert options().places() == [None]


def test_every_combination_of_isolation_and_network_is_measured() -> None:
    found = options(isolate=("process", "docker"), network=("host", "bridge"), cpus=0.5).places()
    host = Isolation(engine=Engine.DOCKER, cpus=0.5)
    assert found == [None, host, host.model_copy(update={"network": NetworkMode.BRIDGE})]


def test_options_override_a_suites_isolation_and_limits() -> None:
    suite = Suite(
        name="x",
        description="x",
        targets=("c",),
        workloads=("plaintext",),
        load=(SuiteLoad(),),
        isolate=(Runtime.DOCKER,),
        cpus=2,
        memory="1g",
    )
    assert options().places(suite) == [Isolation(engine=Engine.DOCKER, cpus=2, memory_bytes=1 << 30)]
    assert options(cpus=3.0, memory=64 << 20).places(suite) == [Isolation(engine=Engine.DOCKER, cpus=3, memory_bytes=64 << 20)]
    assert options(isolate=("process",)).places(suite) == [None]


@pytest.mark.parametrize(("name", "value"), [("cpus", 1.0), ("memory", 64 << 20), ("network", ("bridge",))])
def test_limits_without_a_container_are_refused(name: str, value: object) -> None:
    with pytest.raises(UsageError, match=f"--{name} applies to containers only"):
        options(**{name: value}).places()


def test_images_run_in_docker_by_default() -> None:
    assert options().of_images(["web"]) == Isolation(engine=Engine.DOCKER)
    assert options(isolate=("podman",)).of_images(["web"]) == Isolation(engine=Engine.PODMAN)
    assert options().of_images([]) is None


@pytest.mark.parametrize("isolate", [("process",), ("docker", "podman"), ("process", "docker")])
def test_images_cannot_run_in_several_engines(isolate: tuple[str, ...]) -> None:
    with pytest.raises(UsageError, match="one container engine"):
        options(isolate=isolate).of_images(["web"])


def test_commands_have_no_image() -> None:
    with pytest.raises(UsageError, match="--isolate requires --image"):
        options(isolate=("docker",)).of_images([])


@pytest.mark.parametrize(
    ("text", "size"), [("512m", 512 << 20), ("1g", 1 << 30), ("64MiB", 64 << 20), ("9000000", 9_000_000), ("1.5G", 3 << 29)]
)
def test_sizes_have_the_format_of_docker(text: str, size: int) -> None:
    assert size_bytes(text) == size


@pytest.mark.parametrize("text", ["much", "1m", "-1g", ""])
def test_an_invalid_or_too_small_size_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a size of at least 6m"):
        size_bytes(text)
