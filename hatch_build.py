"""Compile the Rust programs when the package is built, and install them next to the command ``httpbench``."""

from __future__ import annotations

import os
import shutil
import subprocess
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PROGRAMS = ("httpbench-loadgen", "httpbench-reference", "httpbench-timer")


class ProgramsHook(BuildHookInterface):  # type: ignore[type-arg]
    """The build hook of the wheel. ``tool.hatch.build.targets.wheel.hooks`` in pyproject.toml enables it."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return  # a checkout uses the programs in cargo's target folder, because copies would become outdated
        if shutil.which("cargo") is None:
            raise SystemExit(
                "httpbench's load generator and reference server are written in Rust and need cargo to build: see https://rustup.rs"
            )
        root = Path(self.root)
        packages = [word for program in PROGRAMS for word in ("--package", program)]
        subprocess.run(["cargo", "build", "--release", "--locked", *packages], cwd=root, check=True)
        # The wheel works only on this platform, but with any Python version, because the programs aren't extension modules.
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform}"
        for program in PROGRAMS:
            build_data["shared_scripts"][str(root / "target" / "release" / program)] = program
        # Load hosts may have a different C library, so the copy for them is linked statically. Some systems lack the libraries for static
        # linking, and the package works without this copy.
        machine = os.uname().machine
        triple = f"{machine}-unknown-linux-gnu"
        if subprocess.run(["cargo", "static", "--target", triple], cwd=root, check=False).returncode == 0:
            static = root / "target" / triple / "release" / PROGRAMS[0]
            build_data["force_include"][str(static)] = f"httpbench/data/programs/{PROGRAMS[0]}-{machine}"
