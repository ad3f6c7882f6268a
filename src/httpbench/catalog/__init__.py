"""The catalog of targets, workloads and suites, read from files."""

from __future__ import annotations

from httpbench.catalog.catalog import Catalog, load, load_named, load_valid
from httpbench.catalog.files import sentences
from httpbench.catalog.proofs import read_proofs, record_proofs
from httpbench.catalog.published import read_published
from httpbench.catalog.select import kind_of, matching, select
from httpbench.paths import root

__all__ = [
    "Catalog",
    "kind_of",
    "load",
    "load_named",
    "load_valid",
    "matching",
    "read_proofs",
    "read_published",
    "record_proofs",
    "root",
    "select",
    "sentences",
]
