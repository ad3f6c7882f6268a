"""The command line: one file per verb; flags in, printing out, nothing else."""

from __future__ import annotations

from httpbench.cli.main import main

__all__ = ["main"]
