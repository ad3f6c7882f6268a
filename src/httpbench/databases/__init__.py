"""The databases that targets query, each with a folder of scripts, settings, tables and a Dockerfile.

Like a load generator's adapter, this package starts nothing: it returns command lines and parses their output.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from httpbench.databases.counts import UPDATE, Counts, counting_problem, requires_rows, tables_of
    from httpbench.databases.systems import HOST_NAME, SYSTEMS, System
    from httpbench.databases.world import numbers_problem
else:
    from httpbench.lazy import exports

    __getattr__ = exports(__name__)
