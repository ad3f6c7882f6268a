"""The images that a target's Dockerfile starts from, and whether they can be had."""

from __future__ import annotations

import os
import re
from functools import cache
from pathlib import Path

from httpbench.errors import ContainerError
from httpbench.isolate import engine as command_line
from httpbench.isolate.image import image_id
from httpbench.model import Engine, Target

REGISTRY = "HTTPBENCH_REGISTRY"
"""Names the registry of all bases, in place of each Dockerfile's own: a mirror."""
ASK_LIMIT_S = 20.0


def arguments(target: Target) -> dict[str, str]:
    """The values for ``ARG`` lines: those of the target's recipe, and the registry that the environment names."""
    recipe, registry = target.container, os.environ.get(REGISTRY)
    given = {**({"BASE": recipe.base} if recipe.base else {}), **recipe.build_args}
    return {**given, "REGISTRY": registry} if registry and "REGISTRY" in _defaults(_text(target)) else given


def bases(target: Target) -> list[str]:
    """The names of the images that its Dockerfile starts from, each once. Stages of its own are left out."""
    text = _text(target)
    values = dict(_defaults(text))
    for name, value in arguments(target).items():
        if name in values:
            values[name] = value
    stages = re.findall(r"^FROM\s+(?:--\S+\s+)*(\S+)(?:\s+AS\s+(\S+))?", text, re.MULTILINE | re.IGNORECASE)
    own = {alias.lower() for _, alias in stages if alias}
    found = [_filled(image, values) for image, _ in stages if image.lower() not in own and image != "scratch"]
    return list(dict.fromkeys(found))


def missing_base(target: Target) -> tuple[str, str] | None:
    """The first base that cannot be had, in words, and the fix; ``None`` if all can. Asks registries."""
    assert target.isolation is not None
    engine = target.isolation.engine
    missing = next((base for base in bases(target) if not _can_be_had(engine, base)), None)
    if missing is None:
        return None
    return f"base image {missing}: not on this machine, and its registry does not provide it", f"{engine} pull {missing}"


@cache
def _can_be_had(engine: Engine, image: str) -> bool:
    if image_id(engine, image):
        return True
    try:
        command_line.ask(engine, "manifest", "inspect", image, timeout_s=ASK_LIMIT_S)
    except ContainerError:
        return False
    return True


def _text(target: Target) -> str:
    try:
        return (Path(target.folder) / target.container.dockerfile).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""


def _defaults(text: str) -> dict[str, str]:
    """The ``ARG`` lines before the first stage, with what they say of each other filled in."""
    head = re.split(r"^FROM\s", text, maxsplit=1, flags=re.MULTILINE | re.IGNORECASE)[0]
    return {name: value.strip("\"'") for name, value in re.findall(r"^ARG\s+(\w+)=?(\S*)", head, re.MULTILINE | re.IGNORECASE)}


def _filled(text: str, values: dict[str, str]) -> str:
    """The text with the values of its variables, and theirs. Each one is replaced once, so this ends."""
    for _ in values:
        text = re.sub(r"\$\{(\w+)\}|\$(\w+)", lambda found: values.get(found[1] or found[2], ""), text)
    return text
