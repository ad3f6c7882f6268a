"""Tests of faults in builds."""

from __future__ import annotations

from tests.integration.faults.disk import small_disk
from tests.integration.faults.fault import GOOD, Fault


def buildable(fault: Fault, script: str, timeout_s: int = 60) -> str:
    """Write a target that this script builds and return the folder for ``--targets``."""
    folder = fault.home / "targets"
    folder.mkdir()
    manifest = f"""
kind = "server"
language = "test"
framework = "builds"
category = "platform"
upstream = "https://example.org/"

[build]
timeout_s = {timeout_s}
commands = [["sh", "-c", '''{script}''']]

[[variant]]
run = ["./server"]
"""
    (folder / "target.toml").write_text(manifest)
    return str(folder)


def test_build_fails(fault: Fault) -> None:
    end = fault.bench("test/unbuildable")
    fault.holds(end, trials=2)
    assert "server.c:1: error: expected a semicolon" in end.output
    assert fault.verdicts("test/unbuildable") == ["failed"]
    assert fault.verdicts(GOOD) != ["failed"]


def test_build_hangs(fault: Fault) -> None:
    folder = buildable(fault, "sleep 1000 & setsid sleep 1000 & wait", timeout_s=1)
    fault.holds(fault.bench("--targets", folder, "test/builds"), trials=2)
    assert fault.verdicts(GOOD) != ["failed"]


def test_build_fills_the_disk(fault: Fault) -> None:
    """Builds and results share a disk. The first build fills it; the next target is still built, and its trial is stored."""
    with small_disk(fault.home / "data", "4m") as disk:
        folder = buildable(fault, "cat /dev/zero > object.o")
        env = {**fault.env, "XDG_CACHE_HOME": str(disk)}
        fault.holds(fault.bench("--targets", folder, "test/builds", "--jobs", "1", env=env), trials=2)
        assert fault.verdicts(GOOD) != ["failed"]
        assert len(fault.stored()) == 2
