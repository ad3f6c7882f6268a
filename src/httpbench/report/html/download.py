"""The compressed JSON export inside the page of a run, as a data URL that a browser saves to a file."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from httpbench.model import Run, Trial
from httpbench.report.data.json import document

BYTES_MAX = 720_000
"""Size limit of the compressed file. Larger files omit their histograms to keep the page small enough for email."""

DIGITS = 7
"""Significant digits of numbers."""


@dataclass(frozen=True, slots=True)
class Download:
    """A file inside a page."""

    name: str
    """Name of the file."""
    size: str
    address: str
    has_histograms: bool


def download(run: Run, trials: Sequence[Trial]) -> Download:
    """Compress the export, with the histograms of all rounds if they fit.

    Merged histograms are always omitted, because they can be computed from those of the rounds.
    """
    whole = json.loads(document(run, trials).model_dump_json(by_alias=True))
    data = _compressed(_without_histograms(whole, merged_only=True))
    has_histograms = len(data) <= BYTES_MAX
    if not has_histograms:
        data = _compressed(_without_histograms(whole, merged_only=False))
    return Download(
        name=f"httpbench-{run.id}.json.gz",
        size=f"{len(data) / 1000:,.0f} kB",
        address=f"data:application/gzip;base64,{base64.b64encode(data).decode()}",
        has_histograms=has_histograms,
    )


def _compressed(found: Any) -> bytes:
    text = json.dumps(found, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"
    return gzip.compress(text.encode(), compresslevel=9, mtime=0)


def _without_histograms(found: Any, *, merged_only: bool, is_merged: bool = False) -> Any:
    """Replace histograms with null and round numbers to ``DIGITS`` significant digits. Further digits are noise and compress badly."""
    if isinstance(found, float):
        return float(f"{found:.{DIGITS}g}")
    if isinstance(found, list):
        return [_without_histograms(each, merged_only=merged_only, is_merged=is_merged) for each in found]
    if not isinstance(found, dict):
        return found
    return {
        name: None
        if name == "histogram" and (is_merged or not merged_only)
        else _without_histograms(value, merged_only=merged_only, is_merged=is_merged or name == "merged")
        for name, value in found.items()
    }
