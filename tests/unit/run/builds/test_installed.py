"""Tests of the size of what a build installs."""

from __future__ import annotations

from pathlib import Path

from httpbench.model import Build
from httpbench.run.builds.installed import installed_bytes
from tests.factories import make_target

BUILD = Build(commands=(("make",),), artifacts=("target/release/server",))


def write(path: Path, size: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x" * size)


def test_files_count_once_and_caches_only_if_they_are_artifacts(tmp_path: Path) -> None:
    write(tmp_path / "main.rs", 100)
    write(tmp_path / "lib" / "data", 1000)
    (tmp_path / "lib" / "same").hardlink_to(tmp_path / "lib" / "data")
    write(tmp_path / "target" / "CACHEDIR.TAG", 43)
    write(tmp_path / "target" / "release" / "deps" / "large.rlib", 1_000_000)
    write(tmp_path / "target" / "release" / "server", 5000)
    write(tmp_path / ".zig-cache" / "o", 1_000_000)
    assert installed_bytes(make_target(build=BUILD), tmp_path) == 6100


def test_a_symbolic_link_does_not_add_the_size_of_its_target(tmp_path: Path) -> None:
    write(tmp_path / "server", 1000)
    (tmp_path / "python").symlink_to("/usr/bin/python3")
    assert installed_bytes(make_target(build=Build(commands=(("make",),))), tmp_path) == 1000 + len("/usr/bin/python3")


def test_without_a_build_the_size_is_unknown(tmp_path: Path) -> None:
    write(tmp_path / "run.sh", 100)
    assert installed_bytes(make_target(), tmp_path) is None
