"""Create targets from the command line: a command that serves on ``{port}``, the URL of a running server, or an image.

A run treats these targets like those from a manifest. Facts that only a manifest declares are unknown: these targets have no category, no
upstream and no build.
"""

from __future__ import annotations

import hashlib
import re
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from urllib.parse import urlsplit

from httpbench.errors import UsageError
from httpbench.model import UNIX, Build, Isolation, Kind, Scaling, Target, Tuning
from httpbench.run.plan.command_names import ASSIGNMENT, Named, named
from httpbench.run.plan.isolated import isolated

LANGUAGE = "command"
"""Word used instead of a language in the ids of these targets, to distinguish them from ids in manifests."""

PLACEHOLDERS = ("host", "port", "workers", "scratch", "cert", "key")
NAME_CHARACTERS_MAX = 40
FOLDERS_MAX = 2
"""Maximum number of folders in a name."""
HASH_DIGITS = 6
SECRET_CHARACTERS_MIN = 8
"""Minimum length of a variable's value that names omit. A shorter value, such as ``1``, might occur in a name by chance."""
SHELL_OPERATORS = ("&&", "||", "|", ";", "&", "<", ">", ">>", "2>", "2>&1", "&>")
"""Words that only a shell understands, unless they are quoted."""
SHELL_BUILTINS = ("cd", "exec", "export", "source", ".", "ulimit", "unset")


@dataclass(frozen=True, slots=True)
class Servers:
    """The servers given on the command line."""

    commands: Sequence[str] = ()
    urls: Sequence[str] = ()
    images: Sequence[str] = ()
    """Container images, each of which runs its own command."""
    isolation: Isolation | None = None
    """Engine and limits of the containers that run ``images``."""
    names: Sequence[str] = ()
    """Names of commands, URLs and images, in this order: none, or one per server."""
    prepare: Sequence[str] = ()
    """Preparation commands: none, one for all servers, or one per server."""
    shell: bool = False
    port: int | None = None
    """Port for commands that don't contain ``{port}``, and for the server inside an image."""
    folder: Path = field(default_factory=Path.cwd)
    env: Mapping[str, str] = field(default_factory=dict)
    scaling: Scaling = Scaling.SINGLE


def targets_of(servers: Servers) -> list[Target]:
    """Return the targets in this order: commands, URLs, images. Raises :class:`UsageError` if options are inconsistent."""
    count = len(servers.commands) + len(servers.urls) + len(servers.images)
    if not count:
        raise UsageError("no server given", hint="give a command with {port}, --url URL or --image IMAGE")
    if servers.names and len(servers.names) != count:
        raise UsageError(f"{len(servers.names)} --name for {count} servers", hint="give one per server, in order, or none")
    if len(servers.prepare) not in (0, 1, count):
        raise UsageError(f"{len(servers.prepare)} --prepare for {count} servers", hint="give one for all servers, or one per server")
    ways: list[tuple[tuple[str, ...], str | None, str | None]] = [(_argv(command, servers), None, None) for command in servers.commands]
    ways += [*(((), _origin(url), None) for url in servers.urls), *(((), None, image) for image in servers.images)]
    preparations = [_words(text, servers.shell) for text in servers.prepare]
    found = []
    for index, ((argv, url, image), name) in enumerate(zip(ways, names_of(servers), strict=True)):
        target = Target(
            id=f"{LANGUAGE}/{name}",
            kind=Kind.SERVER,
            language=LANGUAGE,
            framework=name,
            category=None,
            tuning=Tuning.DEFAULT,
            upstream=None,
            build=Build(),
            run=argv,
            url=url,
            prepare=preparations[index % len(preparations)] if preparations else (),
            env=dict(servers.env),
            scaling=(servers.scaling,),
            folder=str(servers.folder.resolve()),
        )
        if image is not None:
            assert servers.isolation is not None, "the command line chooses an engine for images"
            target = isolated(target, servers.isolation.model_copy(update={"port": servers.port, "image": image}))
        found.append(target)
    return found


def path_of(urls: Sequence[str]) -> str | None:
    """Return the path and query that the URLs share, or ``None``.

    Raises :class:`UsageError` if the paths differ, because a workload has only one path.
    """
    found = [urlsplit(url) for url in urls if not url.startswith(UNIX)]
    paths = {parts.path + (f"?{parts.query}" if parts.query else "") for parts in found} - {"", "/"}
    if len(paths) > 1:
        raise UsageError(f"the URLs have different paths: {', '.join(sorted(paths))}", hint="set one path with --path")
    return paths.pop() if paths else None


