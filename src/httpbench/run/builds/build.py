"""Build a target in a copy of its folder, and record what it was built from.

A build never writes to the sources, so checkouts stay clean, and installed packages may be read-only. The copy is kept and updated before
each build, so that compilers can build incrementally. After each successful build, a receipt records a fingerprint of the sources and the
build commands. File times aren't part of the fingerprint, because they are meaningless in a fresh clone.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import TypeVar

from httpbench.errors import BuildError, HttpbenchError
from httpbench.host import inherited
from httpbench.isolate import Command, ProcessTree, tail
from httpbench.model import Frozen, Target
from httpbench.paths import below, open_unlinked, user_folder

RECEIPT = ".httpbench-receipt.json"
FAILURE = ".httpbench-failure.json"
SOURCES = ".httpbench-sources.json"
VERSION_TIMEOUT_S = 20
POLL_S = 0.2
FULL_BELOW_BYTES = 1 << 20
NO_SPACE = "No space left on device"
Kept = TypeVar("Kept", bound=Frozen)
IGNORED = ("__pycache__", ".git", "Dockerfile")

SOURCES_BYTES_MAX = 1 << 30
"""Maximum total size of a target's sources and their names, in bytes. All sources are read whenever the target is listed."""

BLOCK_BYTES = 1 << 20
"""Number of bytes of a source that are read at once."""


class Receipt(Frozen, extra="ignore"):
    """The record of a successful build. Unknown keys are ignored, because earlier versions of httpbench also stored the sources."""

    fingerprint: str
    version: str | None
    """The first dotted number in the output of the target's ``version`` command or, if there is none, the first line of the output."""


class Failure(Frozen):
    """The record of a failed build."""

    fingerprint: str
    message: str
    log_tail: str | None


@dataclass(frozen=True, slots=True)
class BuildState:
    """The state of a target's build, according to the stored records."""

    folder: Path
    receipt: Receipt | None = None
    failure: Failure | None = None


def cache_folder() -> Path:
    """Return httpbench's cache folder, which contains all builds."""
    return user_folder("XDG_CACHE_HOME", ".cache")


def build_folder(target: Target) -> Path:
    """Return the folder in which a target is built with its features. Variants with identical builds share a folder."""
    key = hashlib.sha256(f"{target.folder}\n{_recipe(target)}".encode()).hexdigest()[:12]
    return cache_folder() / "builds" / f"{target.kind}-{target.language}-{target.framework}-{key}"


def _compiled_crates() -> Path:
    """Return the folder in which cargo keeps compiled dependencies, which all targets share. Cargo before 1.91 ignores it.

    A build with other features compiles only the crates that differ. Go's cache of compiled packages does the same.
    """
    return cache_folder() / "builds" / "crates"


def log_of(target: Target) -> Path:
    """Return the path of the log of the target's last build."""
    return beside(build_folder(target), ".log")


def beside(folder: Path, ending: str) -> Path:
    """Return the path of a file beside a build's folder, with the folder's name, which can contain dots, and an ending."""
    return folder.with_name(folder.name + ending)


def state(target: Target) -> BuildState:
    """Return the build state of the current sources: with a receipt after success, a failure after an error, or neither if not built."""
    folder = build_folder(target)
    try:
        fingerprint = fingerprint_of(target)
    except OSError as error:
        message = f"its sources cannot be read: {error.strerror}: {error.filename}"
        return BuildState(folder, failure=Failure(fingerprint="", message=message, log_tail=None))
    receipt = read_kept(folder / RECEIPT, Receipt)
    if receipt and receipt.fingerprint == fingerprint and not _missing_artifacts(target, folder):
        return BuildState(folder, receipt)
    failure = read_kept(folder / FAILURE, Failure)
    return BuildState(folder, failure=failure if failure and failure.fingerprint == fingerprint else None)


def build(target: Target, cancelled: Event) -> BuildState:
    """Build a target unless its build is up to date. Raises :class:`BuildError` with the tail of the log if the build fails.

    If another thread sets ``cancelled``, the build stops and leaves no record.
    """
    try:
        with _lock(target, cancelled):
            known = state(target)
            return known if known.receipt else _build(target, known.folder, cancelled)
    except OSError as error:
        place = f": {error.filename}" if error.filename else ""
        raise BuildError(
            f"cannot be built in {build_folder(target)}: {error.strerror}{place}",
            hint="set the environment variable XDG_CACHE_HOME to build in another folder",
        ) from None


