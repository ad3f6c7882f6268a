"""Tests that a lock file or a hash pins everything that a built-in target downloads, and that the build enforces this."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from httpbench.catalog import load
from httpbench.paths import manifests, root

FOLDERS = [path.parent for path in manifests(root() / "targets")]
TARGETS = load().targets.values()
COMMANDS = {folder: [argv for target in TARGETS if target.folder == str(folder) for argv in target.build.commands] for folder in FOLDERS}

LOAD_NOTHING = {"gcc", "g++", "cc", "ldc2", "crystal", "sha256sum", "tar"}
CHECKED_HERE = {"cargo", "curl", "dart", "dotnet", "dub", "go", "mix", "mvn", "nimble", "npm", "python3", "venv/bin/pip", "venv/bin/python"}


def having(pattern: str) -> list[Path]:
    """Return the files of built-in targets that match the pattern."""
    return sorted(path for folder in FOLDERS for path in folder.glob(pattern))


def commands_with(folder: Path, *words: str) -> list[tuple[str, ...]]:
    return [argv for argv in COMMANDS[folder] if all(word in argv for word in words)]


def name(path: Path) -> str:
    return str(path.relative_to(root() / "targets"))


def test_every_program_that_builds_a_target_has_a_test() -> None:
    """Anyone who adds a package manager must also add a test below."""
    assert {argv[0] for commands in COMMANDS.values() for argv in commands} <= LOAD_NOTHING | CHECKED_HERE


@pytest.mark.parametrize("path", having("requirements*.txt"), ids=name)
def test_pip_requires_hashes(path: Path) -> None:
    entries = [line for line in path.read_text().replace("\\\n", " ").splitlines() if line and not line.startswith("#")]
    assert entries
    assert all(re.match(r"[\w.-]+==\S+ .*--hash=sha256:[0-9a-f]{64}", entry) for entry in entries)
    assert commands_with(path.parent, "--requirement", path.name, "--require-hashes")


def test_pip_downloads_nothing_else() -> None:
    for folder in FOLDERS:
        for argv in commands_with(folder, "venv/bin/pip"):
            assert "--require-hashes" in argv


def test_cargo_builds_from_a_lock_file() -> None:
    for folder in FOLDERS:
        for argv in commands_with(folder, "cargo"):
            assert "--locked" in argv, folder
            assert (folder / "Cargo.lock").exists()


def test_npm_installs_from_a_lock_file_with_hashes() -> None:
    for path in having("package.json"):
        if "dependencies" in json.loads(path.read_text()):
            lock = json.loads((path.parent / "package-lock.json").read_text())
            assert all("integrity" in package for place, package in lock["packages"].items() if place)
            assert commands_with(path.parent, "npm", "ci")


def test_go_has_checksums_for_its_modules() -> None:
    for path in having("go.mod"):
        assert ("require" not in path.read_text()) or (path.parent / "go.sum").exists()


def test_dub_has_a_lock_file() -> None:
    for path in having("dub.sdl"):
        assert ("dependency" not in path.read_text()) or (path.parent / "dub.selections.json").exists()


def test_pub_builds_from_a_lock_file() -> None:
    for path in having("pubspec.yaml"):
        assert (path.parent / "pubspec.lock").exists()
        assert commands_with(path.parent, "dart", "--enforce-lockfile")


def test_mix_has_a_lock_file_with_hashes() -> None:
    for path in having("mix.exs"):
        entries = [line for line in (path.parent / "mix.lock").read_text().splitlines() if ":hex" in line]
        assert entries
        assert all(re.search(r'"[0-9a-f]{64}"\},$', line) for line in entries)


def test_nuget_downloads_nothing() -> None:
    """The SDK contains everything that the projects use. A NuGet package would require a packages.lock.json."""
    for path in having("*.csproj"):
        assert "PackageReference" not in path.read_text()


def test_nimble_pins_commits() -> None:
    for path in having("*.nimble"):
        required = re.findall(r'^requires "([^"]+)"', path.read_text(), re.MULTILINE)
        assert all(re.fullmatch(r"nim >= [\d.]+|\w+#[0-9a-f]{40}", each) for each in required)


@pytest.mark.parametrize("program", ["mvn", "curl"])
def test_downloads_without_a_lock_file_are_verified_by_checksum(program: str) -> None:
    for folder in FOLDERS:
        if commands_with(folder, program):
            assert re.match(r"[0-9a-f]{64}  ", (folder / "SHA256SUMS").read_text())
            assert commands_with(folder, "sha256sum", "--check", "--strict", "SHA256SUMS")


def test_docs_install_with_cargo_from_lock_files() -> None:
    pages = [*root().glob("*.md"), *(root() / "docs").glob("*.md")]
    assert pages
    for page in pages:
        for line in re.findall(r"cargo install.*", page.read_text()):
            assert "--locked" in line, page
