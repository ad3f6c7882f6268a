"""Tests of builds and their receipts."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event, Timer

import pytest

from httpbench.errors import BuildError
from httpbench.model import Build, Target
from httpbench.run.builds import build
from tests.factories import make_target
from tests.waiting import until


@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "sources"
    folder.mkdir()
    (folder / "server.c").write_text("one")
    (folder / "target.toml").write_text("notes = 'one'")
    return folder


def target(sources: Path, *script: str, artifacts: tuple[str, ...] = ("server",)) -> Target:
    commands = tuple(("sh", "-c", line) for line in script)
    return make_target("c/x").model_copy(update={"folder": str(sources), "build": Build(commands=commands, artifacts=artifacts)})


COUNTING = "cp server.c server; echo built >> times"


def times(state: build.BuildState) -> int:
    return len((state.folder / "times").read_text().splitlines())


def test_a_build_runs_once(sources: Path) -> None:
    wanted = target(sources, COUNTING)
    assert not build.state(wanted).receipt
    assert times(build.build(wanted, Event())) == 1
    assert build.state(wanted).receipt
    assert times(build.build(wanted, Event())) == 1


def test_changed_sources_are_rebuilt(sources: Path) -> None:
    wanted = target(sources, COUNTING)
    build.build(wanted, Event())
    (sources / "server.c").write_text("two")
    assert not build.state(wanted).receipt
    state = build.build(wanted, Event())
    assert times(state) == 2
    assert (state.folder / "server").read_text() == "two"


def test_a_newer_file_time_alone_does_not_rebuild(sources: Path) -> None:
    wanted = target(sources, COUNTING)
    build.build(wanted, Event())
    os.utime(sources / "server.c")
    assert build.state(wanted).receipt


def test_notes_in_the_manifest_do_not_rebuild(sources: Path) -> None:
    wanted = target(sources, COUNTING)
    build.build(wanted, Event())
    (sources / "target.toml").write_text("notes = 'two'")
    assert build.state(wanted).receipt


def test_a_deleted_source_disappears_from_the_build(sources: Path) -> None:
    (sources / "old.c").write_text("old")
    wanted = target(sources, COUNTING)
    build.build(wanted, Event())
    (sources / "old.c").unlink()
    state = build.build(wanted, Event())
    assert not (state.folder / "old.c").exists()


def test_the_sources_stay_clean(sources: Path) -> None:
    build.build(target(sources, COUNTING), Event())
    assert sorted(path.name for path in sources.iterdir()) == ["server.c", "target.toml"]


def test_a_deleted_artifact_is_rebuilt(sources: Path) -> None:
    wanted = target(sources, COUNTING)
    (build.build(wanted, Event()).folder / "server").unlink()
    assert not build.state(wanted).receipt


def test_a_failure_is_reported_with_its_log_and_remembered(sources: Path) -> None:
    wanted = target(sources, "echo 'server.c:1: expected a semicolon' >&2; exit 3")
    with pytest.raises(BuildError, match="its build failed, exit code 3") as caught:
        build.build(wanted, Event())
    assert "server.c:1: expected a semicolon" in (caught.value.log_tail or "")
    failure = build.state(wanted).failure
    assert failure is not None
    (sources / "server.c").write_text("mended")
    assert build.state(wanted).failure is None


def test_a_build_without_its_artifact_has_failed(sources: Path) -> None:
    with pytest.raises(BuildError, match="did not create server"):
        build.build(target(sources, "true"), Event())


def test_a_build_that_hangs_is_ended(sources: Path) -> None:
    wanted = target(sources, "sleep 1000")
    wanted = wanted.model_copy(update={"build": wanted.build.model_copy(update={"timeout_s": 0.3})})
    with pytest.raises(BuildError, match=r"took longer than 0.3 s"):
        build.build(wanted, Event())


def test_an_interrupted_build_is_not_a_failure(sources: Path) -> None:
    cancelled = Event()
    wanted = target(sources, "echo $$ > pid; sleep 1000")
    timer = Timer(0.3, cancelled.set)
    timer.start()
    with pytest.raises(BuildError, match="interrupted"):
        build.build(wanted, cancelled)
    assert build.state(wanted).failure is None
    pid = int((build.build_folder(wanted) / "pid").read_text())
    until(lambda: not Path(f"/proc/{pid}/cmdline").exists() or not Path(f"/proc/{pid}/cmdline").read_bytes())


def test_the_receipt_contains_the_version(sources: Path) -> None:
    wanted = target(sources, COUNTING).model_copy(update={"version": ("echo", "libfoo v1.22.3 (stable)")})
    state = build.build(wanted, Event())
    assert state.receipt is not None
    assert state.receipt.version == "1.22.3"
    broken = target(sources, COUNTING).model_copy(update={"version": ("false",), "id": "c/y"})
    (sources / "server.c").write_text("three")
    with pytest.raises(BuildError, match="version command failed"):
        build.build(broken, Event())


def test_a_folder_that_cannot_be_built_in_is_reported(sources: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/proc/cache")
    wanted = target(sources, COUNTING)
    assert not build.state(wanted).receipt
    with pytest.raises(BuildError, match=r"cannot be built in /proc/cache/.*: No such file or directory") as caught:
        build.build(wanted, Event())
    assert "XDG_CACHE_HOME" in (caught.value.hint or "")


def test_unreadable_sources_are_reported(sources: Path) -> None:
    wanted = target(sources, COUNTING)
    os.truncate(sources / "server.c", build.SOURCES_BYTES_MAX + 1)  # even root can't read so much
    failure = build.state(wanted).failure
    assert failure is not None
    assert "its sources cannot be read: move large files and links to them" in failure.message
    with pytest.raises(BuildError, match="cannot be built"):
        build.build(wanted, Event())


def test_waiting_for_another_build_can_be_interrupted(sources: Path) -> None:
    wanted = target(sources, "echo up > up; sleep 1000")
    first, second = Event(), Event()
    with ThreadPoolExecutor(max_workers=2) as pool:
        building = pool.submit(build.build, wanted, first)
        until(lambda: (build.build_folder(wanted) / "up").exists())
        waiting = pool.submit(build.build, wanted, second)
        second.set()
        with pytest.raises(BuildError, match="its build was interrupted"):
            waiting.result(timeout=5)
        assert not building.done()
        first.set()
        with pytest.raises(BuildError, match="its build was interrupted"):
            building.result(timeout=10)


def test_a_build_that_fills_the_disk_is_deleted(sources: Path) -> None:
    wanted = target(sources, "echo half > object.o; echo 'object.o: No space left on device'; exit 1")
    with pytest.raises(BuildError, match="the disk was full") as caught:
        build.build(wanted, Event())
    assert caught.value.log_tail is not None
    state = build.state(wanted)
    assert not (state.folder / "object.o").exists()
    assert state.failure is not None
    assert state.failure.message == caught.value.message


def test_all_builds_share_compiled_crates(sources: Path, tmp_path: Path) -> None:
    shown = [build.build(target(sources, f"echo $CARGO_BUILD_BUILD_DIR {name} >server"), Event()).folder / "server" for name in "ab"]
    assert shown[0] != shown[1]
    assert {path.read_text().split()[0] for path in shown} == {str(tmp_path / "cache" / "httpbench" / "builds" / "crates")}
