"""Tests of the choice of a build's optional features, and of the builds that they lead to."""

from __future__ import annotations

from pathlib import Path

import pytest

from httpbench import catalog
from httpbench.catalog.files import read
from httpbench.errors import CatalogError
from httpbench.model import Build, Database, Feature, Load, Target, TargetFile
from httpbench.run.builds import build
from httpbench.run.builds.features import builds_of, built_for, built_for_load, usual_builds
from tests.factories import make_target

WORKLOADS = catalog.load().workloads
COMMAND = ("make", "FEATURES={features}")
ALL = make_target("c/x", database=Database.POSTGRES, build=Build(commands=(COMMAND,), features=tuple(Feature)))
MANIFEST = """
kind = "server"
language = "c"
framework = "x"
category = "micro"
upstream = "https://example.org/"
[build]
{build}
[[variant]]
run = ["./server", "{{port}}"]
{variant}
"""


def names(target: Target) -> list[str]:
    return [str(feature) for feature in target.features]


@pytest.mark.parametrize(
    ("workload", "tls", "http2", "needed"),
    [
        ("plaintext", False, False, []),
        ("plaintext", True, False, ["tls"]),
        ("plaintext", False, True, ["http2"]),
        ("json", True, True, ["tls", "http2"]),
        ("fortune", False, False, ["database"]),
        ("db", True, True, ["tls", "http2", "database"]),
    ],
)
def test_a_build_has_what_the_load_and_the_workload_need(workload: str, tls: bool, http2: bool, needed: list[str]) -> None:
    assert names(built_for(ALL, WORKLOADS[workload], tls=tls, http2=http2)) == needed
    assert names(built_for_load(ALL, WORKLOADS[workload], Load(connections=1, duration_s=1, tls=tls, http2=http2))) == needed


def test_a_mix_needs_what_its_parts_need() -> None:
    assert names(built_for(ALL, catalog.load().workload("plaintext:3,db:1"))) == ["database"]


def test_only_declared_features_are_built() -> None:
    target = make_target("c/x", build=Build(commands=(COMMAND,), features=(Feature.TLS,)))
    assert names(built_for(target, WORKLOADS["db"], tls=True, http2=True)) == ["tls"]
    assert built_for(make_target("c/x"), WORKLOADS["db"], tls=True) == make_target("c/x")


def test_the_choice_does_not_depend_on_an_earlier_one() -> None:
    assert names(built_for(built_for(ALL, WORKLOADS["db"], tls=True), WORKLOADS["plaintext"])) == []


def test_the_commands_name_the_features() -> None:
    assert built_for(ALL, WORKLOADS["db"], tls=True).recipe.commands == (("make", "FEATURES=tls,database"),)
    assert ALL.recipe.commands == (("make", "FEATURES="),)


def test_each_build_has_its_own_name_folder_log_and_fingerprint(tmp_path: Path) -> None:
    target = ALL.model_copy(update={"folder": str(tmp_path)})
    builds = builds_of(target)
    assert len(builds) == 2 ** len(Feature)
    assert [each.build_name for each in builds[:3]] == ["c/x", "c/x (tls)", "c/x (http2)"]
    for identify in (lambda each: each.build_name, build.build_folder, build.log_of, build.fingerprint_of):
        assert len({identify(each) for each in builds}) == len(builds)


def test_a_target_without_features_keeps_its_fingerprint(tmp_path: Path) -> None:
    (tmp_path / "server.c").write_text("one")
    target = make_target("c/x", folder=str(tmp_path), build=Build(commands=(("cc", "server.c"),)))
    assert build.fingerprint_of(target).startswith("6522fb4b515e")
    assert builds_of(target) == [target]


def test_the_usual_workloads_need_no_tls() -> None:
    assert [names(each) for each in usual_builds(ALL)] == [[], ["database"]]
    assert usual_builds(make_target("c/x")) == [make_target("c/x")]


@pytest.mark.parametrize(
    ("wanted", "variant", "problem"),
    [
        (
            'commands = [["make"]]\nfeatures = ["tls"]',
            "",
            'build: features: no command passes them on; write "{features}" where they belong',
        ),
        ('commands = [["make", "{features}"]]', "", "build: commands: {features} requires features, a list of tls, http2, database"),
        (
            'commands = [["make", "{features}"]]\nfeatures = ["tsl"]',
            "",
            'build.features[0]: "tsl" is not allowed; use one of tls, http2, database (did you mean "tls"?)',
        ),
        ('commands = [["make", "{features}"]]\nfeatures = ["tls", "tls"]', "", "build: features: a feature is named twice"),
        ('commands = [["make", "{features}"]]\nfeatures = ["tls"]', "", "build.features: tls is never needed"),
        ('commands = [["make", "{features}"]]\nfeatures = ["http2"]', "", "the target declares no http2"),
        ('commands = [["make", "{features}"]]\nfeatures = ["database"]', 'http2 = ["h2c"]', "the target declares no database"),
    ],
)
def test_a_wrong_declaration_is_reported(tmp_path: Path, wanted: str, variant: str, problem: str) -> None:
    path = tmp_path / "target.toml"
    path.write_text(MANIFEST.format(build=wanted, variant=variant))
    with pytest.raises(CatalogError) as error:
        read(path, TargetFile)
    assert problem in str(error.value.problems), error.value.problems


def test_a_variant_can_declare_features_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "target.toml"
    own = 'http2 = ["h2c"]\n[variant.build]\ncommands = [["make", "{features}"]]\nfeatures = ["http2"]'
    path.write_text(MANIFEST.format(build="", variant=own))
    assert read(path, TargetFile).variant[0].build == Build(commands=(("make", "{features}"),), features=(Feature.HTTP2,))
