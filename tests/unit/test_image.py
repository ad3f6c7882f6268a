"""Tests of httpbench's own container image: its bases, its contents and its commands."""

from __future__ import annotations

import re
import subprocess
import tomllib

import pytest

from httpbench.paths import manifests, root
from tests.dockerfiles import parse

FILE = parse((root() / "Dockerfile").read_text())
COPIED = {
    word
    for instruction in FILE.instructions
    if instruction.name == "COPY" and "--from=" not in instruction.text
    for word in instruction.words[:-1]
}


def test_its_bases_are_those_of_targets() -> None:
    used = {base for path in manifests(root() / "targets") for base in parse((path.parent / "Dockerfile").read_text()).arguments.values()}
    own = [base.partition("@") for name, base in FILE.arguments.items() if name != "REGISTRY"]
    assert {base.replace("rust:1.95-bookworm", "rust:1.95-slim-bookworm") for base, _, _ in own} <= used
    assert all(re.fullmatch("sha256:[0-9a-f]{64}", digest) for _, _, digest in own), "each has a digest"


def test_all_inputs_of_the_wheel_are_copied() -> None:
    project = tomllib.loads((root() / "pyproject.toml").read_text())
    built = {name.removeprefix("/") for name in project["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]}
    assert built <= COPIED | {"pyproject.toml"}


def test_copied_files_exist_and_are_sent_to_the_builder() -> None:
    sent = {line.removeprefix("!") for line in (root() / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert sent == COPIED
    assert all((root() / name).exists() for name in COPIED)


@pytest.mark.parametrize(("goal", "option"), [("single", "--scaling single"), ("multi", "--scaling multi"), ("all", "")])
def test_suites_run_with_the_installed_command(goal: str, option: str) -> None:
    done = subprocess.run(["make", "-n", goal, "HTTPBENCH=httpbench"], cwd=root(), capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"httpbench bench --suite http-servers --skip-missing {option}".strip()
