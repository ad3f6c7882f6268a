"""Targets from the command line: a command that serves on ``{port}``, or the URL of a server that runs already.

They become the same frozen targets as those of a manifest, so all that can be done with a run can be done with theirs. What a
manifest declares is not known of them: no category, no upstream, nothing to build.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from urllib.parse import urlsplit

from httpbench.errors import UsageError
from httpbench.model import Build, Kind, Scaling, Target, Tuning

LANGUAGE = "command"
"""Stands where a manifest names a language, so that these ids cannot be mistaken for others."""

PLACEHOLDERS = ("host", "port", "workers", "scratch")
NAME_CHARACTERS_MAX = 40


@dataclass(frozen=True, slots=True)
class Asked:
    """What the command line says of the servers to compare."""

    commands: Sequence[str] = ()
    urls: Sequence[str] = ()
    names: Sequence[str] = ()
    """For commands, then URLs, in order; none, or one for each."""
    prepare: Sequence[str] = ()
    """None, one for all, or one for each."""
    shell: bool = False
    port: int | None = None
    """Where commands without ``{port}`` listen."""
    folder: Path = field(default_factory=Path.cwd)
    env: Mapping[str, str] = field(default_factory=dict)
    scaling: Scaling = Scaling.SINGLE


def targets_of(asked: Asked) -> list[Target]:
    """In order: commands, then URLs. Raises :class:`UsageError`."""
    if not asked.commands and not asked.urls:
        raise UsageError("there is nothing to measure", hint="name a command that serves on {port}, or --url of what runs already")
    count = len(asked.commands) + len(asked.urls)
    if asked.names and len(asked.names) != count:
        raise UsageError(f"{len(asked.names)} --name for {count} servers", hint="give one for each, in order, or none")
    if len(asked.prepare) not in (0, 1, count):
        raise UsageError(f"{len(asked.prepare)} --prepare for {count} servers", hint="give one for all, or one for each")
    ways = [(_argv(command, asked), None) for command in asked.commands] + [((), _origin(url)) for url in asked.urls]
    preparations = [_words(text, asked.shell) for text in asked.prepare]
    return [
        Target(
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
            env=dict(asked.env),
            scaling=(asked.scaling,),
            folder=str(asked.folder.resolve()),
        )
        for index, ((argv, url), name) in enumerate(zip(ways, names_of(asked), strict=True))
    ]


def path_of(urls: Sequence[str]) -> str | None:
    """The path that the URLs name, if any; one workload has one. Raises :class:`UsageError` when they differ."""
    paths = {parts.path + (f"?{parts.query}" if parts.query else "") for parts in map(urlsplit, urls)} - {"", "/"}
    if len(paths) > 1:
        raise UsageError(f"the URLs name different paths: {', '.join(sorted(paths))}", hint="ask all for one, with --path")
    return paths.pop() if paths else None


def names_of(asked: Asked) -> list[str]:
    """Short names that differ: those given, or what tells the commands apart.

    The name of the program; where two have the same, also the words that differ; where none does, a number.
    """
    given = [_slug(name) for name in asked.names]
    if "" in given:
        raise UsageError(f"«{asked.names[given.index('')]}» has no letter or digit, so it cannot be a name", hint="choose another --name")
    if len(set(given)) < len(given):
        raise UsageError(f"two servers are called {Counter(given).most_common(1)[0][0]}", hint="give each a --name of its own")
    if given:
        return given
    short = [PurePath(_first_word(command)).stem for command in asked.commands] + [urlsplit(url).netloc for url in asked.urls]
    words = [re.sub(r"\{[a-z]+\}", "", text).split()[1:] for text in (*asked.commands, *asked.urls)]
    slugs = [_slug(_told_apart(index, short, words))[:NAME_CHARACTERS_MAX].rstrip("-._+") for index in range(len(short))]
    return _numbered([slug or "server" for slug in slugs])


def _told_apart(index: int, short: Sequence[str], words: Sequence[Sequence[str]]) -> str:
    """The program, with the words of its command that not all commands of that program have."""
    alike = [words[other] for other, name in enumerate(short) if name == short[index]]
    return " ".join([short[index], *(word for word in words[index] if not all(word in other for other in alike))])


def _numbered(names: Sequence[str]) -> list[str]:
    """The second of equal names is ``name-2``."""
    found: list[str] = []
    for name in names:
        candidates = [name, *(f"{name}-{number}" for number in range(2, len(names) + 1))]
        found.append(next(candidate for candidate in candidates if candidate not in found))
    return found


def _slug(text: str) -> str:
    """As a part of an id: lower case, no slash and no blank. Empty where the text has no letter and no digit."""
    return re.sub(r"[^a-z0-9_.+]+", "-", text.lower()).strip("-._+")


def _first_word(command: str) -> str:
    return (command.split() or ["server"])[0]


def _argv(command: str, asked: Asked) -> tuple[str, ...]:
    unknown = [name for name in re.findall(r"(?<!\$)\{([a-z_]+)\}", command) if name not in PLACEHOLDERS]
    if unknown and not asked.shell:
        raise UsageError(
            f"«{command}»: unknown placeholder {{{unknown[0]}}}", hint=f"there are {', '.join(f'{{{name}}}' for name in PLACEHOLDERS)}"
        )
    if "{port}" not in command and not any("{port}" in value for value in asked.env.values()) and asked.port is None:
        raise UsageError(
            f"«{command}» does not say where it gets its port from",
            hint="write {port} where the port belongs, or name the port that it listens on with --port",
        )
    return _words(command, asked.shell)


def _words(command: str, shell: bool) -> tuple[str, ...]:
    if shell:
        return ("/bin/sh", "-c", command)
    try:
        words = tuple(shlex.split(command))
    except ValueError as error:
        raise UsageError(
            f"«{command}» cannot be split into words: {error}", hint="close the quotation, or give it to a shell with --shell"
        ) from None
    if not words:
        raise UsageError("a command is empty")
    return words


def _origin(url: str) -> str:
    """Scheme, host and port alone. Raises :class:`UsageError` for what is not plain HTTP."""
    parts = urlsplit(url)
    try:
        port = parts.port or 80
    except ValueError:
        raise UsageError(f"--url {url}: the port is not a number from 1 to 65535") from None
    if parts.scheme != "http" or not parts.hostname:
        raise UsageError(f"--url {url} is not an http URL", hint="write it as http://HOST:PORT/PATH")
    name = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"http://{name}:{port}"
