"""The catalog of targets, workloads and suites, read from files."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from httpbench.catalog.catalog import Catalog, load, load_named, load_valid
    from httpbench.catalog.files import sentences
    from httpbench.catalog.proofs import read_proofs, record_proofs
    from httpbench.catalog.published import read_published
    from httpbench.catalog.selection import kind_of, matching, select
    from httpbench.paths import root
else:
    from httpbench.lazy import exports

    __getattr__ = exports(__name__)
