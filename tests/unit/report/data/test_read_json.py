"""Tests that runs are read back from their JSON exports."""

from __future__ import annotations

import base64
import gzip
import struct
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from httpbench.errors import LoadError, UsageError
from httpbench.quantiles import HISTOGRAM_BYTES_MAX, decoded
from httpbench.report.data import read_json
from httpbench.report.data.json import render_json
from httpbench.report.data.read_json import read_export
from tests.factories import make_mixed_run


def test_reading_an_export_restores_the_run(tmp_path: Path) -> None:
    run, trials = make_mixed_run()
    Path(tmp_path, "run.json").write_text(render_json(run, trials))
    again, read = read_export(Path(tmp_path, "run.json"))
    bare = {"probed"}  # exported only once for each target
    assert [trial.model_dump(exclude=bare) for trial in read] == [trial.model_dump(exclude=bare) for trial in trials]
    assert (again.id, again.environment, again.workloads) == (run.id, run.environment, run.workloads)
    assert render_json(again, read) == render_json(run, trials)


def test_an_export_may_be_compressed(tmp_path: Path) -> None:
    text = render_json(*make_mixed_run())
    path = tmp_path / "run.json.zst"
    path.write_bytes(zstandard.compress(text.encode()))
    assert render_json(*read_export(path)) == text
    path.write_bytes(zstandard.compress(text.encode())[:10] + b"damaged")
    with pytest.raises(UsageError, match=r"run.json.zst cannot be read: "):
        read_export(path)


CONTAINS = "contains more than 1 MiB of data"


@pytest.mark.parametrize(
    ("compress", "problem"),
    [(bytes, "cannot be read: it is larger than 1 MiB"), (gzip.compress, CONTAINS), (zstandard.compress, CONTAINS)],
)
def test_an_export_may_not_become_too_large(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compress: Callable[[bytes], bytes], problem: str
) -> None:
    monkeypatch.setattr(read_json, "BYTES_MAX", 1 << 20)
    path = tmp_path / "run.json"
    path.write_bytes(compress(b" " * (1 << 20)))
    with pytest.raises(UsageError, match="is not a JSON export"):
        read_export(path)
    path.write_bytes(compress(b" " * ((1 << 20) + 1)))
    with pytest.raises(UsageError, match=rf"run\.json {problem}"):
        read_export(path)


def test_a_histogram_may_not_become_too_large() -> None:
    envelope = struct.pack(">II", 0x1C849304, 0)
    bomb = base64.b64encode(envelope + zlib.compress(bytes(HISTOGRAM_BYTES_MAX + 1))).decode()
    with pytest.raises(LoadError, match="it has more than 16 MiB without compression"):
        decoded(bomb)


@pytest.mark.parametrize(("text", "place"), [("{}", "run"), ("no", "expected ident"), ('{"schema": "httpbench/9"}', "schema")])
def test_other_files_are_rejected_with_a_reason(tmp_path: Path, text: str, place: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(text)
    with pytest.raises(UsageError, match=f"is not a JSON export of a run that this version can read: {place}"):
        read_export(path)
