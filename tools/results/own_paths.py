"""Remove the user's own folders from published data."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path


def without_own_paths(export: bytes, names: Mapping[Path, str]) -> bytes:
    """Rename folders in a JSON export. ``names`` must list inner folders before the folders that contain them.

    >>> without_own_paths(b'["/home/ada/httpbench/server", "/home/ada"]', {Path("/home/ada/httpbench"): ".", Path("/home/ada"): "~"})
    b'["./server", "~"]'
    """
    for folder, name in names.items():
        if folder == folder.parent:
            continue  # the root folder would match every path
        own = json.dumps(str(folder))[1:-1].encode()
        export = export.replace(own + b"/", name.encode() + b"/").replace(own + b'"', name.encode() + b'"')
    return export
