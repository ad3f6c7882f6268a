"""Tests of marks. These files record which engines may still have containers of a killed harness. Reading marks doesn't contact engines."""

from __future__ import annotations

from pathlib import Path

import pytest

from httpbench.isolate import labels, marks
from httpbench.model import Engine


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of the marks."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path / "httpbench" / "containers"


def gone() -> str:
    """Return the label of a container whose owner has ended."""
    process, _, ticks = labels.owner_label().rpartition("/")
    return f"{process}/{int(ticks) + 1}"


def test_without_marks_no_engine_has_leftovers(folder: Path) -> None:
    assert marks.engines_left() == []
    marks.unmark("httpbench-1")
    assert not folder.exists()


def test_a_container_of_a_running_harness_is_not_a_leftover(folder: Path) -> None:
    marks.mark(Engine.DOCKER, "httpbench-1")
    assert marks.engines_left() == []
    marks.forget(Engine.DOCKER)
    assert [path.name for path in folder.iterdir()] == ["httpbench-1"]
    marks.unmark("httpbench-1")
    assert list(folder.iterdir()) == []


def test_engines_with_leftovers_are_listed_until_forgotten(folder: Path) -> None:
    folder.mkdir(parents=True)
    for name, engine in (("a", "docker"), ("b", "docker"), ("c", "podman")):
        (folder / name).write_text(f"{engine} {gone()}")
    assert marks.engines_left() == [Engine.DOCKER, Engine.PODMAN]
    marks.forget(Engine.DOCKER)
    assert marks.engines_left() == [Engine.PODMAN]


def test_a_file_that_is_not_a_mark_is_ignored(folder: Path) -> None:
    folder.mkdir(parents=True)
    for name, text in (("a", ""), ("b", "docker"), ("c", f"rkt {gone()}"), ("d", "docker somebody")):
        (folder / name).write_text(text)
    (folder / "e").mkdir()
    assert marks.engines_left() == []


def test_a_container_starts_even_if_no_mark_can_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "/proc/state")
    marks.mark(Engine.DOCKER, "httpbench-1")
    assert marks.engines_left() == []


def test_a_planted_link_is_not_followed(folder: Path) -> None:
    folder.mkdir(parents=True)
    victim = folder.parent / "victim"
    victim.write_text(f"docker {gone()}")
    (folder / "httpbench-1").symlink_to(victim)
    marks.mark(Engine.DOCKER, "httpbench-1")
    assert victim.read_text() == f"docker {gone()}"
    assert marks.engines_left() == []
