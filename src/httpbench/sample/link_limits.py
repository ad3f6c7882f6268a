"""Read the speeds of physical network links, and the rate limits that ``tc`` has set on links.

The agent on load hosts also uses this module, so the module may import only the standard library.
"""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import shutil
import subprocess

LINKS = pathlib.Path("/sys/class/net")
SPEEDS = "*/device/net/*/speed"
"""Pattern of the files that contain the speeds of physical links in Mbit/s, or -1 if unknown. It excludes virtual links, which have no
device and may report fake speeds."""

SHAPERS = ("tc", "-json", "qdisc", "show")
CLASSES = ("tc", "class", "show", "dev")
"""Command that lists the classes of a link. For HTB, it has no JSON output."""
WITH_CLASSES = ("htb",)
"""Kinds of queueing disciplines whose limits belong to classes."""
SHAPERS_LIMIT_S = 5.0
SYSTEM_FOLDERS = "/usr/local/sbin:/usr/sbin:/sbin"
"""Additional folders to search for ``tc``. Usually, only root has them in ``PATH``."""


def read() -> dict[str, str]:
    """Return the text of each speed file, keyed by path, and the output of ``tc``. This takes a few milliseconds.

    The key ``tc`` has the queueing disciplines of all links, and ``tc class LINK`` the classes of a link.
    """
    found = {}
    for path in LINKS.glob(SPEEDS):
        with contextlib.suppress(OSError):  # the link is down
            found[str(path)] = path.read_text()
    program = shutil.which(SHAPERS[0], path=f"{os.environ.get('PATH', os.defpath)}:{SYSTEM_FOLDERS}")
    if program:
        found[SHAPERS[0]] = _output(program, *SHAPERS[1:])
        for link in _links_with_classes(found[SHAPERS[0]]):
            found[f"tc class {link}"] = _output(program, *CLASSES[1:], link)
    return found


def _output(*argv: str) -> str:
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        return subprocess.run(argv, capture_output=True, text=True, timeout=SHAPERS_LIMIT_S, check=False, stdin=subprocess.DEVNULL).stdout
    return ""


def _links_with_classes(shapers: str) -> set[str]:
    with contextlib.suppress(ValueError):
        return {each["dev"] for each in json.loads(shapers or "[]") if each.get("kind") in WITH_CLASSES}
    return set()
