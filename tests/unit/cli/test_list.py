"""Tests of the table and the JSON of ``httpbench list``."""

from __future__ import annotations

import json
import os
import shlex
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from click.testing import CliRunner

from httpbench import catalog, run
from httpbench.cli.main import cli
from httpbench.cli.terminal import console, target_groups
from httpbench.errors import CatalogError
from httpbench.run import Missing, State, TargetState, mark_verified
from httpbench.run.builds.build import build
from tests.factories import make_proof
from tests.programs import program

CLONE = Path(__file__).parents[2] / "targets" / "techempower"
OWN = """
kind = "server"
language = "mine"
framework = "own"
category = "micro"
upstream = "https://example.org/"

[[variant]]
run = ["./server", "{host}", "{port}"]
scaling = ["single"]
"""
KEYS = "id kind language framework variant category tuning scaling limits upstream notes "
KEYS += "state reason fix version builds proof recorded unchecked paths stages entry"


def listed(*words: str) -> dict[str, dict[str, Any]]:
    """Return the targets from the JSON of ``list``, by id."""
    return {target["id"]: target for target in json.loads(CliRunner().invoke(cli, ["list", "--json", *words]).output)}


def test_each_target_has_all_keys() -> None:
    done = CliRunner().invoke(cli, ["list", "--json", "c/epoll"])
    found = json.loads(done.output)
    assert [target["id"] for target in found] == ["c/epoll/level", "c/epoll/edge"]
    assert all(list(target) == KEYS.split() for target in found)


def test_an_invalid_file_does_not_hide_other_targets(tmp_path: Path) -> None:
    for name in ("good", "bad"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "target.toml").write_text(OWN.replace("own", name))
    (tmp_path / "bad" / "target.toml").write_text("language = 1")
    done = CliRunner().invoke(cli, ["list", "--targets", str(tmp_path), "--json", "mine"])
    assert [target["id"] for target in json.loads(done.stdout)] == ["mine/good"]
    assert isinstance(done.exception, CatalogError)
    assert f"{tmp_path}/bad/target.toml: " in str(done.exception)
    done = CliRunner().invoke(cli, ["list", "--targets", str(tmp_path), "mine/bad"])
    assert isinstance(done.exception, CatalogError)
    assert done.stdout == ""
    assert f"{tmp_path}/bad/target.toml: " in str(done.exception)


def test_each_target_has_its_whole_id_and_its_fix_on_80_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console, "WIDTH_WITHOUT_TERMINAL", 80)
    done = CliRunner().invoke(cli, ["list", "--long"])
    header, *lines = done.stdout.splitlines()
    assert header.split() == ["Target", "State", "Fix"]
    assert max(map(len, lines)) <= 80
    assert {line.split()[0] for line in lines if not line.startswith(" ")} >= set(catalog.load().targets)
    assert "Not shown at this width: Category, Tuning, Scaling, Features, Proof." in lines


def states_of(monkeypatch: pytest.MonkeyPatch, states: dict[str, State]) -> None:
    """Make these targets have these states, and all others be ready."""
    monkeypatch.setattr(
        run, "states", lambda targets: [TargetState(states.get(target.id, State.READY), "why", "fix") for target in targets]
    )


def test_targets_are_listed_in_groups_on_80_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console, "WIDTH_WITHOUT_TERMINAL", 80)
    states_of(
        monkeypatch, {"c/epoll/edge": State.NOT_BUILT, "c/io_uring": State.MISSING, "rust/hyper": State.MISSING, "golang/gin": State.BROKEN}
    )
    lacks = [
        Missing(catalog.load().targets[name].requires[0], "not found in PATH", "how to get it", packages, (name,))
        for name, packages in {"c/io_uring": ("gcc",), "rust/hyper": ()}.items()
    ]
    monkeypatch.setattr(target_groups, "missing_of", lambda required: [lack for lack in lacks if set(lack.required_by) <= set(required)])
    done = CliRunner().invoke(cli, ["list"])
    lines = done.stdout.splitlines()
    titles = [line for line in lines if not line.startswith(" ")]
    assert [title.rpartition(" (")[0] for title in titles] == [*target_groups.TITLES[:5]]
    assert max(map(len, lines)) <= 80
    assert {word.rstrip("*") for line in lines for word in line.split()} >= set(catalog.load().targets)
    assert lines[lines.index(titles[2]) + 1] == "  servers  c/io_uring"
    (requirement, address) = lines[lines.index(titles[3]) + 1 : lines.index(titles[4])]
    assert requirement.split() == ["cargo", "≥", "1.85", "rust/hyper"]
    assert address.strip() == "how to get it"
    assert lines[-2].split() == ["why", "golang/gin"]
    assert "to install these packages: httpbench setup\n" in done.stderr


