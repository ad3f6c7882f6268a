"""Read a clone of TechEmpower's FrameworkBenchmarks, which has a ``benchmark_config.json`` in each ``frameworks/LANGUAGE/FRAMEWORK``.

Each test of a configuration becomes a target, ``language/framework`` or ``language/framework/test``, that runs in a container built from
the Dockerfile in the configuration's folder. Problems with a configuration are stored in its targets, so that one bad file doesn't hide
hundreds of good ones.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, field_validator

from httpbench.catalog.files import sentences
from httpbench.catalog.foreign import Raw, file_problems, foreign_target, no_clone, read_json, read_text, wrong_entry
from httpbench.errors import CatalogError
from httpbench.model import USUAL_CAPABILITIES, Approach, Category, ContainerRecipe, Database, Entry, Orm, Target, Tuning
from httpbench.model.frozen import RequestPath
from httpbench.model.workload import ASKS_DATABASE
from httpbench.paths import found_inside, parsed_toml
from httpbench.text import one_line

NAME = "techempower"
CONFIGURATION, OLDER_CONFIGURATION = "benchmark_config.json", "config.toml"
DEFAULT_TEST = "default"

TUNING = {Approach.REALISTIC: Tuning.TUNED, Approach.STRIPPED: Tuning.ENGINE}


def _said(value: object) -> Any:
    """Return the value of a field, or ``None`` if the value is empty or "none" (in any case)."""
    bare = value.strip() if isinstance(value, str) else value
    return None if isinstance(bare, str) and bare.lower() in ("", "none") else bare


def _in_lower_case(value: object) -> Any:
    said = _said(value)
    return said.lower() if isinstance(said, str) else said


LowerCase = BeforeValidator(_in_lower_case)
Text = Annotated[str | None, BeforeValidator(_said)]


class _Test(BaseModel):
    """One test in a configuration file. Keys that only TechEmpower's own program reads are ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    language: str = Field(min_length=1)
    port: int = Field(ge=1, le=65_535)
    classification: Annotated[Category | None, LowerCase] = None
    approach: Annotated[Approach | None, LowerCase] = None
    database: Annotated[Database | None, LowerCase] = None
    orm: Annotated[Orm | None, LowerCase] = None
    platform: Text = None
    webserver: Text = None
    display_name: Text = None
    notes: Text = None
    versus: Text = None
    tags: tuple[str, ...] = ()
    dockerfile: str = Field(pattern=r"^[^/-][^:]*$")
    docker_cmd: str | None = None
    plaintext_url: RequestPath | None = None
    json_url: RequestPath | None = None
    db_url: RequestPath | None = None
    query_url: RequestPath | None = None
    update_url: RequestPath | None = None
    fortune_url: RequestPath | None = None
    cached_query_url: RequestPath | None = None

    @field_validator("docker_cmd")
    @classmethod
    def _is_a_command_line(cls, text: str | None) -> str | None:
        shlex.split(text or "")  # raises ValueError
        return text

    @property
    def paths(self) -> dict[str, str]:
        """Request paths by test name, such as ``json``."""
        urls = {name.removesuffix("_url").replace("_", "-"): getattr(self, name) for name in _Test.model_fields if name.endswith("_url")}
        return {name: path for name, path in urls.items() if path is not None}


def read(folder: Path) -> list[Target]:
    """Return all targets of a clone, including those with an invalid configuration.

    Raises :class:`CatalogError` if the folder isn't a clone.
    """
    configurations = sorted(_configurations(folder))
    if not configurations:
        raise no_clone(folder, f"frameworks/LANGUAGE/FRAMEWORK/{CONFIGURATION}", NAME, "TechEmpower/FrameworkBenchmarks")
    return [target for path in configurations for target in _targets(path.absolute())]


def _configurations(folder: Path) -> Iterator[Path]:
    """Yield each framework's configuration file. If there is both a JSON and a TOML file, JSON wins, as in TechEmpower's own program."""
    for framework in found_inside(folder, "frameworks/*/*"):
        yield from [path for name in (CONFIGURATION, OLDER_CONFIGURATION) if (path := framework / name).is_file()][:1]


def _targets(path: Path) -> list[Target]:
    try:
        project, tests = _project(path)
    except CatalogError as error:
        return [_target(path.parent, DEFAULT_TEST, None, wrong_entry(NAME, path.parent.name, error.problems))]
    return [_target(path.parent, name, *_read(path, project, name, raw)) for name, raw in tests.items()]


def _project(path: Path) -> tuple[str, dict[str, Raw]]:
    """Return the framework's name and its raw tests. Raises :class:`CatalogError` if the structure of the file is invalid."""
    data = _data(path)
    project, listed = data.get("framework"), data.get("tests")
    problems = []
    if not isinstance(project, str) or not project:
        problems.append("framework: must be a string")
    if not isinstance(listed, list) or not all(isinstance(tests, dict) for tests in listed):
        problems.append("tests: must be an array of objects")
        listed = []
    tests = {name: raw for part in listed for name, raw in part.items()}
    problems += [f"tests.{name}: must be an object" for name, raw in tests.items() if not isinstance(raw, dict)]
    if not tests and not problems:
        problems.append("tests: must not be empty")
    if problems:
        raise CatalogError(problems)
    assert isinstance(project, str), "anything else is a problem"
    return project, tests


