"""Targets, workloads and suites: TOML files in, frozen models out."""

from __future__ import annotations

from httpbench.catalog.catalog import Catalog, load
from httpbench.catalog.files import did_you_mean, sentences
from httpbench.catalog.places import root
from httpbench.catalog.select import matching, select

__all__ = ["Catalog", "did_you_mean", "load", "matching", "root", "select", "sentences"]
