"""Tests that targets in containers have their own ids, and that targets that can't run in a container are refused."""

from __future__ import annotations

from typing import Any

import pytest

from httpbench.errors import UsageError
from httpbench.model import Engine, Isolation, Kind, NetworkMode, Scaling
from httpbench.run import Servers, everywhere, targets_of
from tests.factories import make_target

DOCKER = Isolation(engine=Engine.DOCKER)
BRIDGE = Isolation(engine=Engine.PODMAN, network=NetworkMode.BRIDGE)


def test_each_place_makes_a_target() -> None:
    found = everywhere([make_target("c/nginx")], [None, DOCKER, BRIDGE])
    assert [target.id for target in found] == ["c/nginx", "c/nginx@docker", "c/nginx@podman-bridge"]
    assert [target.title for target in found] == ["nginx", "nginx@docker", "nginx@podman-bridge"]


def test_a_container_has_one_copy_of_its_program() -> None:
    (found,) = everywhere([make_target(scaling=(Scaling.SINGLE, Scaling.PREFORK))], [DOCKER])
    assert found.scaling == (Scaling.SINGLE,)


@pytest.mark.parametrize(
    ("changes", "isolation", "said"),
    [
        ({"kind": Kind.CLIENT}, DOCKER, "is a client"),
        ({"kind": Kind.PROXY}, BRIDGE, "cannot reach its backend"),
        ({"category": None}, DOCKER, "a command has no image"),
        ({"category": None, "url": "http://127.0.0.1:1"}, DOCKER, "already running"),
    ],
)
def test_targets_that_cannot_be_isolated_are_refused(changes: dict[str, Any], isolation: Isolation, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        everywhere([make_target(**changes)], [isolation])


def test_images_on_the_command_line_become_targets() -> None:
    servers = Servers(images=("nginx:1.27", "localhost:5000/own/web"), isolation=DOCKER, port=80)
    one, two = targets_of(servers)
    assert (one.id, two.id) == ("command/nginx-1.27@docker", "command/web@docker")
    assert one.isolation == DOCKER.model_copy(update={"image": "nginx:1.27", "port": 80})
    assert one.run == ()
