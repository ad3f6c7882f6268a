"""Tests that users can paste the command line of a container."""

from __future__ import annotations

import shlex
from itertools import pairwise

from httpbench.isolate import Launch
from httpbench.isolate.launch import size_text
from httpbench.model import Engine, Isolation, NetworkMode

ISOLATION = Isolation(engine=Engine.DOCKER, cpus=0.5, memory_bytes=64 << 20, network=NetworkMode.BRIDGE)


def launch(**changes: object) -> Launch:
    values: dict[str, object] = {"isolation": ISOLATION, "image": "web:1", "cpuset": (2, 6), "name": "httpbench-1"}
    return Launch(**{**values, **changes})  # type: ignore[arg-type]


def test_the_command_contains_limits_network_and_program() -> None:
    text = shlex.join(launch(argv=("./server", "a b"), env={"N": "1"}).command())
    assert text.startswith(
        "docker run --name httpbench-1 --init --cpus 0.5 --memory 64m --memory-swap 64m --cpuset-cpus 2,6 --network bridge "
    )
    assert shlex.split(text)[-5:] == ["--env", "N=1", "web:1", "./server", "a b"]


def test_a_secret_is_passed_by_name() -> None:
    one = launch(passed_env={"TOKEN": "secret"})
    assert "secret" not in shlex.join(one.labeled_command())
    assert one.command()[-3:] == ("--env", "TOKEN", "web:1")


def test_labels_identify_the_owner_and_are_not_shown() -> None:
    one = launch(run_id="20261121T080000-c0de")
    labels = [word for word in one.labeled_command() if word.startswith("httpbench.")]
    assert [label.partition("=")[0] for label in labels] == ["httpbench.owner", "httpbench.run"]
    assert "--label" not in one.command()


def test_sizes_are_formatted_for_docker() -> None:
    assert [size_text(512 << 20), size_text(1000)] == ["512m", "1000"]


def test_files_of_this_machine_are_mounted_read_only() -> None:
    command = launch(mounts={"/data/set.json": "/clone/set.json", "/certs": '/a, "b"'}).command()
    mounts = [value for word, value in pairwise(command) if word == "--mount"]
    assert mounts == [
        "type=bind,source=/clone/set.json,target=/data/set.json,readonly",
        'type=bind,"source=/a, ""b""",target=/certs,readonly',
    ]


def test_a_program_can_gain_no_rights_and_start_a_limited_number_of_processes() -> None:
    options = dict(pairwise(launch().command()))
    assert options["--security-opt"] == "no-new-privileges"
    assert options["--pids-limit"] == "32768"


def test_a_container_has_only_the_capabilities_of_its_target() -> None:
    command = launch(capabilities=("SETUID", "CHOWN")).command()
    assert [value for word, value in pairwise(command) if word == "--cap-drop"] == ["ALL"]
    assert [value for word, value in pairwise(command) if word == "--cap-add"] == ["SETUID", "CHOWN"]
    assert "--cap-add" not in launch().command()


def test_a_container_runs_no_health_checks_during_the_load() -> None:
    assert "--no-healthcheck" in launch().command()
