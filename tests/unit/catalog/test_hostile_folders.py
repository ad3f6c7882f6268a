"""Tests that files in a folder from a stranger are read without harm: links, devices, huge files and extreme values."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from httpbench import catalog
from httpbench.catalog import files, httparena, techempower, web_frameworks
from httpbench.errors import CatalogError
from httpbench.model import Target, TargetFile
from httpbench.paths import ids, read_small
from tests.hostile_files import PLANTED, Plant

GOOD = """
kind = "server"
language = "c"
framework = "epoll"
category = "micro"
upstream = "https://example.org/"

[[variant]]
name = "level"
run = ["./server", "{host}", "{port}"]
scaling = ["single"]
"""
META = {"display_name": "One", "language": "C", "type": "tuned", "tests": ["baseline"]}
BENCHMARK = {"framework": "one", "tests": [{"default": {"language": "C", "port": 8080, "json_url": "/json"}}]}
EXTREMES = ('{"language": ' + "9" * 5000 + "}", "[" * 100_000, '{"language": ' + "[" * 100_000)


@pytest.fixture(params=PLANTED, ids=lambda made: made.__name__)
def wrong(request: pytest.FixtureRequest) -> Plant:
    made: Plant = request.param
    return made


def arena(folder: Path) -> Path:
    framework = folder / "frameworks" / "one"
    framework.mkdir(parents=True)
    (framework / "meta.json").write_text(json.dumps(META))
    (framework / "Dockerfile").write_text("FROM scratch\n")
    return framework


def problems(target: Target) -> str:
    assert target.entry is not None
    return " ".join(target.entry.problems)


@pytest.mark.timeout(20)
def test_a_small_file_is_a_regular_file_inside_its_folder(tmp_path: Path, wrong: Plant) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (tmp_path / "link").symlink_to(folder)
    (folder / "good").write_text("good")
    (folder / "near").symlink_to("good")
    assert read_small(folder / "near", folder) == read_small(tmp_path / "link" / "good", folder) == "good"
    wrong(folder / "wrong")
    with pytest.raises(OSError, match=PLANTED[wrong]):
        read_small(folder / "wrong", folder)


def test_a_link_to_itself_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("link")
    with pytest.raises(OSError, match="is a link to itself"):
        read_small(tmp_path / "link", tmp_path)


@pytest.mark.timeout(20)
@pytest.mark.parametrize("name", ["meta.json", "Dockerfile"])
def test_a_framework_of_httparena_names_the_file(tmp_path: Path, name: str, wrong: Plant) -> None:
    framework = arena(tmp_path)
    (framework / name).unlink()
    wrong(framework / name)
    (target,) = httparena.read(tmp_path)
    assert f"{name} " in problems(target)
    assert PLANTED[wrong] in problems(target)
    assert ids([Path(f"httparena:{tmp_path}")]) == ([] if name == "meta.json" else ["c/one"])


@pytest.mark.timeout(20)
def test_a_framework_of_techempower_names_the_file(tmp_path: Path, wrong: Plant) -> None:
    framework = tmp_path / "frameworks" / "C" / "one"
    framework.mkdir(parents=True)
    (framework / "benchmark_config.json").write_text(json.dumps(BENCHMARK))
    wrong(framework / "one.dockerfile")
    (target,) = techempower.read(tmp_path)
    assert PLANTED[wrong] in problems(target)


def test_a_dockerfile_above_its_folder_is_refused(tmp_path: Path) -> None:
    framework = tmp_path / "frameworks" / "C" / "one"
    framework.mkdir(parents=True)
    (tmp_path / "frameworks" / "C" / "other.dockerfile").write_text("FROM scratch\n")
    test = {**BENCHMARK["tests"][0]["default"], "dockerfile": "../other.dockerfile"}  # type: ignore[index]
    (framework / "benchmark_config.json").write_text(json.dumps({"framework": "one", "tests": [{"default": test}]}))
    (target,) = techempower.read(tmp_path)
    assert "leads out of" in problems(target)


@pytest.mark.timeout(20)
def test_a_framework_of_web_frameworks_names_the_file(tmp_path: Path, wrong: Plant) -> None:
    framework = tmp_path / "c" / "one"
    framework.mkdir(parents=True)
    (framework / "config.yaml").write_text("")
    wrong(framework / ".Dockerfile.libuv")
    (target,) = web_frameworks.read(tmp_path)
    assert PLANTED[wrong] in problems(target)


@pytest.mark.timeout(20)
def test_a_target_file_is_an_error_for_the_catalog_and_skipped_by_completion(tmp_path: Path, wrong: Plant) -> None:
    wrong(tmp_path / "target.toml")
    with pytest.raises(CatalogError) as caught:
        catalog.load([tmp_path])
    assert PLANTED[wrong] in " ".join(caught.value.problems)
    assert ids([tmp_path]) == ids()


@pytest.mark.parametrize("text", EXTREMES, ids=["integer of 5,000 digits", "deep array", "deep value"])
def test_extreme_values_are_one_sentence(tmp_path: Path, text: str) -> None:
    framework = arena(tmp_path)
    (framework / "meta.json").write_text(text)
    (target,) = httparena.read(tmp_path)
    assert "meta.json is not JSON" in problems(target)
    assert len(problems(target)) < 300
    assert ids([Path(f"httparena:{tmp_path}")]) == []
    (tmp_path / "target.toml").write_text(f"language = {text[text.find(' ') + 1 :]}")
    with pytest.raises(CatalogError) as caught:
        files.read(tmp_path / "target.toml", TargetFile)
    assert "not TOML" in caught.value.problems[0]
    assert len(caught.value.problems[0]) < 300 + len(str(tmp_path))
    assert ids([tmp_path]) == ids()


def test_names_have_a_maximum_length(tmp_path: Path) -> None:
    (tmp_path / "target.toml").write_text(GOOD.replace('"epoll"', f'"{"e" * 5000}"'))
    with pytest.raises(CatalogError) as caught:
        files.read(tmp_path / "target.toml", TargetFile)
    assert len(caught.value.problems[0]) < 300 + len(str(tmp_path))
    framework = arena(tmp_path / "arena")
    (framework / "meta.json").write_text(json.dumps(META | {"language": "c" * 5000}))
    (target,) = httparena.read(tmp_path / "arena")
    assert len(target.id) < 300


def test_a_required_file_does_not_search_the_whole_disk(tmp_path: Path) -> None:
    text = GOOD.replace("[[variant]]", '[[requires]]\nfile = "/**/**/x"\ninstall = "x"\n\n[[variant]]')
    (tmp_path / "target.toml").write_text(text)
    with pytest.raises(CatalogError) as caught:
        files.read(tmp_path / "target.toml", TargetFile)
    assert 'can contain "*" only once' in caught.value.problems[0]


@pytest.mark.parametrize("name", ["certs", "data/static", "data/dataset.json"])
@pytest.mark.parametrize("to", ["/", "/var/run", "../outside"])
def test_httparena_mounts_nothing_outside_of_its_clone(tmp_path: Path, name: str, to: str) -> None:
    (tmp_path / "outside").mkdir()
    clone = tmp_path / "clone"
    arena(clone)
    (clone / name).parent.mkdir(exist_ok=True)
    (clone / name).symlink_to(to if to.startswith("/") else tmp_path / "outside")
    (target,) = httparena.read(clone)
    assert target.mounts == {}
    assert f"{name} cannot be mounted: it leads out of" in problems(target)


def test_httparena_mounts_no_device(tmp_path: Path) -> None:
    arena(tmp_path)
    os.mkfifo(tmp_path / "certs")
    (target,) = httparena.read(tmp_path)
    assert target.mounts == {}
    assert "certs cannot be mounted: it is neither a regular file nor a folder" in problems(target)


def test_httparena_mounts_what_a_link_inside_its_clone_names(tmp_path: Path) -> None:
    arena(tmp_path)
    (tmp_path / "keys").mkdir()
    (tmp_path / "certs").symlink_to("keys")
    (target,) = httparena.read(tmp_path)
    assert target.mounts == {"/certs": str(tmp_path.resolve() / "keys")}
