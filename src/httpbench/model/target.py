"""What is measured: targets, and the files that describe them."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Annotated

from pydantic import Field, StringConstraints, model_validator

from httpbench.model.frozen import Argv, Frozen, Name

PLACEHOLDERS = ("host", "port", "workers", "scratch", "backend_host", "backend_port", "url", "requests")
"""What the harness fills in, in a target's command line and environment, where it stands in braces."""

Package = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9+.-]*[a-z0-9+]$")]
"""A Debian package (Debian Policy, section 5.6.1). Never an option of apt-get, nor ``name-``, with which it removes a package."""


class Kind(StrEnum):
    SERVER = "server"
    CLIENT = "client"
    PROXY = "proxy"

    @property
    def plural(self) -> str:
        return "proxies" if self is Kind.PROXY else f"{self}s"


class Category(StrEnum):
    MICRO = "micro"  # an event loop that answers: no parser, no router
    PLATFORM = "platform"  # parser, router, response writer
    FULLSTACK = "fullstack"


class Tuning(StrEnum):
    DEFAULT = "default"  # as the documentation shows it
    TUNED = "tuned"  # the documented production settings
    ENGINE = "engine"  # below the framework's public surface


class Scaling(StrEnum):
    SINGLE = "single"  # one thread of work
    MULTI = "multi"  # fills the cores that it is given
    PREFORK = "prefork"  # one copy per core, started by the harness, on one port with SO_REUSEPORT


class Limit(StrEnum):
    """What a target cannot do by design. Declared in its manifest, checked to be so, and shown beside its figures."""

    NO_ROUTER = "no-router"  # answers every path alike
    NO_METHOD = "no-method"  # answers every method alike, HEAD included
    NO_HEAD = "no-head"  # answers HEAD with a body
    NO_CLOSE = "no-close"  # ignores `Connection: close`
    NO_PIPELINING = "no-pipelining"  # answers only one of several requests that arrive together
    NO_SPLIT = "no-split"  # needs a whole request in one read
    NO_KEEPALIVE = "no-keepalive"  # a client that connects anew for each request
    NO_HALF_CLOSE = "no-half-close"  # a proxy that closes both directions as soon as one has ended
    STALLS = "stalls"  # a proxy that now and then keeps the last bytes to itself when the sender has ended

    @property
    def shows_always(self) -> bool:
        """Whether whoever looks sees it; a race comes and goes."""
        return self is not Limit.STALLS


class Requirement(Frozen):
    """A program or a file that a target needs on the machine, and how to get it."""

    program: str | None = Field(default=None, pattern=r"^[^/-][^/]*$")
    """A name, looked up in PATH."""
    file: str | None = Field(default=None, pattern=r"^/")
    """An absolute path, for headers and libraries; may hold glob characters."""
    version: str | None = Field(default=None, pattern=r"^[0-9]+(\.[0-9]+)*$")
    """The oldest version that will do, as numbers joined by dots."""
    version_command: Argv | None = None
    """Prints the version; ``PROGRAM --version`` unless said. The first dotted number in its output counts."""
    apt: tuple[Package, ...] = ()
    """Debian packages that bring it."""
    install: str | None = None
    """The language's own way to get it, for systems where Debian's is missing or too old. One command or address."""

    @model_validator(mode="after")
    def _names_one_thing(self) -> Requirement:
        if (self.program is None) == (self.file is None):
            raise ValueError("give either program or file")
        if self.version and not self.program:
            raise ValueError("version needs program")
        if not self.apt and not self.install:
            raise ValueError("give apt or install, so that a user knows how to get it")
        return self

    @property
    def label(self) -> str:
        """What is needed, in words: ``ldc2 ≥ 1.30``."""
        thing = self.program or self.file or ""
        return f"{thing} ≥ {self.version}" if self.version else thing


class Build(Frozen):
    """How to build a target: commands run in a copy of its folder."""

    commands: tuple[Argv, ...] = ()
    env: dict[str, str] = {}
    artifacts: tuple[Annotated[str, StringConstraints(pattern=r"^[^/]")], ...] = ()
    """Files that must be there afterwards, relative to the build folder."""
    timeout_s: float = Field(default=1800, gt=0)


class Variant(Frozen):
    """One row of a target: how it is launched."""

    name: Name | None = None
    """Last part of the id; left out where a target has one row."""
    run: Argv
    """Placeholders: ``{host} {port} {workers} {scratch}``; proxies also ``{backend_host} {backend_port}``;
    clients ``{url} {requests}``. ``{scratch}`` is an empty folder that lasts as long as the trial."""
    env: dict[str, str] = {}
    scaling: tuple[Scaling, ...] = (Scaling.SINGLE,)
    build: Build | None = None
    """Replaces the target's build where a row is built differently."""
    limits: tuple[Limit, ...] | None = None
    """Replaces the target's limits."""
    tuning: Tuning | None = None
    notes: str | None = None

    @model_validator(mode="after")
    def _placeholders_are_known(self) -> Variant:
        for text in (*self.run, *self.env.values()):
            for name in re.findall(r"\{([a-z_]+)\}", text):
                if name not in PLACEHOLDERS:
                    raise ValueError(f"run: unknown placeholder {{{name}}}; there are: {', '.join(PLACEHOLDERS)}")
        return self

    @model_validator(mode="after")
    def _one_way_to_fill_cores(self) -> Variant:
        if not self.scaling:
            raise ValueError("scaling: name at least one of single, multi, prefork")
        if Scaling.MULTI in self.scaling and Scaling.PREFORK in self.scaling:
            raise ValueError("scaling: multi and prefork are two ways to fill the cores: choose one")
        return self


class TargetFile(Frozen):
    """A ``target.toml``: one framework, with one ``[[variant]]`` per row."""

    kind: Kind
    language: Name
    framework: Name
    category: Category
    tuning: Tuning = Tuning.DEFAULT
    upstream: str = Field(pattern=r"^https://")
    notes: str | None = None
    limits: tuple[Limit, ...] = ()
    requires: tuple[Requirement, ...] = ()
    build: Build = Build()
    version: Argv | None = None
    """Prints the version of the library that the target stands for, from within the build folder: the receipt of the build."""
    variant: Annotated[tuple[Variant, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _rows_differ(self) -> TargetFile:
        names = [variant.name for variant in self.variant]
        if len(set(names)) != len(names):
            raise ValueError("variant: two variants have the same name")
        if len(names) > 1 and None in names:
            raise ValueError("variant: each of several variants needs a name")
        return self


class Target(Frozen):
    """A program that is measured: one row of a table. Most come from a manifest; those of ``run`` from the command line."""

    id: str
    kind: Kind
    language: Name
    framework: Name
    variant: Name | None = None
    category: Category | None
    """``None``: from the command line, so nobody declared one, and nothing is built."""
    tuning: Tuning
    upstream: str | None
    notes: str | None = None
    limits: tuple[Limit, ...] = ()
    requires: tuple[Requirement, ...] = ()
    build: Build
    version: Argv | None = None
    run: tuple[str, ...]
    """Empty where there is a ``url``."""
    url: str | None = None
    """``http://HOST:PORT`` of a server that runs already: it is neither started nor stopped, and its CPU time is not known."""
    prepare: tuple[str, ...] = ()
    """A command that is run to its end before each trial; empty: none."""
    env: dict[str, str] = {}
    scaling: tuple[Scaling, ...]
    folder: str
    """Absolute path of the folder that holds its ``target.toml`` and sources; or in which a command is run."""

    @property
    def is_declared(self) -> bool:
        """By a manifest, and not on the command line."""
        return self.category is not None
