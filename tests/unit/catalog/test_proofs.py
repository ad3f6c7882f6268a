"""Tests that the record of verified targets is sorted and current, and can be read back."""

from __future__ import annotations

import datetime
import tomllib
from pathlib import Path

import pytest

from httpbench import catalog
from httpbench.catalog import read_proofs, record_proofs
from httpbench.catalog.proofs import proofs_file
from httpbench.errors import CatalogError, UsageError
from httpbench.model import Conformance, Proof, ProvenBuild, Scaling
from tests.factories import make_proof


def test_recorded_proofs_are_read_back(tmp_path: Path) -> None:
    path = tmp_path / "verified.toml"
    h2spec = Conformance(passed=1, failed={"http2/5.1": 2})
    builds = {"tls": ProvenBuild(sources="0" * 12, build_s=61.3), "tls,database": ProvenBuild(sources="1" * 12)}
    changes = {"version": "2.1", "note": 'Says "so".', "h2spec": h2spec, "build_s": 45, "builds": builds}
    whole = make_proof("c/b", toolchain={"gcc": "12.2.0", 'a "b"': "1"}, **changes)
    bare = Proof(id="c/a", date=datetime.date(2026, 11, 21), os="Debian")
    record_proofs([whole, bare], path)
    assert read_proofs(path) == {"c/b": whole, "c/a": bare}


def test_entries_are_sorted_and_equal_facts_give_equal_files(tmp_path: Path) -> None:
    one, other = tmp_path / "one.toml", tmp_path / "other.toml"
    record_proofs([make_proof("c/b"), make_proof("c/a")], one)
    record_proofs([make_proof("c/a")], other)
    record_proofs([make_proof("c/b")], other)
    assert one.read_bytes() == other.read_bytes()
    assert [entry["id"] for entry in tomllib.loads(one.read_text())["target"]] == ["c/a", "c/b"]


def test_a_new_record_replaces_only_that_of_the_same_target(tmp_path: Path) -> None:
    path = tmp_path / "verified.toml"
    record_proofs([make_proof("c/a", note="old"), make_proof("c/b")], path)
    record_proofs([make_proof("c/a", scaling=(Scaling.SINGLE,))], path)
    assert read_proofs(path) == {"c/a": make_proof("c/a", scaling=(Scaling.SINGLE,)), "c/b": make_proof("c/b")}


def test_a_missing_file_contains_no_proofs(tmp_path: Path) -> None:
    assert read_proofs(tmp_path / "none.toml") == {}


def test_an_invalid_file_is_reported_with_its_key(tmp_path: Path) -> None:
    path = tmp_path / "verified.toml"
    path.write_text('[[target]]\nid = "c/a"\ndate = 2026-11-21\nos = "Debian"\nscalings = []\n')
    with pytest.raises(CatalogError, match=r'target\[0\]\.scalings: unknown key; allowed here: .*did you mean "scaling"'):
        read_proofs(path)


def test_a_folder_that_cannot_be_written_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot write"):
        record_proofs([make_proof("c/a")], tmp_path / "none" / "verified.toml")


def test_the_projects_record_is_in_this_versions_format(tmp_path: Path) -> None:
    again = tmp_path / "verified.toml"
    record_proofs(read_proofs().values(), again)
    assert again.read_text() == proofs_file().read_text()


def test_the_record_contains_only_existing_targets_and_scalings() -> None:
    targets = catalog.load().targets
    for name, proof in read_proofs().items():
        assert name in targets
        assert set(proof.scaling) <= set(targets[name].scaling)
