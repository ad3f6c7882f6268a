"""Tests of targets' folders and manifests of strangers that would take minutes or fill the memory, or that lead elsewhere."""

from __future__ import annotations

import hashlib
import os
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest

from httpbench.catalog.files import PROBLEMS_MAX, read
from httpbench.errors import BuildError, CatalogError
from httpbench.model import Build, Engine, Isolation, Suite, Target
from httpbench.paths import below
from httpbench.run.builds import bases, build
from httpbench.run.builds.dockerfile import TOO_LONG, VALUE_MAX, BuildStage, arguments, images, stages
from httpbench.run.builds.image import image_of
from tests.factories import make_target
from tests.refused import refused

DEPTH = 1100
"""Number of nested folders, which is more than Python's limit of recursion."""
DEEPEST = "a/" * DEPTH + "run.json.zst"
"""Relative path of the only file within them."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return the folder of a target with one source."""
    made = tmp_path / "sources"
    made.mkdir()
    (made / "server.c").write_text("one")
    return made


@pytest.fixture(scope="module")
def deep(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return a folder with many nested folders, and remove them and their copies at the end. pytest can't remove so many."""
    made = tmp_path_factory.mktemp("strangers") / "deep"
    folder = made
    for _ in range(DEPTH + 1):
        folder.mkdir()
        folder /= "a"
    (made / DEEPEST).touch()
    yield made
    for first in (made / "a", *made.parent.glob("cache/httpbench/builds/*/a")):
        (first.parent / DEEPEST).unlink()
        for depth in range(DEPTH, 0, -1):
            (first.parent / "/".join("a" * depth)).rmdir()


def target(folder: Path, **changes: object) -> Target:
    return make_target("c/x", folder=str(folder), **changes)


def contained(folder: Path) -> Target:
    return target(folder, isolation=Isolation(engine=Engine.DOCKER))


def laughs(first: str) -> str:
    return f"ARG A0={first}\n" + "".join(f"ARG A{n}={f'${{A{n - 1}}}' * 8}\n" for n in range(1, 20)) + "FROM $A19\n"


@pytest.mark.parametrize(
    "text", [laughs("x" * 8), laughs("x" * 500_000), f"ARG A={'x' * 4000}\n" + f"ARG B={'$A' * 1000}\n" * 500 + "FROM $B\n"]
)
def test_variables_within_variables_may_not_fill_the_memory(folder: Path, text: str) -> None:
    (folder / "Dockerfile").write_text(text)
    assert bases.missing_base(contained(folder)) == (
        f'"(a value of more than {VALUE_MAX} characters)" is not the name of an image',
        f"correct {folder}/Dockerfile",
    )


def test_many_stages_share_little_memory() -> None:
    text = "ARG a=\U0001f600" + "x" * 4000 + "\n" + "FROM $a\n" * 50_000
    tracemalloc.start()
    try:
        assert TOO_LONG in images(stages(text, {}))
        assert tracemalloc.get_traced_memory()[1] < 100_000_000
    finally:
        tracemalloc.stop()
    assert list(arguments("".join(f"ARG A{number}={'x' * 4000}\n" for number in range(300)), {}).values())[-1] == TOO_LONG


def test_a_given_value_may_be_long() -> None:
    assert images(stages("ARG A\nFROM " + "$A" * 500_000, {"A": "x" * 1_000_000})) == [TOO_LONG]


def test_a_value_may_have_as_many_characters_as_allowed() -> None:
    whole = "x" * VALUE_MAX
    assert arguments(f"ARG A={whole}\nARG B=$A\nARG C=${{A}}y\nARG D=${{D:-{whole}}}z\n", {}) == {
        "A": whole,
        "B": whole,
        "C": TOO_LONG,
        "D": TOO_LONG,
    }


def test_an_instruction_may_have_many_lines() -> None:
    text = "FROM scratch\nRUN --mount=from=a \\\n" + "x\\\n" * 260_000 + "\nCOPY --from=b \\\n \\ \n x /\n"
    assert stages(text, {}) == [BuildStage(None, "scratch", ("a", "b"))]


def test_a_stage_may_copy_from_many_images() -> None:
    (stage,) = stages("FROM scratch\n" + "ADD --from=a\n" * 79_000, {})
    assert images([stage]) == ["a"]
    assert len(stage.sources) == 79_000


@pytest.mark.parametrize("size", [build.SOURCES_BYTES_MAX + 1, 1 << 40])
def test_large_sources_are_not_read(folder: Path, monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder.parent / "cache"))
    with (folder / "large").open("wb") as file:
        file.truncate(size)
    sentence = f"its sources cannot be read: move large files and links to them out of the folder, which has more than 1 GiB: {folder}"
    failure = build.state(target(folder)).failure
    assert failure is not None
    assert failure.message == sentence
    assert refused(lambda: image_of(contained(folder))) == sentence
    with pytest.raises(BuildError, match="has more than 1 GiB"):
        build.build(target(folder), Event())


