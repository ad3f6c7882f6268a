"""Tests that completion, which reads ids without loading models, agrees with the catalog."""

from __future__ import annotations

from pathlib import Path

from httpbench import catalog
from httpbench.paths import ids
from tests.harness import TARGETS

BROKEN = ("not TOML", "kind = 'server'", "variant = 1", "kind = 'server'\nlanguage = 'c'\nframework = 1\n[[variant]]\nname = 'x'")


def test_ids_are_those_of_the_catalog() -> None:
    assert ids() == list(catalog.load().targets)
    assert ids([TARGETS]) == list(catalog.load([TARGETS]).targets)


def test_a_repeated_or_missing_folder_changes_nothing(tmp_path: Path) -> None:
    assert ids([TARGETS, TARGETS, tmp_path / "gone"]) == ids([TARGETS])


def test_a_file_with_errors_is_skipped(tmp_path: Path) -> None:
    for number, text in enumerate(BROKEN):
        (tmp_path / str(number)).mkdir()
        (tmp_path / str(number) / "target.toml").write_text(text)
    assert ids([tmp_path]) == ids()