def test_the_users_own_targets_are_listed_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "target.toml").write_text(OWN)
    states_of(monkeypatch, {"mine/own": State.MISSING})
    lines = CliRunner().invoke(cli, ["list", "--targets", str(tmp_path)]).stdout.splitlines()
    assert lines[0] == "Your targets (1)"
    assert lines[1].split(maxsplit=1) == ["mine/own*", "requires software: why: fix"]
    table = CliRunner().invoke(cli, ["list", "--long", "--targets", str(tmp_path)]).stdout.splitlines()
    assert table[1].startswith("mine/own ")


def test_a_proof_comes_from_this_machine_or_the_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    recorded = {"c/epoll/edge": make_proof("c/epoll/edge", sources=None)}
    monkeypatch.setattr(catalog, "read_proofs", lambda: recorded)
    script = catalog.load().targets["node/cluster"]
    found = listed("c/epoll", script.id)
    assert found[script.id]["proof"] == "not verified"
    assert found["c/epoll/edge"]["proof"] == "verified 2026-11-22 on Debian GNU/Linux 12 (bookworm), sources not recorded"
    assert found["c/epoll/edge"]["recorded"]["toolchain"] == {"gcc": "12.2.0"}
    assert (found["c/epoll/level"]["proof"], found["c/epoll/level"]["recorded"]) == ("never built", None)
    build(script, Event())
    mark_verified(script, script.scaling, [])
    assert listed(script.id)[script.id]["proof"] == "verified here"


def test_the_proof_of_an_image_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///no/such/socket")
    assert listed("c/nginx", "--isolate", "docker")["c/nginx@docker"]["proof"] == "unknown"


def test_a_catalog_is_listed_on_80_columns_with_one_fix_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    done = CliRunner().invoke(cli, ["list", "--targets", f"techempower:{CLONE}", "perl/tagged", "perl/small"])
    lines = done.stdout.splitlines()
    assert [line.split() for line in lines] == [
        ["Target", "Category", "State"],
        ["perl/small", "platform", "not", "built:", "plaintext,", "json"],
        ["perl/tagged", "micro", "refused:", "techempower", "tags", "it", "as", "broken"],
    ]
    catalog_option = shlex.join(["--targets", f"techempower:{CLONE}"])
    assert done.stderr == f"1 of 2 targets can be run: httpbench verify {catalog_option} --isolate docker TARGET\n"


def test_targets_of_another_projects_catalog_are_listed_with_its_data() -> None:
    found = listed("--targets", f"techempower:{CLONE}")
    assert len(found) == 12
    assert (found["perl/small"]["state"], found["perl/small"]["paths"]) == ("not built", {"plaintext": "/plaintext", "json": "/json"})
    assert found["perl/small"]["entry"]["name"] == "small"
    assert (found["perl/tagged"]["state"], found["perl/tagged"]["reason"]) == ("refused", "techempower tags it as broken")
    assert len(found["perl/wrong"]["entry"]["problems"]) == 8


def test_base_images_of_targets_are_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    program(tmp_path, "docker", "echo docker.io/library/gcc:13 && echo httpbench.test/perl:5")
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    words = ("list", "--targets", f"techempower:{CLONE}", "--images", "c++", "small", "tagged")
    done = CliRunner().invoke(cli, words)
    assert [line.split() for line in done.stdout.splitlines()] == [
        ["Base", "image", "State", "Targets"],
        ["httpbench.test/perl:5", "here", "4:", "c++/older,", "c++/older/fast,", "perl/small,", "…"],
        ["gcc:14", "to", "pull", "2:", "c++/older,", "c++/older/fast"],
    ]
    assert done.stderr.splitlines() == [
        "1 of 2 base images of 4 targets are on this machine",
        "to add one: docker pull IMAGE",
        "not counted: 1 refused target",
    ]
    found = json.loads(CliRunner().invoke(cli, [*words, "--json"]).stdout)
    assert found[1] == {"image": "gcc:14", "is_here": False, "targets": ["c++/older", "c++/older/fast"]}


def test_local_images_are_unknown_without_an_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    done = CliRunner().invoke(cli, ["list", "--images", "golang"])
    assert done.stdout == ""
    assert "docker is not installed" in str(done.exception)


def test_each_target_has_the_stages_of_its_dockerfile() -> None:
    stages = listed("--targets", f"techempower:{CLONE}")["perl/small"]["stages"]
    assert stages == [{"name": None, "base": "httpbench.test/perl:5", "sources": []}]
