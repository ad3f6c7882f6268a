"""Parse the stages of a Dockerfile and the images that a build requires.

The parser reads only the parts that name images: ``ARG`` before the first stage, ``FROM``, and the source stages of ``COPY --from`` and
``RUN --mount``. It handles comments, continued lines and here-documents in the same way as docker.

Source: docs.docker.com/reference/dockerfile.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import takewhile

SCRATCH = "scratch"
"""Name of the empty base in ``FROM scratch``, which isn't an image."""

IMAGE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@-]*")
"""Pattern that matches image names, with the characters that the OCI Distribution Specification allows. It doesn't match options."""

VALUE_MAX = 4096
"""Maximum number of characters of a value after its variables are replaced. Names of images have at most a few hundred."""

TOTAL_MAX = 1 << 20
"""Maximum number of characters of all arguments together, and of all bases together. Later ones count as too long."""

TOO_LONG = f"(a value of more than {VALUE_MAX} characters)"
"""Text that replaces a longer value. It isn't the name of an image, so a target that needs the value as a base is reported."""

_INSTRUCTION = re.compile(r"\s*(\w+)\s+(.*)", re.DOTALL)
_HERE_DOCUMENT = re.compile(r"<<-?[\"']?(\w+)[\"']?")
_ARGUMENT = re.compile(r"(\w+)(?:=(\"[^\"]*\"|'[^']*'|\S*))?")
_FROM = re.compile(r"(?:--\S+\s+)*(\S+)(?:\s+AS\s+(\S+))?", re.IGNORECASE)
_SOURCE = re.compile(r"(?<!\S)--(?:from=|mount=(?:\S*,)?from=)([^\s,]+)")
_VARIABLE = re.compile(r"\$(?:(\w+)|\{(\w+)(?::-([^{}]*))?\})")


@dataclass(frozen=True, slots=True)
class BuildStage:
    """A stage of a Dockerfile: a ``FROM`` instruction and all lines up to the next ``FROM``."""

    name: str | None
    """The name by which later stages refer to this stage, or ``None`` if it has only a number."""
    base: str
    """The base: an image, an earlier stage, or ``scratch``."""
    sources: tuple[str, ...]
    """Images and earlier stages, by name or number, from which the stage copies or mounts files."""


def arguments(text: str, given: Mapping[str, str]) -> dict[str, str]:
    """Return the arguments declared before the first stage, with their values. Values in ``given`` override the defaults."""
    found: dict[str, str] = {}
    left = TOTAL_MAX
    for name, rest in _instructions(text):
        if name == "FROM":
            break
        if name == "ARG":
            for argument in _ARGUMENT.finditer(rest):
                value = given.get(argument[1], _filled((argument[2] or "").strip("\"'"), found))
                left -= len(value)
                found[argument[1]] = value if left >= 0 else TOO_LONG
    return found


def stages(text: str, given: Mapping[str, str]) -> list[BuildStage]:
    """Return all stages in order. Values in ``given`` override the defaults of ``ARG`` lines."""
    known = arguments(text, given)
    found: list[tuple[str | None, str, list[str]]] = []
    left = TOTAL_MAX
    for instruction, rest in _instructions(text):
        if instruction == "FROM" and (match := _FROM.match(rest)):
            base = _filled(match[1].strip("\"'"), known)
            left -= len(base)
            found.append((match[2], base if left >= 0 else TOO_LONG, []))
        elif instruction in ("ADD", "COPY", "RUN") and found:
            flags = " ".join(takewhile(lambda word: word.startswith("--"), rest.split()))  # words after the flags belong to the command
            found[-1][2].extend(_SOURCE.findall(flags))
    return [BuildStage(name, base, tuple(sources)) for name, base, sources in found]


def images(found: list[BuildStage]) -> list[str]:
    """Return the distinct images that the stages start from or copy files from. References to earlier stages are left out."""
    named: list[str] = []
    names: set[str] = set()
    for number, stage in enumerate(found):
        named += [name for name in (stage.base, *stage.sources) if name.lower() not in names and name != SCRATCH]
        names |= {str(number), (stage.name or "").lower()}
    return list(dict.fromkeys(named))


def _instructions(text: str) -> Iterator[tuple[str, str]]:
    """Yield the name of each instruction, in upper case, and its arguments."""
    lines = iter([line for line in text.splitlines() if not line.lstrip().startswith("#")])
    for line in lines:
        parts = [line]
        while (last := parts[-1].rstrip()).endswith("\\"):
            parts[-1:] = [last[:-1], next(lines, "")]
        if match := _INSTRUCTION.match(" ".join(parts)):
            name = match[1].upper()
            yield name, match[2].strip()
            for end in _HERE_DOCUMENT.findall(match[2]) if name in ("RUN", "COPY", "ADD") else ():
                while next(lines, end).strip() != end:
                    pass


def _filled(text: str, values: Mapping[str, str]) -> str:
    """Replace the variables in a text with their values or defaults. Return :data:`TOO_LONG` if the result or a value in it is too long.

    The replacement stops as soon as the limit is reached, because variables that contain variables can need more than the whole memory.
    """
    parts, length, end = list[str](), 0, 0
    for found in _VARIABLE.finditer(text):
        value = values.get(found[1] or found[2]) or found[3] or ""
        parts += [text[end : found.start()], value]
        length += len(parts[-2]) + len(value)
        end = found.end()
        if value == TOO_LONG or length > VALUE_MAX:
            return TOO_LONG
    return "".join([*parts, text[end:]]) if length + len(text) - end <= VALUE_MAX else TOO_LONG
