"""Tests that images are named after their sources and built with the arguments that the Dockerfile declares."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from threading import Event

import pytest

from httpbench.errors import BuildError
from httpbench.host import inherited
from httpbench.isolate import engine, labels
from httpbench.model import Build, ContainerRecipe, Engine, Feature, Isolation, Target
from httpbench.run.builds import image
from httpbench.run.builds.states import State, state_of
from tests.factories import make_target
from tests.programs import program

DOCKER = Isolation(engine=Engine.DOCKER)


@pytest.fixture
def target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Target:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in (*inherited.PROXIES, *inherited.REGISTRIES):
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "sources"
    folder.mkdir()
    (folder / "Dockerfile").write_text("ARG BASE=debian\nFROM ${BASE}\nARG GOPROXY\nARG OTHER\nCOPY server .\n")
    (folder / "server").write_text("one")
    (folder / "target.toml").write_text("notes = 'one'")
    return make_target("golang/web", folder=str(folder), isolation=DOCKER)


def docker(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Fake a docker that logs its arguments and has the images that the file ``images`` lists."""
    missing = 'echo "Error: No such image: $5" >&2; exit 1'
    shown = f'case "$4" in *Labels*) cat {folder}/label;; *) echo id;; esac'
    known = f'case "$1 $2" in "image inspect") grep -qx "$5" {folder}/images || {{ {missing}; }}; {shown};; esac'
    program(folder, "docker", f'echo "$@" >> {folder}/calls\n{known}\n{script}')
    (folder / "images").touch()
    (folder / "label").touch()
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    engine.version.cache_clear()


def test_the_image_name_depends_only_on_sources_and_recipe(target: Target) -> None:
    folder, first = Path(target.folder), image.image_of(target)
    assert first.startswith("httpbench/server-golang-web:")
    (folder / "target.toml").write_text("notes = 'two'")
    assert image.image_of(target) == first
    other = target.model_copy(update={"container": ContainerRecipe(base="alpine")})
    assert image.image_of(other) != first
    (folder / "server").write_text("two")
    assert image.image_of(target) != first


def test_each_set_of_features_has_its_own_image(target: Target, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build = Build(commands=(("make", "{features}"),), features=(Feature.TLS,))
    plain = target.model_copy(update={"build": build})
    tls = plain.model_copy(update={"features": (Feature.TLS,)})
    for identify in (image.image_of, image.log_of, image._owner):
        assert identify(plain) != identify(tls)
    assert "FEATURES=tls" in image.build_command(tls, "name:tag")
    assert "FEATURES=" in image.build_command(plain, "name:tag")
    docker(tmp_path, monkeypatch, "")
    with pytest.raises(BuildError, match="its Dockerfile ignores its optional features") as error:
        image.build_image(tls, Event())
    assert error.value.hint == f"write ARG FEATURES= and use it in {target.folder}/Dockerfile"


def test_the_users_own_image_keeps_its_name(target: Target) -> None:
    own = DOCKER.model_copy(update={"image": "nginx:1.27"})
    assert image.image_of(target.model_copy(update={"isolation": own})) == "nginx:1.27"


def test_a_build_gets_the_recipe_and_the_registries_that_the_dockerfile_declares(target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOPROXY", "https://proxy.example")
    monkeypatch.setenv("NPM_CONFIG_REGISTRY", "https://npm.example")
    recipe = ContainerRecipe(base="alpine", build_args={"OTHER": "x"})
    words = image.build_command(target.model_copy(update={"container": recipe}), "name:tag")
    assert words[:4] == ("docker", "build", "--network", "host")
    given = [words[at + 1] for at, word in enumerate(words) if word == "--build-arg"]
    assert given == ["BASE=alpine", "OTHER=x", "GOPROXY"], "the value of a registry's address may be a secret"
    assert words[-1] == target.folder


def test_an_image_is_built_once(target: Target, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = image.image_of(target)
    build = f"echo {name} >> {tmp_path}/images; echo {image._owner(target)} > {tmp_path}/label"
    docker(tmp_path, monkeypatch, f'[ "$1" != build ] || {{ {build}; }}')
    assert state_of(target).state is State.NOT_BUILT
    assert image.build_image(target, Event()) == "id"
    assert state_of(target).state is State.BUILT
    image.build_image(target, Event())
    assert sum(call.startswith("build ") for call in (tmp_path / "calls").read_text().splitlines()) == 1


def test_only_images_of_earlier_sources_are_removed(target: Target, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Podman prints some image ids with the prefix ``sha256:``, and others without it."""
    name = image.image_of(target)
    docker(tmp_path, monkeypatch, f'case "$1" in build) echo {name} >> {tmp_path}/images;; images) echo sha256:id sha256:old;; esac')
    image.build_image(target, Event())
    removed = [call for call in (tmp_path / "calls").read_text().splitlines() if call.startswith("rmi")]
    assert removed == ["rmi sha256:old"]


def test_an_image_of_another_checkout_is_neither_used_nor_removed(target: Target, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = target.model_copy(update={"folder": f"{tmp_path}/other"})
    shutil.copytree(target.folder, other.folder)
    assert image.image_of(other) == image.image_of(target)
    docker(tmp_path, monkeypatch, "")
    (tmp_path / "images").write_text(f"{image.image_of(target)}\n")
    (tmp_path / "label").write_text(image._owner(other))
    image.build_image(target, Event())
    calls = (tmp_path / "calls").read_text().splitlines()
    assert sum(call.startswith("build ") for call in calls) == 1
    filters = [call for call in calls if "label=" in call]
    assert filters
    assert all(call.endswith(f"label={labels.TARGET}={image._owner(target)}") for call in filters)


def test_podman_images_are_marked_as_local(target: Target) -> None:
    podman = target.model_copy(update={"isolation": Isolation(engine=Engine.PODMAN)})
    assert image.image_of(podman) == f"localhost/{image.image_of(target)}"


def test_a_failed_build_is_reported_with_its_log(target: Target, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    docker(tmp_path, monkeypatch, 'if [ "$1" = build ]; then echo no such base; exit 1; fi')
    with pytest.raises(BuildError, match="the build of its image failed, exit code 1") as caught:
        image.build_image(target, Event())
    assert "no such base" in (caught.value.log_tail or "")


def test_a_missing_dockerfile_is_reported(target: Target, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    docker(tmp_path, monkeypatch, "")
    (Path(target.folder) / "Dockerfile").unlink()
    state = state_of(target)
    assert (state.state, state.reason) == (State.MISSING, "a Dockerfile")
    with pytest.raises(BuildError, match="it has no Dockerfile, so it cannot run in a container"):
        image.build_image(target, Event())


def test_an_image_that_cannot_be_pulled_is_reported(target: Target, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    docker(tmp_path, monkeypatch, '[ "$1" != pull ] || { echo "manifest unknown" >&2; exit 1; }')
    own = target.model_copy(update={"isolation": DOCKER.model_copy(update={"image": "web:9"})})
    with pytest.raises(BuildError, match="image web:9 is not available: docker pull failed: manifest unknown"):
        image.build_image(own, Event())
