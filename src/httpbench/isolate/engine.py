"""Run docker and podman through their command lines, which is the only way httpbench talks to a container engine.

Users can paste every command into a shell. Each command has a time limit, so that a hanging engine doesn't hang the run.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache

from httpbench.errors import ContainerError, RequirementError
from httpbench.model import Engine, Requirement

TIMEOUT_S = 30.0
ENVIRONMENT = (
    *("DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_CONFIG", "DOCKER_CERT_PATH", "DOCKER_TLS_VERIFY", "DOCKER_API_VERSION"),
    *("CONTAINER_HOST", "CONTAINERS_CONF", "CONTAINERS_STORAGE_CONF", "XDG_RUNTIME_DIR"),
)
"""Environment variables that select the engine's daemon."""

PACKAGES = {Engine.DOCKER: "docker.io", Engine.PODMAN: "podman"}
"""Debian package of each engine."""

VERSION = {Engine.DOCKER: "{{.Server.Version}}", Engine.PODMAN: "{{.Client.Version}}"}

UNREACHABLE = ("cannot connect to the docker daemon", "is the docker daemon running", "connection refused", "no such host", "i/o timeout")
FORBIDDEN = re.compile(r"permission denied.{0,500}(daemon|socket|api)")


def requirement(engine: Engine) -> Requirement:
    """Return the engine's command as a requirement."""
    return Requirement(program=str(engine), apt=(PACKAGES[engine],))


def program(engine: Engine) -> str:
    """Return the path of the engine's command. Raises :class:`RequirementError` if the engine isn't installed."""
    found = shutil.which(engine)
    if found is None:
        raise RequirementError(f"{engine} is not installed", hint=f"apt-get install {PACKAGES[engine]}")
    return found


@cache
def version(engine: Engine) -> str:
    """Return the version of the engine. Raises :class:`RequirementError` with a hint if the engine doesn't respond."""
    try:
        return ask(engine, "version", "--format", VERSION[engine])
    except ContainerError as error:
        raise RequirementError(error.message, hint=error.hint) from None


def ask(engine: Engine, *words: str, timeout_s: float = TIMEOUT_S) -> str:
    """Run a command of the engine and return its output. Raises :class:`ContainerError` if it fails or takes too long."""
    argv = [program(engine), *words]
    try:
        # The command gets its own session, because Ctrl-C must not end a command that cleans up.
        done = subprocess.run(argv, capture_output=True, text=True, timeout=timeout_s, check=False, start_new_session=True)
    except subprocess.TimeoutExpired:
        raise ContainerError(
            f"{engine} {words[0]} did not end within {timeout_s:g} s", hint=f"check whether `{engine} ps` responds"
        ) from None
    if done.returncode != 0:
        raise failure(engine, words, done.stderr)
    return done.stdout.strip()


def failure(engine: Engine, words: Sequence[str], printed: str) -> ContainerError:
    """Turn the output of a failed command into an error with a hint."""
    text = printed.lower()
    if any(mark in text for mark in UNREACHABLE):
        return ContainerError(f"the {engine} daemon does not respond", hint="systemctl start docker, or `dockerd` as root")
    if FORBIDDEN.search(text):
        return ContainerError(
            f"this user may not use the {engine} daemon: permission denied on its socket",
            hint="usermod -aG docker USER and log in again, or run httpbench as root",
        )
    last = printed.strip().splitlines()[-1:] or ["it printed nothing"]
    return ContainerError(f"{engine} {words[0]} failed: {last[0]}", log_tail=printed.strip() or None)


def environment() -> dict[str, str]:
    """Return the environment variables that select the daemon and are set in this process."""
    return {name: os.environ[name] for name in ENVIRONMENT if name in os.environ}
