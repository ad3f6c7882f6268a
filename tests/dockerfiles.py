"""Compare the Dockerfile of a target with its target.toml and with docs/containers.md."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from httpbench.catalog import files
from httpbench.model import Kind, TargetFile

PLACEHOLDERS = {
    "host": "0.0.0.0",
    "port": "8080",
    "workers": "1",
    "scratch": "/tmp",
    "backend_host": "127.0.0.1",
    "backend_port": "8081",
    "url": "http://127.0.0.1:8080/",
    "requests": "1",
}
PROGRAM_OF_BASE = {"golang": "go", "rust": "cargo", "node": "node", "dart": "dart", "sdk": "dotnet", "ldc-ubuntu": "ldc2"}
"""Program that each official image provides, by the image's name."""
COMPILERS = re.compile(r"^(gcc|g\+\+|ldc|dub|cargo|crystal|nim|maven|make|cmake|git|.*-dev)$")
WORK_FOLDER = "/target"


@dataclass(frozen=True)
class Instruction:
    name: str
    text: str

    @property
    def words(self) -> list[str]:
        return shlex.split(self.text)


@dataclass(frozen=True)
class Dockerfile:
    text: str
    arguments: dict[str, str]
    stages: tuple[tuple[Instruction, ...], ...]
    """Stages of the build; each begins with its FROM."""

    @property
    def build(self) -> tuple[Instruction, ...]:
        """Return the stage that compiles, or an empty tuple if there is only one stage."""
        return self.stages[0] if len(self.stages) > 1 else ()

    @property
    def final(self) -> tuple[Instruction, ...]:
        return self.stages[-1]

    @property
    def instructions(self) -> list[Instruction]:
        return [instruction for stage in self.stages for instruction in stage]


def parse(text: str) -> Dockerfile:
    """Parse a Dockerfile that has no here-documents."""
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    joined = re.sub(r"\\\n\s*", "", "\n".join(lines))
    found = [Instruction(*line.split(" ", 1)) for line in joined.splitlines() if line.strip()]
    starts = [at for at, instruction in enumerate(found) if instruction.name == "FROM"]
    stages = tuple(tuple(found[start:end]) for start, end in zip(starts, [*starts[1:], len(found)], strict=True))
    arguments = dict(instruction.text.split("=", 1) for instruction in found[: starts[0]] if instruction.name == "ARG")
    return Dockerfile(text, arguments, stages)


def problems(folder: Path) -> list[str]:
    """Return the ways in which the image of this folder's target differs from the same target running as a process."""
    path = folder / "Dockerfile"
    if not path.is_file():
        return ["there is no Dockerfile"]
    file, target = parse(path.read_text()), files.read(folder / "target.toml", TargetFile)
    return [
        *_of_bases(file),
        *_of_stages(file),
        *_of_packages(file),
        *_of_requirements(file, target),
        *_of_build(file, target),
        *_of_sources(file, folder),
        *_of_launch(file, target),
        *_of_paths(file, target, folder),
    ]


def _of_bases(file: Dockerfile) -> Iterator[str]:
    several = len(file.stages) > 1
    expected = ["REGISTRY", "BUILDER", "BASE"] if several else ["REGISTRY", "BASE"]
    if list(file.arguments) != expected:
        yield f"its arguments are {', '.join(file.arguments)}, not {', '.join(expected)}"
    for name in expected[1:]:
        base = file.arguments.get(name, "")
        if not re.fullmatch(r"\$\{REGISTRY\}/[a-z0-9/-]+:[a-z0-9.-]*[0-9b][a-z0-9.-]*", base) or base.endswith(":latest"):
            yield f"{name} is not an image of the registry with a version as its tag: {base}"


def _of_stages(file: Dockerfile) -> Iterator[str]:
    bases = [stage[0].text for stage in file.stages]
    if bases not in (["${BUILDER} AS build", "${BASE}"], ["${BASE}"]):
        yield f"its stages are not `${{BUILDER}} AS build` and `${{BASE}}`: {bases}"
    if len(bases) == 1 and "\n# One stage: " not in file.text:
        yield "it has one stage, and no comment that says why: «# One stage: …»"
    users = [instruction.text for instruction in file.final if instruction.name == "USER"]
    if not users or not re.fullmatch(r"[1-9][0-9]*:[1-9][0-9]*", users[-1]):
        yield "it runs as root, or as a user without a number"
    for stage in file.stages:
        folders = [instruction.text for instruction in stage if instruction.name == "WORKDIR"]
        if folders != [WORK_FOLDER]:
            yield f"a stage works in {folders}, not in {WORK_FOLDER}"
    for instruction in file.instructions:
        if instruction.name in ("ADD", "ONBUILD", "VOLUME", "SHELL"):
            yield f"{instruction.name} is not used here"


def _of_packages(file: Dockerfile) -> Iterator[str]:
    for instruction in file.instructions:
        is_lean = "--no-install-recommends" in instruction.text and instruction.text.endswith("rm -rf /var/lib/apt/lists/*")
        if "apt-get install" in instruction.text and not is_lean:
            yield "apt-get installs without --no-install-recommends, or its lists stay in the image"
    for package in _packages(file.final):
        if COMPILERS.fullmatch(package):
            yield f"the image holds {package}, which only a build requires"


