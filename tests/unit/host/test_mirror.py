"""Tests that the functions that read this machine's files can also read another host's."""

from __future__ import annotations

from pathlib import Path

from httpbench.host import read_environment, read_topology
from httpbench.host.mirror import FILES, mirrored


def test_a_mirror_of_this_machine_gives_the_same_facts(tmp_path: Path) -> None:
    paths = [path for pattern in FILES for path in Path("/").glob(pattern.lstrip("/"))]
    root = mirrored({str(path): text for path in paths if (text := text_of(path)) is not None}, tmp_path)
    here, there = read_environment(tmp_path, {}), read_environment(tmp_path, {}, root)
    changing = {"load_average_1m", "cpu_quota_cores", "memory_limit_bytes"}
    assert there.model_dump(exclude=changing) == here.model_dump(exclude=changing)
    assert read_topology(root) == read_topology()


def test_a_path_that_leads_out_of_the_folder_is_skipped(tmp_path: Path) -> None:
    root = mirrored({"/../outside": "x", "/proc/../../outside": "x", "//proc/inside": "y"}, tmp_path / "root")
    assert not (tmp_path / "outside").exists()
    assert (root / "proc/inside").read_text() == "y"


def text_of(path: Path) -> str | None:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return None
