"""Tests of the languages that ``httpbench new`` offers."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from httpbench.catalog import load
from httpbench.catalog.new_target import LANGUAGES, create
from httpbench.cli.verbs.new import new


def test_each_language_with_a_template_is_offered() -> None:
    (option,) = [each for each in new.params if each.name == "language"]
    assert isinstance(option.type, click.Choice)
    assert tuple(option.type.choices) == LANGUAGES


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_new_target_is_valid(tmp_path: Path, language: str) -> None:
    made = create(tmp_path / "folder", "my-server", language)
    target = load((tmp_path,)).targets[made.id]
    assert target.framework == "my-server"
    assert all("NAME" not in file.read_text(encoding="utf-8") for file in made.files)
