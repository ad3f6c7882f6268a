"""Check dependencies for known vulnerabilities, and the licenses and origins of crates: ``python -m tools.dependencies``.

Checks the installed Python packages, the lowest versions that ``pyproject.toml`` allows, and ``Cargo.lock``. A check whose database can't
be reached is skipped, and its reason is printed. If the variable ``CI`` is set, a skipped check counts as failed, so that a scheduled
workflow can't pass without having checked anything.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import tomllib
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
DENY = ROOT / "target/tools/bin/cargo-deny"
OSV = "https://api.osv.dev/v1/vulns/PYSEC-2021-66"
"""Address of an entry of the database that pip-audit asks."""
AUDIT = (sys.executable, "-m", "pip_audit", "--progress-spinner", "off", "--vulnerability-service", "osv")
REACH_LIMIT_S = 20.0


def lowest(project: Mapping[str, Any]) -> Iterator[str]:
    """Yield each direct dependency of the package and of its extras, pinned to the lowest version that ``pyproject.toml`` allows."""
    extras = project["optional-dependencies"].values()
    for requirement in sorted({*project["dependencies"], *(each for group in extras for each in group)}):
        if match := re.match(r"([\w.-]+)>=([\d.]+)", requirement):
            yield f"{match[1]}=={match[2]}"


def main() -> int:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    failed = [not _passes("licenses and origins of crates", str(DENY), "--offline", "check", "bans", "licenses", "sources")]
    if problem := _problem_of_advisories():
        failed.append(_skipped("vulnerabilities of crates", problem))
    else:
        failed.append(not _passes("vulnerabilities of crates", str(DENY), "check", "--disable-fetch", "advisories"))
    if problem := _problem_of_osv():
        failed.append(_skipped("vulnerabilities of Python packages", problem))
    else:
        failed.append(not _passes("vulnerabilities of the installed Python packages", *AUDIT, "--skip-editable"))
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            file.write("\n".join(lowest(project)))
            file.flush()
            argv = (*AUDIT, "--requirement", file.name, "--no-deps", "--disable-pip")
            failed.append(not _passes("vulnerabilities of the lowest allowed Python packages", *argv))
    return int(any(failed))


def _passes(what: str, *argv: str) -> bool:
    print(f"{what}:", flush=True)
    return subprocess.run(argv, cwd=ROOT, check=False).returncode == 0


def _skipped(what: str, problem: str) -> bool:
    """Print why a check was skipped. Return whether this counts as a failure."""
    print(f"{what}: skipped, because {problem}", flush=True)
    return bool(os.environ.get("CI"))


def _problem_of_advisories() -> str | None:
    done = subprocess.run([DENY, "fetch", "db"], cwd=ROOT, capture_output=True, text=True, check=False)
    lines = done.stderr.strip().splitlines()
    return f"the database of RustSec can't be fetched: {lines[-1].strip() if lines else done.returncode}" if done.returncode else None


def _problem_of_osv() -> str | None:
    try:
        urllib.request.urlopen(OSV, timeout=REACH_LIMIT_S).close()
    except OSError as error:
        return f"the database OSV can't be reached: {error}"
    return None


if __name__ == "__main__":
    sys.exit(main())