def _build(target: Target, folder: Path, cancelled: Event) -> BuildState:
    fingerprint = fingerprint_of(target)
    (folder / FAILURE).unlink(missing_ok=True)
    (folder / RECEIPT).unlink(missing_ok=True)
    try:
        _copy_sources(target, folder)
        _run_commands(target, folder, cancelled)
        version = version_of(target, folder)
    except BuildError as error:
        if cancelled.is_set():
            raise
        if shutil.disk_usage(folder).free < FULL_BELOW_BYTES or NO_SPACE in (error.log_tail or ""):
            error = _without_its_files(folder, error)
        failure = Failure(fingerprint=fingerprint, message=error.message, log_tail=error.log_tail)
        (folder / FAILURE).write_text(failure.model_dump_json())
        raise error from None
    receipt = Receipt(fingerprint=fingerprint, version=version)
    (folder / RECEIPT).write_text(receipt.model_dump_json())
    return BuildState(folder, receipt)


def version_of(target: Target, folder: Path) -> str | None:
    """Return the version that the target's ``version`` command prints. Raises :class:`BuildError` if the command fails."""
    if target.version is None:
        return None
    try:
        done = subprocess.run(
            target.version,
            cwd=folder,
            env=inherited.for_builds(),
            capture_output=True,
            text=True,
            errors="replace",
            timeout=VERSION_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BuildError(f"its version command could not be run: {error}") from None
    printed = done.stdout + done.stderr
    if done.returncode != 0:
        raise BuildError(f"its version command failed: {' '.join(target.version)}", log_tail=printed.strip() or None)
    number = re.search(r"(?<!\d)\d+(\.\d+)+", printed)
    return number.group() if number else printed.strip().partition("\n")[0] or None


def _run_commands(target: Target, folder: Path, cancelled: Event) -> None:
    log = log_of(target)
    log.unlink(missing_ok=True)
    deadline = time.monotonic() + target.build.timeout_s
    for argv in target.recipe.commands:
        with log.open("a") as file:
            file.write(f"$ {' '.join(argv)}\n")
        env = {**inherited.for_builds(), "CARGO_BUILD_BUILD_DIR": str(_compiled_crates()), **target.build.env}
        run_logged(Command(argv, folder, env), log, deadline, target.build.timeout_s, cancelled, "its build", f": {' '.join(argv)}")
    if missing := _missing_artifacts(target, folder):
        raise BuildError(f"its build succeeded but did not create {', '.join(missing)}", log_tail=tail(log))


def run_logged(command: Command, log: Path, deadline: float, limit_s: float, cancelled: Event, what: str, detail: str = "") -> None:
    """Run a build command and append its output to ``log``.

    Raises :class:`BuildError` if the command fails, is still running at ``deadline``, or is cancelled. In the error message, ``what`` is
    the subject, ``limit_s`` is the time limit in seconds, and ``detail`` follows the exit code of a failed command.
    """
    try:
        with ProcessTree([command], stdout=log, stderr=log) as process:
            while (end := process.wait(POLL_S)) is None and time.monotonic() < deadline and not cancelled.is_set():
                pass
    except HttpbenchError as error:
        raise BuildError(error.message, log_tail=tail(log)) from None
    if cancelled.is_set():
        raise BuildError(f"{what} was interrupted")
    if end is None:
        raise BuildError(f"{what} took longer than {limit_s:g} s and was ended", log_tail=tail(log))
    if end.code != 0:
        raise BuildError(f"{what} failed, {end}{detail}", hint=f"the whole log: {log}", log_tail=tail(log))


def _without_its_files(folder: Path, error: BuildError) -> BuildError:
    """Delete the files of a build that filled the disk, to leave space for other builds and for results. Return the error to report."""
    for each in (folder, _compiled_crates()):
        shutil.rmtree(each, ignore_errors=True)
    folder.mkdir()
    hint = "free some space, or set the environment variable XDG_CACHE_HOME to build on another disk"
    return BuildError("the disk was full when its build failed, so its files were deleted", hint=hint, log_tail=error.log_tail)


def _sources(folder: Path, ignored: Collection[str]) -> list[str]:
    """Return the relative paths of the files at any depth of a folder, in the order of their parts. Links to folders aren't followed.

    Raises :class:`OSError` if a folder can't be read or the files have more than :data:`SOURCES_BYTES_MAX` bytes. Missing and forbidden
    folders count as empty.
    """
    found, size_bytes = list[str](), 0
    for entry in below(folder, ignored, (FileNotFoundError, PermissionError)):
        if (path := Path(entry.path)).is_file():
            found.append(name := entry.path.removeprefix(f"{folder}/"))
            size_bytes += path.stat().st_size + len(name)
        if size_bytes > SOURCES_BYTES_MAX:
            advice = f"move large files and links to them out of the folder, which has more than {SOURCES_BYTES_MAX >> 30} GiB"
            raise OSError(errno.EFBIG, advice, str(folder))
    return sorted(found, key=lambda name: name.replace("/", "\0"))


def fingerprint_of(target: Target) -> str:
    """Hash the sources and the build section of the manifest: everything that a build depends on, except the machine's toolchains."""
    return hash_of(Path(target.folder), _recipe(target), IGNORED)


def _recipe(target: Target) -> str:
    """Return the build as text. The features are part of its commands."""
    return target.recipe.model_dump_json(exclude={"features"})


def hash_of(folder: Path, recipe: str, ignored: Collection[str]) -> str:
    """Hash a recipe and the sources in a folder. The manifest and the files and folders named in ``ignored`` are left out.

    A link that leads out of the folder counts with its text and the size and time of the file behind it, which isn't read. Raises
    :class:`OSError` if a source can't be read or the sources are too large.
    """
    digest, real = hashlib.sha256(recipe.encode()), folder.resolve()
    for name in _sources(folder, ignored):
        path = folder / name
        if path.name == "target.toml":
            continue
        found, shown = path.stat(), os.fsencode(name)
        if path.is_symlink() and not path.resolve().is_relative_to(real):
            link = f" link {found.st_size} {found.st_mtime_ns}\n".encode()
            digest.update(b"\n" + shown + link + os.fsencode(path.readlink()))
            continue
        digest.update(b"\n" + shown + f" {found.st_mode & 0o100}\n".encode())
        with path.open("rb") as file:
            while block := file.read(BLOCK_BYTES):
                digest.update(block)
    return digest.hexdigest()


def _copy_sources(target: Target, folder: Path) -> None:
    """Update the copy of the sources, but keep the files that the last build created."""
    origin = Path(target.folder)
    names = _sources(origin, IGNORED)
    listing = folder / SOURCES
    before = json.loads(listing.read_text()) if listing.exists() else []
    for gone in set(before) - set(names):
        (folder / gone).unlink(missing_ok=True)
    for name in names:
        copy = folder / name
        _make_folder(copy.parent)
        content = (origin / name).read_bytes()
        if not copy.exists() or copy.read_bytes() != content:  # an unchanged file keeps its modification time, for incremental builds
            copy.unlink(missing_ok=True)
            copy.write_bytes(content)
        shutil.copymode(origin / name, copy)
    listing.write_text(json.dumps(names))


def _make_folder(folder: Path) -> None:
    """Create a folder and its parents. ``Path.mkdir`` would end with an error in a thousand nested folders."""
    missing = []
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    for each in reversed(missing):
        each.mkdir(exist_ok=True)


def _missing_artifacts(target: Target, folder: Path) -> list[str]:
    return [name for name in target.build.artifacts if not (folder / name).exists()]


@contextmanager
def _lock(target: Target, cancelled: Event) -> Iterator[None]:
    """Allow one build at a time in a folder, across all processes."""
    folder = build_folder(target)
    folder.mkdir(parents=True, exist_ok=True)
    deadline = time.monotonic() + target.build.timeout_s
    # A mounted cache can belong to another user. That user could also change the built programs, so the lock's owner doesn't matter.
    with os.fdopen(open_unlinked(beside(folder, ".lock"), os.O_WRONLY | os.O_CREAT, of_any_user=True), "w") as file:
        while True:
            with suppress(BlockingIOError):
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # doesn't block, so that this thread can react to an interruption
                break
            if cancelled.wait(POLL_S):
                raise BuildError("its build was interrupted")
            if time.monotonic() > deadline:
                raise BuildError(f"another httpbench has been building it for {target.build.timeout_s:g} s")
        yield


def read_kept(path: Path, model: type[Kept]) -> Kept | None:
    """Return the stored record, or ``None`` if it is missing or its format is unknown, for example from another version of httpbench."""
    try:
        return model.model_validate_json(path.read_text())
    except (OSError, ValueError):
        return None
