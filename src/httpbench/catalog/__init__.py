"""Targets, workloads and suites, read from TOML files into frozen models."""

from __future__ import annotations

from httpbench.catalog.catalog import Catalog, load
from httpbench.catalog.files import sentences
from httpbench.catalog.proofs import read_proofs, record_proofs
from httpbench.catalog.select import kind_of, matching, select
from httpbench.catalog.techempower_results import read_results
from httpbench.paths import root

__all__ = [
    "Catalog",
    "kind_of",
    "load",
    "matching",
    "read_proofs",
    "read_results",
    "record_proofs",
    "root",
    "select",
    "sentences",
]
