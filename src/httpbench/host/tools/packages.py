"""Installs Debian packages with a short script; the script that is shown is the one that runs.

No package may start its service: nobody wants a system nginx on port 80. Debian runs a policy script before it starts a service, so one
that refuses is there while we install. If the machine has its own, that one stays. Only apt's own timeouts and Ctrl-C end a download.
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
    """The commands, for a root shell."""
    refuse = f"printf '#!/bin/sh\\nexit 101\\n' >{POLICY} && chmod +x {POLICY}"
    return "\n".join(
        (
            "set -e",
            "trap 'exit 130' HUP INT TERM",
            "apt-get update --quiet",
            "# Services are not started: Debian runs this file first.",
            f"[ -e {POLICY} ] || {{ trap 'rm -f {POLICY}' EXIT; {refuse}; }}",
            f"DEBIAN_FRONTEND=noninteractive {command(packages)}",
        )
    )


def command(packages: Sequence[str]) -> str:
    """The command of the script that installs."""
    return f"apt-get install --yes --quiet --no-install-recommends -- {shlex.join(packages)}"


def becoming_root(packages: Sequence[str]) -> tuple[str, ...]:
    """The prefix with which root runs a command. Raises :class:`RequirementError` if we are not root and there is no sudo."""
    if os.geteuid() == 0:
        return ()
    if shutil.which("sudo") is None:
        raise RequirementError("only root can install packages, and there is no sudo", hint=f"as root: {command(packages)}")
    return ("sudo",) if sys.stdin.isatty() else ("sudo", "--non-interactive")


def install(packages: Sequence[str]) -> None:
    """Runs the script; apt's output goes to standard error. Raises :class:`RequirementError` when it fails."""
    argv = (*becoming_root(packages), "sh", "-c", script(packages))
    code = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=sys.stderr.fileno(), check=False).returncode
    if code:
        raise RequirementError(f"packages could not be installed (exit code {code})", hint=f"as root: {command(packages)}")
