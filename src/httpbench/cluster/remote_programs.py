"""Find the load generators on a load host and their versions, and install the native one.

If possible, the copied file of the native load generator is statically linked, so that it runs on any Linux system with the same
architecture.
"""

from __future__ import annotations

import base64
import hashlib
import platform
import shutil
import subprocess
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from httpbench import load
from httpbench.errors import UsageError
from httpbench.isolate.ssh import SshConnection
from httpbench.load import LoadGenerator, programs
from httpbench.load.native import PROGRAM
from httpbench.load.tools import Found, first_version
from httpbench.model import Target
from httpbench.text import listed

NATIVE = "native"
NAME_DIGITS = 16
INSTALL_LIMIT_S = 300.0
MACHINES = ("x86_64", "aarch64")
BUILD_LIMIT_S = 1200.0
BUILD = f"cargo build --release --locked --package {PROGRAM}"


def found_there(
    connection: SshConnection, seen: Mapping[str, Any], generators: Iterable[LoadGenerator], install: Callable[[str], None] | None = None
) -> dict[str, LoadGenerator]:
    """Return the load generators found on a load host, by name. The native one is included if present, even if the run doesn't use it.

    Args:
        connection: The connection to the load host.
        seen: The report of the load host's agent.
        generators: The load generators of the run.
        install: Function that receives progress messages while a missing native load generator is installed. ``None``: don't install it.

    Raises:
        UsageError: A load generator is missing or has the wrong version.
    """
    wanted = {generator.name: generator for generator in generators}
    own = _own(connection, seen, install, required=NATIVE in wanted)
    others = {name: generator.at(_other(connection, seen, generator)) for name, generator in wanted.items() if name != NATIVE}
    return others if own is None else {NATIVE: load.get(NATIVE).at(own), **others}


def names_of(generators: Iterable[LoadGenerator]) -> list[str]:
    """Return the names of the programs to look for on a load host."""
    return [PROGRAM, *(generator.requirement.program or generator.name for generator in generators)]


def require_backend(host: str, backend: Target, seen: Mapping[str, Any]) -> None:
    """Raise :class:`UsageError` if the backend must be built, or requires a program that the load host lacks."""
    if backend.build.commands:
        raise UsageError(f"{backend.id} requires a build, so it runs on this machine only", hint="use --backend-host here")
    for one in backend.requires:
        if one.program and seen["programs"].get(one.program) is None:
            fix = f"apt-get install {' '.join(one.apt)}" if one.apt else one.install
            raise UsageError(f"{host} has no {one.program}, which {backend.id} requires", hint=f"install it there: {fix}")


def _own(connection: SshConnection, seen: Mapping[str, Any], install: Callable[[str], None] | None, *, required: bool) -> Found | None:
    """Find the native load generator in the load host's cache (same build) or ``PATH`` (same version), or install it there."""
    if not required and programs.locate(PROGRAM) is None:
        return None
    here = Path(programs.require(PROGRAM))
    version = load.get(NATIVE).version()
    name = f"{PROGRAM}-{_digest(here.read_bytes())[:NAME_DIGITS]}"  # identifies the local build, even if a portable build is copied
    kept, in_path = f"{seen['cache']}/programs/{name}", seen["programs"].get(PROGRAM)
    if _version(connection, kept) == version:
        return Found(kept, version)
    if install is not None:
        return Found(_installed(connection, portable(here, seen["machine"], install), name, version), version)
    there = _version(connection, in_path) if in_path else None
    if in_path and there == version:
        return Found(in_path, version)
    if not required:
        return None
    what = f"{connection.host} has no {PROGRAM}"
    if in_path:
        what = f"{in_path} on {connection.host} is version {there or 'unknown'}, and {version} is required"
    raise UsageError(what, hint="add --install to copy it to the user's cache there")


def _installed(connection: SshConnection, program: Path, name: str, version: str) -> str:
    """Copy the native load generator to the load host; return its path. Raise :class:`UsageError` if it is damaged or doesn't run."""
    data = program.read_bytes()
    task = {"do": "install", "name": name, "data": base64.b64encode(data).decode()}
    written = connection.ask(task, INSTALL_LIMIT_S)
    path: str = written["path"]
    if written["sha256"] != _digest(data):
        raise UsageError(f"{path} on {connection.host} was damaged on the way", hint="check the disk there, and try again")
    if _version(connection, path) != version:
        what = f"the {PROGRAM} of this machine does not run on {connection.host}"
        raise UsageError(what, hint=f"build it there: {BUILD}, and put it into PATH")
    return path


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _other(connection: SshConnection, seen: Mapping[str, Any], generator: LoadGenerator) -> Found:
    """Find a load generator other than the native one in the load host's ``PATH``."""
    name = generator.requirement.program or generator.name
    path = seen["programs"].get(name)
    if path is None:
        packages = " ".join(generator.requirement.apt)
        fix = f"apt-get install {packages}" if packages else generator.requirement.install
        raise UsageError(f"{connection.host} has no {name} in its PATH", hint=f"install it there: {fix}")
    return Found(path, generator.version_of(path, lambda argv: _printed(connection, argv)))


def _version(connection: SshConnection, path: str) -> str | None:
    """Return the version of a program on the load host, or ``None`` if the program does not run."""
    text = _printed(connection, (path, "--version"))
    return first_version(text) if text else None


def _printed(connection: SshConnection, argv: tuple[str, ...]) -> str:
    """Return the output of a short command on the load host, or an empty string if it can't run."""
    (printed,) = connection.ask({"do": "look", "files": [], "programs": [], "commands": [list(argv)]})["printed"]
    return "" if printed["code"] in (None, 126, 127) else f"{printed['stdout']}{printed['stderr']}"


def portable(program: Path, machine: str, say: Callable[[str], None]) -> Path:
    """Return the file to copy to a load host with a given architecture.

    In a checkout, this function builds the file. Otherwise, the file is ``program`` itself, which runs everywhere if it came with a wheel
    from PyPI. Other builds may require the C library of this machine.

    Args:
        program: The native load generator of this machine.
        machine: The architecture, such as ``x86_64``.
        say: Function to call with a message before a long build.

    Raises:
        UsageError: There is no file for the architecture.
    """
    if machine not in MACHINES:
        raise UsageError(f"{PROGRAM} runs on {listed(MACHINES)}, not on {machine}", hint="name another load host")
    found = _built(program, machine, say)
    if found is not None:
        return found
    if machine == platform.machine():
        return program
    raise UsageError(f"{PROGRAM} is not built for {machine} here", hint=f"build it there and add it to PATH: {BUILD}")


def _built(program: Path, machine: str, say: Callable[[str], None]) -> Path | None:
    """Build the program with cargo if ``program`` is in a checkout. Return ``None`` if that is impossible."""
    if program.parent.name != "release" or not (checkout := program.parents[2]).joinpath("Cargo.toml").is_file():
        return None
    triple = f"{machine}-unknown-linux-gnu"
    target = program.parents[1]
    found = target / triple / "release" / PROGRAM
    if shutil.which("cargo") is not None:
        if not found.is_file():
            say(f"building {PROGRAM} for load hosts, once; this takes a minute or two")
        argv = ("cargo", "static", "--quiet", "--target", triple, "--target-dir", str(target))
        done = subprocess.run(argv, cwd=checkout, capture_output=True, stdin=subprocess.DEVNULL, timeout=BUILD_LIMIT_S, check=False)
        if done.returncode and machine == platform.machine():
            return None  # a file from an earlier build may be out of date
    return found if found.is_file() else None
