"""The run inside its page: the JSON export, compressed, as the address of a file that a browser saves."""

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
"""Of the compressed file. A larger one leaves out its histograms, which are most of it, so that the page can still be sent."""

DIGITS = 7
"""Significant digits of figures."""


@dataclass(frozen=True, slots=True)
class Download:
    name: str
    """Of the file."""
    size: str
    address: str
    has_histograms: bool


def download(run: Run, trials: Sequence[Trial]) -> Download:
    """With the histograms of all rounds, if they are not too many. Those of all rounds together are left out: they can be computed."""
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
    """The same document, with null in their place, and figures of seven digits: beyond is noise, which cannot be compressed."""
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