def _data(path: Path) -> Raw:
    """Return a configuration's data in the structure of the JSON file. Raises :class:`CatalogError` if the file can't be read."""
    if path.name == CONFIGURATION:
        return read_json(path)
    try:
        return _as_json(parsed_toml(read_text(path, path.parent)))
    except (ValueError, RecursionError) as error:
        raise CatalogError([f"{path.name} is not TOML: {one_line(str(error))}"]) from None


def _as_json(data: Raw) -> Raw:
    """Convert the data of a ``config.toml``, which has one table per test, to the structure of ``benchmark_config.json``."""
    framework = data.get("framework")
    tests = {DEFAULT_TEST if name == "main" else name: _with_urls(test) for name, test in data.items() if name != "framework"}
    return {"framework": framework.get("name") if isinstance(framework, dict) else None, "tests": [tests]}


def _with_urls(test: object) -> object:
    """Add a key such as ``json_url`` for each path in the test's table ``urls``."""
    if not isinstance(test, dict) or not isinstance(test.get("urls"), dict):
        return test
    return {**test, **{f"{name}_url": path for name, path in test["urls"].items()}}


def _read(path: Path, project: str, name: str, raw: Raw) -> tuple[_Test | None, Entry]:
    """Return a parsed test and its catalog entry. If the test is malformed, return ``None`` and an entry that lists its problems."""
    full = project if name == DEFAULT_TEST else f"{project}-{name}"
    problems = list(_beyond_the_model(path.parent, full, raw))
    given = dict(raw)
    # The TOML file states neither the language nor the port. The language is the name of a folder, and the port is in the Dockerfile.
    if path.name == OLDER_CONFIGURATION:
        told = {"language": path.parent.parent.name, "port": _exposed(path.parent, _dockerfile(full, raw))}
        given = {**{name: value for name, value in told.items() if value is not None}, **raw}
    if given.get("dockerfile") is None:
        given["dockerfile"] = _dockerfile(full, raw)
    try:
        test = _Test.model_validate(given)
    except ValidationError as error:
        return None, wrong_entry(NAME, full, [*sentences(_Test, error), *problems])
    return test, Entry(
        catalogue=NAME,
        name=full,
        display_name=test.display_name or full,
        approach=test.approach,
        database=test.database if set(test.paths) & set(ASKS_DATABASE) else None,
        orm=test.orm,
        platform=test.platform,
        webserver=test.webserver,
        versus=test.versus,
        tags=test.tags,
        problems=tuple(map(one_line, problems)),
    )


def _beyond_the_model(folder: Path, full: str, raw: Raw) -> Iterator[str]:
    """Yield the problems with a test that :class:`_Test` doesn't detect."""
    words = {name: _said(value) for name, value in raw.items() if isinstance(value, str)}
    if words.get("database") and not words.get("orm"):
        yield "orm: missing; required with a database"
    if (words.get("os") or "linux").lower() != "linux":
        yield f'os: "{words["os"]}" is not supported; only Linux is'
    if not any(name.endswith("_url") for name in raw):
        yield "no path for any test"
    yield from file_problems(folder, _dockerfile(full, raw))  # doesn't read the Dockerfiles: reading hundreds of them would take too long


def _dockerfile(full: str, raw: Raw) -> str:
    named = raw.get("dockerfile")
    return named if isinstance(named, str) else f"{full}.dockerfile"


def _exposed(folder: Path, dockerfile: str) -> str | None:
    """Return the first port that a Dockerfile exposes."""
    try:
        found = re.search(r"^[ \t]*EXPOSE[ \t]+(\d+)", read_text(folder / dockerfile, folder), re.MULTILINE | re.IGNORECASE)
    except CatalogError:
        return None
    return found[1] if found else None


def _target(folder: Path, name: str, test: _Test | None, entry: Entry) -> Target:
    """Return the target of a test. If the test is malformed (``None``), the target only lists its problems."""
    known: dict[str, Any] = {"folder": str(folder)}
    if test is not None:
        known |= {
            "category": test.classification,
            "tuning": TUNING[test.approach] if test.approach else Tuning.DEFAULT,
            "notes": test.notes,
            "run": tuple(shlex.split(test.docker_cmd or "")),
            "container": _recipe(test, entry),
            "paths": test.paths,
            "database": entry.database,
        }
    return foreign_target(entry, folder.parent.name, folder.name, None if name == DEFAULT_TEST else name, **known)


def _recipe(test: _Test, entry: Entry) -> ContainerRecipe:
    """Return the recipe of the image, with the build arguments that TechEmpower's own program sets."""
    arguments = {"BENCHMARK_ENV": "httpbench", "TFB_TEST_NAME": entry.name, "TFB_TEST_DATABASE": test.database or "none"}
    return ContainerRecipe(
        dockerfile=test.dockerfile, build_args=arguments, port=test.port, fixed_port=True, capabilities=USUAL_CAPABILITIES
    )
