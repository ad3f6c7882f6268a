"""Databases that targets ask: how each is made, served and asked. A folder each, with its scripts, settings, tables and Dockerfile.

Like an adapter of a load generator, this starts nothing: it returns command lines and reads what they print.
"""

from __future__ import annotations

from httpbench.databases.counts import Counts, counting_problem, requires_rows
from httpbench.databases.systems import HOST_NAME, SYSTEMS, System

__all__ = ["HOST_NAME", "SYSTEMS", "Counts", "System", "counting_problem", "requires_rows"]
