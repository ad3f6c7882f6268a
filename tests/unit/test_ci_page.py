"""Tests of the snippets in docs/ci.md: workflows are valid under their published schemas, and scripts and options parse."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from ruamel.yaml import YAML

from httpbench.cli.main import cli

PAGE = Path(__file__).parents[2] / "docs" / "ci.md"
TOKENS = MarkdownIt("commonmark").parse(PAGE.read_text(encoding="utf-8"))


def blocks(language: str) -> list[str]:
    """Return the code blocks in a language."""
    return [token.content for token in TOKENS if token.type == "fence" and token.info == language]


def commands() -> list[str]:
    """Return each httpbench command in a block as one line."""
    lines = "\n".join([*blocks("sh"), *blocks("yaml")])
    joined = re.sub(r"\\\n\s*", " ", re.sub(r">-\n\s*(.*)\n\s*", r"\1 ", lines))
    return [found.strip() for found in re.findall(r"^\s*(?:- run: )?(httpbench .*)$", joined, re.MULTILINE)]


@pytest.mark.parametrize(("schema", "mark", "count"), [("github-workflows", "jobs:", 3), ("gitlab-ci", "script:", 1)])
def test_workflows_are_valid_under_their_schema(tmp_path: Path, schema: str, mark: str, count: int) -> None:
    workflows = [block for block in blocks("yaml") if mark in block]
    assert len(workflows) == count
    files = [tmp_path / f"{number}.yml" for number in range(count)]
    for file, workflow in zip(files, workflows, strict=True):
        file.write_text(workflow)
    argv = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", *map(str, files)]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_an_invalid_workflow_is_detected(tmp_path: Path) -> None:
    file = tmp_path / "workflow.yml"
    file.write_text(blocks("yaml")[0].replace("runs-on:", "run-on:"))
    argv = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows", str(file)]
    assert subprocess.run(argv, capture_output=True, timeout=60, check=False).returncode == 1


def test_the_page_lists_the_inputs_of_the_action_with_their_defaults() -> None:
    inputs = YAML(typ="safe").load(PAGE.parents[1] / "action.yml")["inputs"]
    rows = re.findall(r"^\| `([\w-]+)` \| [^|]+ \| ([^|]*?) ?\|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert [name for name, _ in rows] == list(inputs)
    shown = {name: default.strip("`") for name, default in rows if default.startswith("`")}
    assert shown == {name: inputs[name]["default"] for name in shown}


def test_no_job_has_both_the_code_of_a_pull_request_and_a_token_that_writes() -> None:
    workflow = YAML(typ="safe").load(blocks("yaml")[0])
    assert workflow["permissions"] == {}
    writing = {name for name, job in workflow["jobs"].items() if "write" in job["permissions"].values()}
    assert writing == {"comment"}
    assert [step["uses"].partition("@")[0] for step in workflow["jobs"]["comment"]["steps"]] == ["OWNER/httpbench/comment"]


def test_scripts_are_valid_shell() -> None:
    for script in blocks("sh"):
        done = subprocess.run(["sh", "-n"], input=script, capture_output=True, text=True, timeout=10, check=False)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("line", commands())
def test_every_option_exists(line: str) -> None:
    words = shlex.split(line.partition(" >>")[0].partition(" #")[0])
    cli.load(words[1]).make_context(words[1], words[2:])


def test_every_ci_system_on_the_page_is_tested() -> None:
    assert len(commands()) >= 7
