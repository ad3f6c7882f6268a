"""Install Debian packages with a short script, which httpbench also shows to the user.

Installing a package must not start its service. For example, a system-wide nginx on port 80 would be unwanted. Debian runs a policy script
before it starts a service, so we install a policy script that refuses every start while apt runs. An existing policy script isn't replaced.
Only Ctrl-C and apt's own timeouts interrupt a download.
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
    """Return the shell script that installs the packages. It must run as root."""
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
    """Return the apt command that installs the packages."""
    return f"apt-get install --yes --quiet --no-install-recommends -- {shlex.join(packages)}"


def becoming_root(packages: Sequence[str]) -> tuple[str, ...]:
    """Return the prefix that makes a command run as root, such as ``sudo``. It is empty if we are root.

    Raise :class:`RequirementError` if we aren't root and sudo is missing.
    """
    if os.geteuid() == 0:
        return ()
    if shutil.which("sudo") is None:
        raise RequirementError("only root can install packages, and sudo is missing", hint=f"as root: {command(packages)}")
    return ("sudo",) if sys.stdin.isatty() else ("sudo", "--non-interactive")


def install(packages: Sequence[str]) -> None:
    """Install packages by running the script. apt's output goes to standard error. Raise :class:`RequirementError` if the script fails."""
    argv = (*becoming_root(packages), "sh", "-c", script(packages))
    code = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=sys.stderr.fileno(), check=False).returncode
    if code:
        raise RequirementError(f"packages could not be installed (exit code {code})", hint=f"as root: {command(packages)}")
