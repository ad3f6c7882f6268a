"""Tests that completion, which reads ids without loading models, agrees with the catalog, and that planted links aren't followed."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from httpbench import catalog
from httpbench.model.frozen import Name
from httpbench.paths import id_part, ids, open_unlinked, read_unlinked, write_unlinked
from tests.harness import TARGETS

BROKEN = ("not TOML", "kind = 'server'", "variant = 1", "kind = 'server'\nlanguage = 'c'\nframework = 1\n[[variant]]\nname = 'x'")


def test_ids_are_those_of_the_catalog() -> None:
    assert ids() == list(catalog.load().targets)
    assert ids([TARGETS]) == list(catalog.load([TARGETS]).targets)


@given(st.text())
def test_every_text_becomes_a_valid_name(text: str) -> None:
    TypeAdapter(Name).validate_python(id_part(text))
    TypeAdapter(Name).validate_python(id_part(f"#{'c' * 200}{text}"))


def test_a_repeated_or_missing_folder_changes_nothing(tmp_path: Path) -> None:
    assert ids([TARGETS, TARGETS, tmp_path / "gone"]) == ids([TARGETS])


def test_a_file_with_errors_is_skipped(tmp_path: Path) -> None:
    for number, text in enumerate(BROKEN):
        (tmp_path / str(number)).mkdir()
        (tmp_path / str(number) / "target.toml").write_text(text)
    assert ids([tmp_path]) == ids()


TRAPS: dict[str, Callable[[Path, Path], object]] = {
    "it is a symbolic link": lambda path, victim: path.symlink_to(victim),
    "it has other hard links": lambda path, victim: path.hardlink_to(victim),
    "it is not a regular file": lambda path, victim: os.mkfifo(path),
}


@pytest.mark.parametrize("reason", TRAPS)
def test_a_planted_file_is_not_used(tmp_path: Path, reason: str) -> None:
    victim, planted = tmp_path / "victim", tmp_path / "lock"
    victim.write_text("precious")
    TRAPS[reason](planted, victim)
    with pytest.raises(OSError, match=reason):
        read_unlinked(planted)
    with pytest.raises(OSError, match=reason if "regular" not in reason else "No such device"):
        write_unlinked(planted, "replaced")
    assert victim.read_text() == "precious"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")
def test_a_file_of_another_user_is_used_only_if_all_users_share_it(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    path.write_text("theirs")
    os.chown(path, 54321, -1)
    with pytest.raises(OSError, match="it belongs to another user"):
        write_unlinked(path, "replaced")
    os.close(open_unlinked(path, os.O_RDONLY, of_any_user=True))
    assert path.read_text() == "theirs"


def test_a_file_without_links_is_written_and_read(tmp_path: Path) -> None:
    path = tmp_path / "mark"
    for text in ("long text", "short"):
        write_unlinked(path, text)
        assert read_unlinked(path) == text
