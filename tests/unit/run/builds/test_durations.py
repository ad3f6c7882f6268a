"""Tests of the durations of builds that are remembered, and of the order of builds that follows from them."""

from __future__ import annotations

from pathlib import Path
from threading import Lock

import pytest

from httpbench.catalog import proofs
from httpbench.errors import HttpbenchError
from httpbench.model import Build, Feature, ProvenBuild, Target
from httpbench.run.builds import build, durations
from httpbench.run.builds.prepare import prepare
from tests.factories import make_proof, make_target


class Noting:
    """An observer that notes the builds in the order in which they start, and how long they usually take."""

    def __init__(self) -> None:
        self.started: list[tuple[str, float | None]] = []
        self._lock = Lock()

    def build_started(self, target: Target, usual_s: float | None) -> None:
        with self._lock:
            self.started.append((target.build_name, usual_s))

    def build_ended(self, target: Target, seconds: float, error: HttpbenchError | None) -> None:
        pass


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    durations._proofs.cache_clear()


def make(tmp_path: Path, name: str, command: str = "true") -> Target:
    folder = tmp_path / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "server.c").write_text("one")
    return make_target(name, folder=str(folder), build=Build(commands=(("sh", "-c", command),)))


def built(*targets: Target) -> list[tuple[str, float | None]]:
    noting = Noting()
    assert prepare(targets, noting, 1).errors == {}  # type: ignore[arg-type]
    return noting.started


def test_a_duration_survives_a_change_of_the_sources(tmp_path: Path) -> None:
    target = make(tmp_path, "c/x", "sleep 0.3")
    assert built(target) == [("c/x", None)]
    assert built(target) == []
    first_s = durations.usual_s(target)
    assert first_s is not None
    assert first_s >= 0.3
    (tmp_path / "c/x/server.c").write_text("two")
    assert built(target) == [("c/x", first_s)]


def test_a_first_build_and_later_ones_have_their_own_durations(tmp_path: Path) -> None:
    target = make(tmp_path, "c/x")
    durations.remember(target, 60.0, is_first=True)
    build.build_folder(target).mkdir(parents=True)
    (build.build_folder(target) / build.SOURCES).write_text("[]")
    durations.remember(target, 5.0, is_first=False)
    assert (durations.usual_s(target), durations.first_s(target)) == (5.0, 60.0)
    (build.build_folder(target) / build.SOURCES).unlink()
    assert durations.usual_s(target) == 60.0


def test_a_failed_build_has_no_duration(tmp_path: Path) -> None:
    target = make(tmp_path, "c/x", "exit 1")
    assert prepare([target], Noting(), 1).errors.keys() == {"c/x"}  # type: ignore[arg-type]
    assert durations.usual_s(target) is None


def test_the_slowest_build_starts_first_and_an_unknown_one_before_it(tmp_path: Path) -> None:
    fast, slow, unknown, nothing = (make(tmp_path, f"c/{name}") for name in ("fast", "slow", "unknown", "nothing"))
    nothing = nothing.model_copy(update={"build": Build()})
    durations.remember(fast, 1.0, is_first=True)
    durations.remember(slow, 9.0, is_first=True)
    assert built(nothing, fast, slow, unknown) == [("c/unknown", None), ("c/slow", 9.0), ("c/fast", 1.0), ("c/nothing", None)]


def test_a_new_machine_uses_the_recorded_durations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proofs, "proofs_file", lambda: tmp_path / "verified.toml")
    monkeypatch.setattr(durations, "is_built_in", lambda folder: True)
    target = make_target(
        "c/x", folder=str(tmp_path), build=Build(commands=(("make", "{features}"),), features=(Feature.TLS, Feature.DATABASE))
    )
    tls, database = (target.model_copy(update={"features": (feature,)}) for feature in target.build.features)
    assert durations.usual_s(target) is None
    durations._proofs.cache_clear()
    proofs.record_proofs([make_proof("c/x", build_s=12.5, builds={"tls": ProvenBuild(sources="0" * 12, build_s=70)})])
    assert [durations.usual_s(each) for each in (target, tls, database)] == [12.5, 70, 12.5]


def test_a_wrong_file_of_proofs_prevents_no_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proofs, "proofs_file", lambda: tmp_path / "verified.toml")
    monkeypatch.setattr(durations, "is_built_in", lambda folder: True)
    (tmp_path / "verified.toml").write_text("target = 1")
    assert built(make(tmp_path, "c/x")) == [("c/x", None)]
