"""Compiles the load generator when the package is built, and puts it beside the command ``httpbench``."""

from __future__ import annotations

import shutil
import subprocess
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PROGRAM = "httpbench-loadgen"


class LoadGeneratorHook(BuildHookInterface):  # type: ignore[type-arg]
    """Of the wheel: see ``tool.hatch.build.targets.wheel.hooks`` in pyproject.toml."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return  # a checkout uses what cargo built last, not a copy of what it once built
        if shutil.which("cargo") is None:
            raise SystemExit("httpbench's load generator is written in Rust and needs cargo to build: see https://rustup.rs")
        root = Path(self.root)
        subprocess.run(["cargo", "build", "--release", "--locked", "--package", PROGRAM], cwd=root, check=True)
        target = root / "target" / "release" / PROGRAM
        # A wheel for this platform, but for any Python: the program is not an extension module.
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform}"
        build_data["shared_scripts"][str(target)] = PROGRAM
