"""What profilers need to know of a target's language: whether its frames can be followed, and where its functions are named.

Programs that compile themselves while they run (Node.js, the JVM, .NET) name their functions in ``/tmp/perf-PID.map``, which perf reads.
"""

from __future__ import annotations

import mmap
import re
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

PYTHON = re.compile(r"(?:python|pypy)[\d.]*")
COMPILES_ITSELF = re.compile(r"node|nodejs|bun|deno|java|dotnet")
GO = b"\xff Go buildinf:"
"""Magic number of the section in which each program in Go describes its build."""

MAPS = {
    "NODE_OPTIONS": "--perf-basic-prof-only-functions",
    "JAVA_TOOL_OPTIONS": "-XX:+PreserveFramePointer",
    "DOTNET_PerfMapEnabled": "1",
}
"""Environment variables that make runtimes name their functions, or keep their frames in order. Other programs ignore them."""


def with_maps(env: Mapping[str, str]) -> dict[str, str]:
    """Return an environment in which runtimes name their functions for perf, in addition to the options in ``env``."""
    return {**env, **{name: f"{env[name]} {value}" if name in env else value for name, value in MAPS.items()}}


def map_files(pids: Iterable[int]) -> list[Path]:
    """Return the files in which runtimes name the functions of these processes, whether or not they exist."""
    return [Path(f"/tmp/{name}-{pid}.map") for pid in pids for name in ("perf", "perfinfo")]


def is_python(pid: int) -> bool:
    """Return whether a process is a Python interpreter."""
    return PYTHON.fullmatch(_program(pid).name) is not None


def has_frame_pointers(pid: int) -> bool:
    """Return whether frame pointers lead through the stacks of a process, as in Go and in programs that compile themselves.

    Compilers of C and Rust usually omit frame pointers, but describe frames for DWARF.
    """
    program = _program(pid)
    if COMPILES_ITSELF.fullmatch(program.name):
        return True
    try:
        with Path(f"/proc/{pid}/exe").open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            return content.find(GO) >= 0
    except (OSError, ValueError):
        return False


def jcmd(pid: int) -> tuple[str, ...] | None:
    """Return the command that makes a JVM name its functions for perf, or ``None`` if the process isn't a JVM or has no JDK."""
    program = _program(pid)
    if program.name != "java":
        return None
    beside = program.with_name("jcmd")
    found = str(beside) if beside.exists() else shutil.which("jcmd")
    return (found, str(pid), "Compiler.perfmap") if found else None


def _program(pid: int) -> Path:
    """Return the program that a process runs, or an empty path if it has ended."""
    try:
        return Path(f"/proc/{pid}/exe").readlink()
    except OSError:
        return Path()
