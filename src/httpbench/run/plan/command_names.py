"""Name a command line after its program or, if the program is an interpreter, after the script."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, replace
from pathlib import PurePath

from httpbench.model import PLACEHOLDER


@dataclass(frozen=True, slots=True)
class Named:
    """The program that a command line runs."""

    name: str
    """The program's file name, such as ``server.py``, or the name of a module, such as ``http.server``."""
    folders: tuple[str, ...]
    """The folders in the program's path, as given in the command."""
    words: tuple[str, ...]
    """All other words of the command, except those with the address or port."""


@dataclass(frozen=True, slots=True)
class _Interpreter:
    """The syntax of an interpreter's command line. Each field contains words separated by spaces."""

    names: str = ""
    """Options that take the program as their value."""
    values: str = ""
    """Other options that take the next word as their value."""
    inline: str = ""
    """Options whose value is the text of the program, which then has no name."""
    verbs: str = ""
    """Subcommands that may come before the script."""


_PYTHON = _Interpreter(names="-m", values="-W -X", inline="-c")
_NODE = _Interpreter(values="-r --require --import --loader --env-file", inline="-e --eval -p --print")
_SHELL = _Interpreter(values="-o", inline="-c")
_JAVA_VALUES = "-cp -classpath --class-path -p --module-path --add-modules --add-opens"

_INTERPRETERS = {
    "python": _PYTHON,
    "pypy": _PYTHON,
    "node": _NODE,
    "nodejs": _NODE,
    "deno": _Interpreter(values="-c --config --import-map", verbs="run serve"),
    "bun": _Interpreter(values="-r --preload", inline="-e --eval", verbs="run"),
    "ruby": _Interpreter(values="-I -r -C", inline="-e"),
    "perl": _Interpreter(values="-I", inline="-e -E"),
    "php": _Interpreter(values="-S -t -d -c", inline="-r"),
    "java": _Interpreter(names="-jar -m --module", values=_JAVA_VALUES),
    "sh": _SHELL,
    "bash": _SHELL,
}

PROGRAM_SUFFIXES = (".bin", ".exe", ".out")
"""Suffixes that a program's name omits."""

_VERSION = re.compile(r"(?<![\d.])[\d.]+$")
"""The version at the end of a program's name, as in ``python3.11``."""
_OF_ADDRESS = re.compile(r"--?(p|port|h|host|b|bind|l|listen|addr|address)")
"""Options that take an address or a port."""
ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
"""The beginning of a word that sets a variable in a shell."""


def named(command: str) -> Named:
    """Return the program that a command line runs, such as ``server`` for the shell command ``cd x && A=1 exec ./server``."""
    *before, last = map(_words, re.split(r"&&|;", command.strip().rstrip(";&")))
    entered = [PurePath(words[1]) for words in before if words[:1] == ["cd"] and len(words) > 1]
    found = _named(_without_prefix(last))
    return replace(found, folders=(*(folder for path in entered for folder in path.parts), *found.folders))


def _named(words: list[str]) -> Named:
    if not words:
        return Named("server", (), ())
    program = PurePath(words[0])
    interpreter = _INTERPRETERS.get(_VERSION.sub("", program.name))
    at = _script_at(interpreter, words) if interpreter else None
    if at is None:
        name = program.stem if program.suffix in PROGRAM_SUFFIXES else program.name
        return Named(name, program.parent.parts, _others(words[1:]))
    script = PurePath(words[at])
    is_option = words[at - 1] in (interpreter.names.split() if interpreter else ())
    return Named(script.name, script.parent.parts, _others((*words[1 : at - is_option], *words[at + 1 :])))


def _script_at(interpreter: _Interpreter, words: list[str]) -> int | None:
    """Return the index of the word that names the script or module to interpret, or ``None`` if no word does."""
    numbered = iter(enumerate(words))
    next(numbered)  # skip the interpreter itself
    for at, word in numbered:
        if word in interpreter.inline.split():
            return None
        if word in interpreter.names.split():
            return at + 1 if at + 1 < len(words) else None
        if word in interpreter.values.split():
            next(numbered, None)
        elif not (word.startswith("-") or word in interpreter.verbs.split() or PLACEHOLDER.search(word)):
            return at
    return None


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:
        return command.split()


def _without_prefix(words: list[str]) -> list[str]:
    """Remove ``exec``, ``env`` and assignments before the program."""
    at = 0
    while at < len(words) - 1 and (words[at] in ("exec", "env") or ASSIGNMENT.match(words[at])):
        at += 1
    return words[at:]


def _others(words: tuple[str, ...] | list[str]) -> tuple[str, ...]:
    """Return the words without placeholders, and without the options whose values they are, as in ``--port {port}``."""
    kept: list[str] = []
    for word in words:
        if not PLACEHOLDER.search(word):
            kept.append(word)
        elif kept and _OF_ADDRESS.fullmatch(kept[-1]):
            kept.pop()
    return tuple(kept)