def test_all_sources_count_towards_the_limit(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "SOURCES_BYTES_MAX", 10_000)
    (folder / ".git").mkdir()
    (folder / ".git" / "pack").write_bytes(bytes(20_000))
    for number in range(3):
        (folder / f"{number}").write_bytes(bytes(3000))
    assert image_of(contained(folder))
    (folder / "3").write_bytes(bytes(3000))
    assert "cannot be read" in refused(lambda: image_of(contained(folder)))


def test_sources_may_be_deep(deep: Path) -> None:
    assert image_of(contained(deep))
    assert build._sources(deep, ()) == [DEEPEST]


def test_deep_sources_can_be_built(deep: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(deep.parent / "cache"))
    built = build.build(target(deep, build=Build(commands=(("true",),))), Event())
    assert (built.folder / DEEPEST).exists()


def test_a_link_out_of_the_folder_is_not_read(folder: Path) -> None:
    outside = folder.parent / "outside"
    outside.write_text("secret")
    os.utime(outside, (1, 1))
    (folder / "link").symlink_to("../outside")
    before = build.fingerprint_of(target(folder))
    outside.write_text("SECRET")
    os.utime(outside, (1, 1))
    assert build.fingerprint_of(target(folder)) == before
    os.utime(outside, (2, 2))
    assert build.fingerprint_of(target(folder)) != before  # else a changed source would not be built


def test_links_count_like_before(folder: Path) -> None:
    """Recorded fingerprints contain the content behind a link that stays in the folder, and no links to folders or to nothing."""
    inner = folder / "a-b"
    inner.mkdir()
    (inner / "x").write_text("two")
    (folder / "a").mkdir()
    (folder / "a" / "near").symlink_to("../a-b/x")
    (folder / "b").symlink_to("a")
    (folder / "loop").symlink_to("loop")
    (folder / "nothing").symlink_to("/nowhere")
    (folder / "out").symlink_to("/")
    (folder / "target.toml").touch()
    (folder / "server.c").chmod(0o700)
    expected = hashlib.sha256(b"recipe\na/near 0\ntwo\na-b/x 0\ntwo\nserver.c 64\none").hexdigest()
    assert build.hash_of(folder, "recipe", ()) == expected


def test_names_of_sources_may_have_any_bytes(folder: Path) -> None:
    os.close(os.open(os.fsencode(folder) + b"/\xff", os.O_CREAT))
    assert build.fingerprint_of(target(folder))


def test_only_some_problems_are_described(tmp_path: Path) -> None:
    path = tmp_path / "suite.toml"
    path.write_text("".join(f"frame{number:x} = 1\n" for number in range(40_000)))
    with pytest.raises(CatalogError) as caught:
        read(path, Suite)
    described, others = caught.value.problems[:-1], caught.value.problems[-1]
    assert len(described) == PROBLEMS_MAX
    assert f"{path}: frame0: unknown key; allowed here: " in " ".join(described)
    assert others.startswith(f"{path}: 39,9")
    assert others.endswith(" more problems")


@pytest.mark.parametrize(("more", "last"), [(0, "unknown key"), (1, "1 more problem")])
def test_the_number_of_other_problems_is_exact(tmp_path: Path, more: int, last: str) -> None:
    path = tmp_path / "suite.toml"
    path.write_text("x = 1\n")
    with pytest.raises(CatalogError) as caught:
        read(path, Suite)
    missing = len(caught.value.problems) - 1
    path.write_text("".join(f"x{number} = 1\n" for number in range(PROBLEMS_MAX - missing + more)))
    with pytest.raises(CatalogError) as caught:
        read(path, Suite)
    assert f": {last}" in caught.value.problems[-1]
    assert len(caught.value.problems) == PROBLEMS_MAX + more


def exports(folder: Path) -> list[Path]:
    return sorted(Path(entry.path) for entry in below(folder) if entry.name == "run.json.zst")


def test_results_may_be_deep(deep: Path) -> None:
    assert exports(deep) == [deep / DEEPEST]


def test_links_to_folders_of_results_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "c").symlink_to(".")
    for place in (tmp_path, tmp_path / "b"):
        (place / "run.json.zst").touch()
    assert exports(tmp_path) == [tmp_path / "b" / "run.json.zst", tmp_path / "run.json.zst"]