def _of_requirements(file: Dockerfile, target: TargetFile) -> Iterator[str]:
    """Check that toolchains come from the Debian packages that target.toml requires, or from a new enough official image."""
    base = file.arguments.get("BUILDER", file.arguments.get("BASE", ""))
    name, _, tag = base.rpartition("/")[2].partition(":")
    program = PROGRAM_OF_BASE.get(name)
    installed = _packages(file.build) | _packages(file.final)
    for requirement in target.requires:
        if requirement.program == program and requirement.version and _version(tag) < _version(requirement.version):
            yield f"{name}:{tag} is older than {requirement.label}"
        if name == "debian":
            yield from (f"{package} is not installed" for package in requirement.apt if package not in installed)


def _of_build(file: Dockerfile, target: TargetFile) -> Iterator[str]:
    commands = [command.strip() for instruction in file.build if instruction.name == "RUN" for command in instruction.text.split(" && ")]
    for command in target.build.commands:
        if (text := shlex.join(command).replace("'{features}'", '"${FEATURES}"')) not in commands:
            yield f"it does not run the build's command: {text}"
    if target.build.features and "FEATURES=" not in [instruction.text for instruction in file.build if instruction.name == "ARG"]:
        yield "its build has no argument for the features: ARG FEATURES="
    environment = _environment(file.build)
    for key, value in target.build.env.items():
        if environment.get(key) != value:
            yield f"its build lacks {key}={value}"


def _of_sources(file: Dockerfile, folder: Path) -> Iterator[str]:
    copied = [word for instruction in file.instructions if instruction.name == "COPY" for word in instruction.words[:-1]]
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        if path.is_file() and str(name) not in ("Dockerfile", "target.toml") and name.parts[0] not in copied:
            yield f"it does not copy {name}"
    for word in copied:
        if not word.startswith(("--from=", "/")) and not (folder / word).exists():
            yield f"it copies {word}, which is not there"


def _of_launch(file: Dockerfile, target: TargetFile) -> Iterator[str]:
    """Check that, by default, the image runs the first variant on one core and listens on port 8080 of all addresses."""
    variant = target.variant[0]
    texts = {name: [instruction.text for instruction in file.final if instruction.name == name] for name in ("ENTRYPOINT", "CMD", "EXPOSE")}
    if texts["ENTRYPOINT"] != ["[]"]:
        yield "it does not clear the entrypoint of its base: ENTRYPOINT []"
    command = [_filled(argument) for argument in variant.run]
    if len(texts["CMD"]) != 1 or json.loads(texts["CMD"][0]) != command:
        yield f"its command is not that of target.toml: {json.dumps(command)}"
    if _environment(file.final) != {key: _filled(value) for key, value in variant.env.items()}:
        yield "its environment is not that of target.toml"
    if texts["EXPOSE"] != ([] if target.kind is Kind.CLIENT else [PLACEHOLDERS["port"]]):
        yield f"it exposes {texts['EXPOSE']}"


def _of_paths(file: Dockerfile, target: TargetFile, folder: Path) -> Iterator[str]:
    """Check that the image has each program at the path from which it is launched."""
    places = [place for instruction in file.final if instruction.name == "COPY" for place in _destinations(instruction)]
    made = [*target.build.artifacts, *(str(path.relative_to(folder)) for path in folder.rglob("*"))]
    for variant in target.variant:
        for name in (word.removeprefix("./") for argument in variant.run for word in argument.split()):
            if name in made and not any(name == place or name.startswith(f"{place}/") for place in places):
                yield f"{name} is launched and not in the image"


def _destinations(copy: Instruction) -> Iterator[str]:
    *sources, destination = [word for word in copy.words if not word.startswith("--")]
    for source in sources:
        place = f"{destination}{Path(source).name}" if destination.endswith("/") else destination
        yield place.removeprefix(f"{WORK_FOLDER}/").removeprefix("./")


def _packages(stage: tuple[Instruction, ...]) -> set[str]:
    found = [re.search(r"apt-get install ([^&]*)", instruction.text) for instruction in stage]
    return {word for match in found if match for word in match[1].split() if not word.startswith("--")}


def _environment(stage: tuple[Instruction, ...]) -> dict[str, str]:
    """Return the environment variables that a stage sets, without ``LANG``, which depends on the base image."""
    pairs = [instruction.words[0].split("=", 1) for instruction in stage if instruction.name == "ENV"]
    return {key: value for key, value in pairs if key != "LANG"}


def _filled(text: str) -> str:
    for name, value in PLACEHOLDERS.items():
        text = text.replace(f"{{{name}}}", value)
    return text


def _version(text: str) -> tuple[int, ...]:
    found = re.match(r"[0-9.]+", text)
    return tuple(map(int, found[0].strip(".").split("."))) if found else ()
