"""Tests of errors for invalid files."""

from __future__ import annotations

from pathlib import Path

import pytest

from httpbench import catalog
from httpbench.catalog import files
from httpbench.errors import CatalogError
from httpbench.model import Suite, TargetFile

GOOD = """
kind = "server"
language = "c"
framework = "epoll"
category = "micro"
upstream = "https://example.org/"

[[variant]]
name = "level"
run = ["./server", "{host}", "{port}"]
scaling = ["single", "prefork"]
"""


def problems(tmp_path: Path, text: str) -> list[str]:
    path = tmp_path / "target.toml"
    path.write_text(text)
    with pytest.raises(CatalogError) as caught:
        files.read(path, TargetFile)
    return [problem.removeprefix(f"{path}: ") for problem in caught.value.problems]


def test_a_valid_file_becomes_a_model(tmp_path: Path) -> None:
    path = tmp_path / "target.toml"
    path.write_text(GOOD)
    assert files.read(path, TargetFile).variant[0].name == "level"


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (
            GOOD.replace('"micro"', '"mikro"'),
            'category: "mikro" is not allowed; use one of micro, platform, fullstack (did you mean "micro"?)',
        ),
        (GOOD.replace("framework =", "framwork ="), "framework: missing"),
        (
            GOOD.replace("scaling", "scalling"),
            "variant[0].scalling: unknown key; allowed here: build, env, http2, https, limits, name, notes, run, scaling, tuning, "
            'two_backends (did you mean "scaling"?)',
        ),
        (
            GOOD.replace('"prefork"', '"multi", "prefork"'),
            "variant[0]: scaling: multi and prefork are two ways to fill the cores: choose one",
        ),
        (GOOD.replace("https://", "http://"), 'upstream: "http://example.org/" does not match ^https://'),
        (GOOD.replace("{port}", "{prot}"), "unknown placeholder {prot}"),
        (GOOD.replace('["./server", "{host}", "{port}"]', "[]"), "variant[0].run: must not be empty"),
        (GOOD.replace("kind =", "kind"), "not TOML"),
        ("mode = 'http'\n" + GOOD, "mode: only proxies have a mode, and this is a server"),
        (GOOD + "[[variant]]\nrun = ['x']\n", "variant: each of several variants requires a name"),
        (GOOD + "[build]\ncommands = ['make']\n", 'build.commands[0]: must be an array: [ … ], not "make"'),
        (GOOD + "[build.env]\nJOBS = 2\n", 'build.env.JOBS: must be a string, not "2"'),
        (GOOD + "[build]\ntimeout_s = -1\n", 'build.timeout_s: should be greater than 0, not "-1"'),
        (GOOD + "[build]\nartifacts = ['/bin/x']\n", 'build.artifacts[0]: "/bin/x" does not match'),
        (GOOD + "[[requires]]\nprogram = 'gcc'\nversion = 'new'\napt = ['gcc']\n", 'requires[0].version: "new" does not match'),
        (GOOD + "[[requires]]\nfile = 'stdio.h'\napt = ['libc6-dev']\n", 'requires[0].file: "stdio.h" does not match'),
        (GOOD.partition("[[variant]]")[0] + "variant = [1]\n", 'variant[0]: must be a table, not "1"'),
        (GOOD + "[[requires]]\nprogram = './gcc'\napt = ['gcc']\n", 'requires[0].program: "./gcc" does not match'),
        (GOOD + "[[requires]]\nprogram = 'gcc'\n", "requires[0]: give apt or install, so that a user knows how to install it"),
    ],
)
def test_each_mistake_gives_a_sentence(tmp_path: Path, wrong: str, sentence: str) -> None:
    assert any(sentence in problem for problem in problems(tmp_path, wrong))


def test_all_mistakes_are_reported_at_once(tmp_path: Path) -> None:
    wrong = GOOD.replace('"micro"', '"mikro"').replace('"server"', '"sever"', 1).replace("scaling", "scalling")
    assert len(problems(tmp_path, wrong)) == 3


def test_mistakes_of_all_files_are_reported_at_once(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "target.toml").write_text(GOOD.replace('"micro"', '"mikro"'))
    with pytest.raises(CatalogError) as caught:
        catalog.load([tmp_path, tmp_path / "missing"])
    assert len(caught.value.problems) == 3


def test_a_folder_without_targets_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match=r"contains no target\.toml"):
        catalog.load([tmp_path])


def test_a_folder_may_be_given_twice(tmp_path: Path) -> None:
    inner = tmp_path / "mine"
    inner.mkdir()
    (inner / "target.toml").write_text(GOOD.replace("epoll", "mine"))
    assert "c/mine/level" in catalog.load([inner, inner, tmp_path]).targets


def test_an_id_can_be_used_only_once(tmp_path: Path) -> None:
    (tmp_path / "target.toml").write_text(GOOD)
    with pytest.raises(CatalogError, match='"c/epoll/level" is already defined in'):
        catalog.load([tmp_path])


def test_a_binary_file_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "suite.toml"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(CatalogError, match="not UTF-8"):
        files.read(path, Suite)


@pytest.mark.parametrize(
    "entry", ["-oAPT::Update::Pre-Invoke::=touch /tmp/x", "--purge", "nginx-", "nginx=1.22", "nginx/sid", "Nginx", "a b", "a", ""]
)
def test_an_apt_entry_that_is_not_a_package_is_an_error(tmp_path: Path, entry: str) -> None:
    (found,) = problems(tmp_path, GOOD + f"[[requires]]\nprogram = 'gcc'\napt = ['gcc', '{entry}']\n")
    assert found.startswith(f'requires[0].apt[1]: "{entry}" does not match ^[a-z0-9]')


@pytest.mark.parametrize("entry", ["gcc", "g++", "libstdc++-12-dev", "python3.11", "7zip"])
def test_an_apt_entry_that_is_a_package_is_accepted(tmp_path: Path, entry: str) -> None:
    path = tmp_path / "target.toml"
    path.write_text(GOOD + f"[[requires]]\nprogram = 'gcc'\napt = ['{entry}']\n")
    assert files.read(path, TargetFile).requires[0].apt == (entry,)
