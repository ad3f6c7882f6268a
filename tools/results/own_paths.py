"""Folders of who measured, out of what is published: they tell a reader nothing but a user's name."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path


def without_own_paths(export: bytes, names: Mapping[Path, str]) -> bytes:
    """A JSON export in which each of these folders has another name. An inner folder stands before the one that contains it.

    >>> without_own_paths(b'["/home/ada/httpbench/server", "/home/ada"]', {Path("/home/ada/httpbench"): ".", Path("/home/ada"): "~"})
    b'["./server", "~"]'
    """
    for folder, name in names.items():
        if folder == folder.parent:
            continue  # the root would be every path
        own = json.dumps(str(folder))[1:-1].encode()
        export = export.replace(own + b"/", name.encode() + b"/").replace(own + b'"', name.encode() + b'"')
    return export
