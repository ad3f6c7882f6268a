"""Tests of the catalog that reads a clone of the-benchmarker/web-frameworks.

The folder ``tests/targets/web-frameworks`` has the same layout.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from httpbench import catalog
from httpbench.catalog import web_frameworks
from httpbench.errors import CatalogError
from httpbench.paths import ids

CLONE = Path(__file__).parents[2] / "targets" / "web-frameworks"
TARGETS = {target.id: target for target in web_frameworks.read(CLONE)}


def test_each_engine_with_a_dockerfile_is_a_target() -> None:
    assert list(TARGETS) == ["perl/small/forks", "perl/small/default", "perl/unmade", "perl/wrong/default"]
    target = TARGETS["perl/small/forks"]
    assert target.entry is not None
    assert (target.entry.catalogue, target.entry.display_name, target.entry.refusal) == ("web-frameworks", "small (forks)", None)
    assert (target.container.dockerfile, target.container.port, target.container.fixed_port) == (".Dockerfile.Forks", 3000, True)
    assert target.paths == {"web-frameworks-index": "/", "web-frameworks-user": "/user/0", "web-frameworks-create": "/user"}


def test_a_framework_without_a_dockerfile_keeps_its_row_with_the_fix() -> None:
    entry = TARGETS["perl/unmade"].entry
    assert entry is not None
    assert entry.refusal == "it has no Dockerfile; run `rake config` in the clone to create it"


def test_a_dockerfile_without_a_stage_is_invalid() -> None:
    entry = TARGETS["perl/wrong/default"].entry
    assert entry is not None
    assert entry.refusal == "its configuration is invalid: .Dockerfile.default: has no FROM"


@pytest.mark.parametrize("folder", ["missing", "."])
def test_a_folder_that_is_not_a_clone_is_refused(tmp_path: Path, folder: str) -> None:
    with pytest.raises(CatalogError, match=r"web-frameworks:DIR requires a clone of github\.com/the-benchmarker/web-frameworks"):
        web_frameworks.read(tmp_path / folder)


def test_load_reads_the_whole_catalog() -> None:
    assert set(catalog.load([Path(f"web-frameworks:{CLONE}")]).targets) == set(TARGETS)


def test_completion_offers_the_ids_of_targets_with_a_dockerfile() -> None:
    assert set(ids([Path(f"web-frameworks:{CLONE}")])) == set(TARGETS) - {"perl/unmade"}
