"""Compile the Rust programs when the package is built, and install them next to the command ``httpbench``."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PROGRAMS = ("httpbench-loadgen", "httpbench-reference", "httpbench-timer")
PORTABLE = ("manylinux_2_17", "musllinux_1_1")
"""Platform tags for programs without shared libraries. They need no C library, so they run on every system these tags stand for."""


class ProgramsHook(BuildHookInterface):  # type: ignore[type-arg]
    """The build hook of the wheel. ``tool.hatch.build.targets.wheel.hooks`` in pyproject.toml enables it."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return  # a checkout uses the programs in cargo's target folder, because copies would become outdated
        if shutil.which("cargo") is None:
            raise SystemExit(
                "httpbench's load generator and reference server are written in Rust and need cargo to build: see https://rustup.rs"
            )
        machine = os.uname().machine
        triple = f"{machine}-unknown-linux-gnu"
        packages = [word for program in PROGRAMS for word in ("--package", program)]
        # Some systems lack the libraries for static linking. A wheel that is built there works only there.
        if self._cargo("static", "--target", triple, *packages) == 0:
            folder, platforms = Path(triple, "release"), PORTABLE
        elif self._cargo("build", "--release", "--locked", *packages) == 0:
            folder, platforms = Path("release"), ("linux",)
        else:
            raise SystemExit("cargo could not build httpbench's programs; its messages are above")
        # The wheel works with any Python version, because the programs aren't extension modules.
        build_data["pure_python"] = False
        build_data["tag"] = "py3-none-" + ".".join(f"{platform}_{machine}" for platform in platforms)
        target = Path(os.environ.get("CARGO_TARGET_DIR", "target"))
        for program in PROGRAMS:
            build_data["shared_scripts"][str(Path(self.root) / target / folder / program)] = program

    def _cargo(self, *words: str) -> int:
        return subprocess.run(["cargo", *words], cwd=self.root, check=False).returncode
