"""Tests of what a release consists of: one version everywhere, and workflows and forms that GitHub accepts."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from httpbench import __version__

ROOT = Path(__file__).parents[2]
GITHUB = ROOT / ".github"
WORKFLOWS = sorted(GITHUB.glob("workflows/*.yml"))
ACTIONS = (ROOT / "action.yml", ROOT / "comment/action.yml")
ACTIONLINT = ROOT / "target/tools/actionlint"


def read(path: Path) -> Any:
    return YAML(typ="safe").load(path)


@pytest.mark.parametrize("crate", sorted(ROOT.glob("crates/*/Cargo.toml")), ids=lambda path: path.parent.name)
def test_crates_have_the_version_of_the_package(crate: Path) -> None:
    assert tomllib.loads(crate.read_text(encoding="utf-8"))["package"]["version"] == __version__


def test_the_citation_the_changelog_and_the_page_of_ci_name_the_version() -> None:
    assert str(read(ROOT / "CITATION.cff")["version"]) == __version__
    assert f"\n## [{__version__}] - " in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    named = re.findall(r"OWNER/httpbench\S*@(\S+)", (ROOT / "docs/ci.md").read_text(encoding="utf-8"))
    assert named == [f"v{__version__}"] * 3


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_actionlint_finds_nothing(workflow: Path) -> None:
    if not ACTIONLINT.exists():
        pytest.skip("actionlint is not installed: make actionlint")
    done = subprocess.run([ACTIONLINT, workflow], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("schema", "paths"),
    [
        ("github-workflows", WORKFLOWS),
        ("github-actions", [*ACTIONS]),
        ("github-issue-forms", [path for path in sorted(GITHUB.glob("ISSUE_TEMPLATE/*.yml")) if path.stem != "config"]),
        ("github-issue-config", [GITHUB / "ISSUE_TEMPLATE/config.yml"]),
    ],
)
def test_files_for_github_are_valid(schema: str, paths: list[Path]) -> None:
    argv = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", *map(str, paths)]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
    assert paths
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", [*WORKFLOWS, *ACTIONS], ids=lambda path: str(path.relative_to(ROOT)))
def test_actions_are_pinned_to_a_commit(path: Path) -> None:
    used = re.findall(r"uses: (.*)", path.read_text(encoding="utf-8"))
    assert used
    assert all(re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}  # v[\d.]+", each) for each in used)


@pytest.mark.parametrize(
    ("tag", "heading", "code"), [("v1.2.3", "2026-12-01", 0), ("v1.2.4", "2026-12-01", 1), ("v1.2.3", "Unreleased", 1)]
)
def test_a_release_requires_a_tag_of_its_version_and_a_date(tmp_path: Path, tag: str, heading: str, code: int) -> None:
    (step,) = [
        step
        for step in read(GITHUB / "workflows/release.yml")["jobs"]["build"]["steps"]
        if step.get("name", "").startswith("Check that the tag")
    ]
    package = tmp_path / "src/httpbench/__init__.py"
    package.parent.mkdir(parents=True)
    package.write_text('__version__ = "1.2.3"\n')
    (tmp_path / "CHANGELOG.md").write_text(f"## [1.2.3] - {heading}\n")
    argv = [shutil.which("bash") or "bash", "-e", "-c", step["run"]]
    assert subprocess.run(argv, cwd=tmp_path, env={"GITHUB_REF_NAME": tag}, capture_output=True, timeout=10, check=False).returncode == code