def names_of(servers: Servers) -> list[str]:
    """Return a distinct name for each server: the given name, or a name derived from its command, URL or image.

    A command is named after its program or script, with its last two folders and its arguments. The name therefore doesn't depend on the
    other servers of the run, so that ``compare`` and ``history`` find the server again. Only if two names are equal, the second one ends
    with a number.
    """
    given = [_slug(name) for name in servers.names]
    if "" in given:
        raise UsageError(f'"{servers.names[given.index("")]}" is not a name: it has no letter or digit', hint="choose another --name")
    if len(set(given)) < len(given):
        raise UsageError(f"two servers have the name {Counter(given).most_common(1)[0][0]}", hint="give each its own --name")
    if given:
        return given
    secrets = [value for value in servers.env.values() if len(value) >= SECRET_CHARACTERS_MIN]
    names = [_full_name(named(command), secrets) for command in servers.commands]
    names += [*(urlsplit(url).netloc or url for url in servers.urls), *(image.rpartition("/")[2] for image in servers.images)]
    return _numbered([_shortened(_slug(name)) or "server" for name in names])


def _full_name(program: Named, secrets: Sequence[str]) -> str:
    """Return the program's name with its last folders and its arguments, but without the user's home folder and without secrets."""
    path, home = PurePath(*program.folders), Path.home()
    folder = path.relative_to(home) if path.is_relative_to(home) else path
    words = (word for word in program.words if not any(secret in word for secret in secrets))
    return " ".join([*folder.parts[-FOLDERS_MAX:], program.name, *words])


def _shortened(slug: str) -> str:
    """Return a name of limited length. If it is shortened, it ends with a hash, so that it stays distinct."""
    if len(slug) <= NAME_CHARACTERS_MAX:
        return slug
    digest = hashlib.sha256(slug.encode()).hexdigest()[:HASH_DIGITS]
    return f"{slug[: NAME_CHARACTERS_MAX - HASH_DIGITS - 1].rstrip('-._+')}-{digest}"


def _numbered(names: Sequence[str]) -> list[str]:
    """Return distinct names by numbering equal ones: the second one becomes ``name-2``."""
    found: list[str] = []
    for name in names:
        candidates = [name, *(f"{name}-{number}" for number in range(2, len(names) + 1))]
        found.append(next(candidate for candidate in candidates if candidate not in found))
    return found


def _slug(text: str) -> str:
    """Convert text to lower case without slashes or spaces, for use in an id. The result is empty if there is no letter or digit."""
    return re.sub(r"[^a-z0-9_.+]+", "-", text.lower()).strip("-._+")


def _argv(command: str, servers: Servers) -> tuple[str, ...]:
    words = _words(command, servers.shell)
    unknown = [name for name in re.findall(r"(?<!\$)\{([a-z_]+)\}", command) if name not in PLACEHOLDERS]
    if unknown and not servers.shell:
        raise UsageError(
            f'"{command}": unknown placeholder {{{unknown[0]}}}',
            hint=f"placeholders are {', '.join(f'{{{name}}}' for name in PLACEHOLDERS)}",
        )
    if "{port}" not in command and not any("{port}" in value for value in servers.env.values()) and servers.port is None:
        raise UsageError(
            f'"{command}" has no {{port}}',
            hint="write {port} where the port belongs, or give the port that it listens on with --port",
        )
    return words


def _words(command: str, shell: bool) -> tuple[str, ...]:
    if shell:
        return ("/bin/sh", "-c", command)
    try:
        _refuse_shell_syntax(command, shlex.split(command, posix=False))
        words = tuple(shlex.split(command))
    except ValueError as error:
        raise UsageError(
            f'"{command}" cannot be split into words: {error}', hint="close the quotation, or pass it to a shell with --shell"
        ) from None
    if not words:
        raise UsageError("a command is empty")
    return words


def _refuse_shell_syntax(command: str, words: Sequence[str]) -> None:
    """Raise :class:`UsageError` if a command only works in a shell. ``words`` still have their quotes.

    The messages don't repeat values of variables, which may be secret.
    """
    if words and (assigned := ASSIGNMENT.match(words[0])):
        raise UsageError(f"a command begins with {assigned[0]}…, which requires a shell", hint=f"use --env {assigned[0]}VALUE, or --shell")
    used = next((word for word in words if word in SHELL_OPERATORS or word == words[0] in SHELL_BUILTINS), None)
    if used is not None:
        folder = ", or name the folder with --cwd" if used == "cd" else ""
        raise UsageError(f'"{command}" uses {used}, which requires a shell', hint=f"run commands in a shell with --shell{folder}")


def _origin(url: str) -> str:
    """Return the scheme, host and port of a URL, or the absolute path of a Unix socket as ``unix:PATH``.

    Raises :class:`UsageError` if it isn't an ``http`` or ``https`` URL or the path of a Unix socket.
    """
    if url.startswith(UNIX):
        path = url.removeprefix(UNIX).removeprefix("//")
        if not path:
            raise UsageError(f"--url {url} has no path", hint="its form is unix:PATH; --path sets the request path")
        return f"{UNIX}{Path(path).absolute()}"
    parts = urlsplit(url)
    try:
        port = parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:
        raise UsageError(f"--url {url}: the port is not a number from 1 to 65535") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError(
            f"--url {url} is not an http or https URL", hint="its form is http://HOST:PORT/PATH, or unix:PATH for a Unix socket"
        )
    name = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{name}:{port}"
