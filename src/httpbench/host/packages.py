"""Installs Debian packages, by a short script: what is shown before is what is run.

No package may start its service meanwhile: a system nginx on port 80 is nobody's wish. Debian asks a policy before it starts one, so
there is one that refuses while we install; where the machine has its own, that one is left alone. Nothing limits the time of a
download but apt's own timeouts and Ctrl-C.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence

from httpbench.errors import RequirementError

POLICY = "/usr/sbin/policy-rc.d"


def script(packages: Sequence[str]) -> str:
    """The commands, for a shell that is root."""
    refuse = f"printf '#!/bin/sh\\nexit 101\\n' >{POLICY} && chmod +x {POLICY}"
    return "\n".join(
        (
            "set -e",
            "trap 'exit 130' HUP INT TERM",
            "apt-get update --quiet",
            "# Services are not started: Debian asks this file first.",
            f"[ -e {POLICY} ] || {{ trap 'rm -f {POLICY}' EXIT; {refuse}; }}",
            f"DEBIAN_FRONTEND=noninteractive {command(packages)}",
        )
    )


def command(packages: Sequence[str]) -> str:
    """The one of the script's commands that matters to a person."""
    return f"apt-get install --yes --quiet --no-install-recommends -- {shlex.join(packages)}"


def becoming_root(packages: Sequence[str]) -> tuple[str, ...]:
    """What stands before a command so that root runs it. Raises :class:`RequirementError` when we are not root and there is no sudo."""
    if os.geteuid() == 0:
        return ()
    if shutil.which("sudo") is None:
        raise RequirementError(f"only root installs packages, and there is no sudo; as root: {command(packages)}")
    return ("sudo",) if sys.stdin.isatty() else ("sudo", "--non-interactive")


def install(packages: Sequence[str]) -> None:
    """Runs the script; what apt says goes to standard error. Raises :class:`RequirementError` when it fails."""
    argv = (*becoming_root(packages), "sh", "-c", script(packages))
    code = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=sys.stderr.fileno(), check=False).returncode
    if code:
        raise RequirementError(f"packages could not be installed (exit code {code}); as root: {command(packages)}")
