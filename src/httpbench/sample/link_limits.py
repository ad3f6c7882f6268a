"""Read the speeds of physical network links, and the rate limits that ``tc`` has set on links.

The agent on load hosts also uses this module, so the module may import only the standard library.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import shutil
import subprocess

LINKS = pathlib.Path("/sys/class/net")
SPEEDS = "*/device/net/*/speed"
"""Pattern of the files that contain the speeds of physical links in Mbit/s, or -1 if unknown. It excludes virtual links, which have no
device and may report fake speeds."""

SHAPERS = ("tc", "-json", "qdisc", "show")
SHAPERS_LIMIT_S = 5.0
SYSTEM_FOLDERS = "/usr/local/sbin:/usr/sbin:/sbin"
"""Additional folders to search for ``tc``. Usually, only root has them in ``PATH``."""


def read() -> dict[str, str]:
    """Return the text of each speed file, keyed by path, and the output of ``tc`` under the key ``tc``. This takes a few milliseconds."""
    found = {}
    for path in LINKS.glob(SPEEDS):
        with contextlib.suppress(OSError):  # the link is down
            found[str(path)] = path.read_text()
    program = shutil.which(SHAPERS[0], path=f"{os.environ.get('PATH', os.defpath)}:{SYSTEM_FOLDERS}")
    if program:
        with contextlib.suppress(OSError, subprocess.SubprocessError):
            argv = (program, *SHAPERS[1:])
            done = subprocess.run(argv, capture_output=True, text=True, timeout=SHAPERS_LIMIT_S, check=False, stdin=subprocess.DEVNULL)
            found[SHAPERS[0]] = done.stdout
    return found
