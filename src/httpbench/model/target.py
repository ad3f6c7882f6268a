"""Targets, and the files that describe them."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Annotated

from pydantic import Field, StringConstraints, model_validator

from httpbench.model.container import ContainerRecipe, Isolation, NetworkMode
from httpbench.model.entry import Database, Entry
from httpbench.model.frozen import Argv, Frozen, Id, Name, RequestPath

PLACEHOLDERS = ("host", "port", "workers", "scratch", "backend_host", "backend_port", "url", "requests")
"""Names of the placeholders, written in braces, that the harness replaces in a target's command line and environment."""

Package = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9+.-]*[a-z0-9+]$")]
"""Name of a Debian package (Debian Policy, section 5.6.1). The pattern rejects options of apt-get. It also rejects names that end
with ``-``, because apt-get would remove the package."""


class Kind(StrEnum):
    SERVER = "server"
    CLIENT = "client"
    PROXY = "proxy"

    @property
    def plural(self) -> str:
        return "proxies" if self is Kind.PROXY else f"{self}s"


class Category(StrEnum):
    MICRO = "micro"  # only an event loop, without a parser or router
    PLATFORM = "platform"  # parser, router, response writer
    FULLSTACK = "fullstack"


class Tuning(StrEnum):
    DEFAULT = "default"  # as the documentation shows it
    TUNED = "tuned"  # the documented production settings
    ENGINE = "engine"  # below the framework's public interface


class Scaling(StrEnum):
    SINGLE = "single"  # one thread of work
    MULTI = "multi"  # fills its cores
    PREFORK = "prefork"  # one copy per core, started by the harness on one port with SO_REUSEPORT


class Limit(StrEnum):
    """Something a target can't do by design. Its manifest declares the limit, the harness checks it, and tables show it."""

    NO_ROUTER = "no-router"  # ignores the path
    NO_METHOD = "no-method"  # ignores the method, including HEAD
    NO_HEAD = "no-head"  # responds to HEAD with a body
    NO_CLOSE = "no-close"  # ignores `Connection: close`
    NO_PIPELINING = "no-pipelining"  # responds to only one of several requests that arrive together
    NO_SPLIT = "no-split"  # requires each request to arrive in one read
    NO_BODY = "no-body"  # treats the body of a request as further requests
    NO_BODY_PIPELINING = "no-body-pipelining"  # loses a request pipelined after a body, in some versions of the library
    NO_KEEPALIVE = "no-keepalive"  # a client that opens a new connection for each request
    NO_HALF_CLOSE = "no-half-close"  # a proxy that closes both directions as soon as one ends
    STALLS = "stalls"  # a proxy that sometimes withholds the last bytes after the sender has finished

    @property
    def shows_always(self) -> bool:
        """Whether every check detects this limit. A check can miss a race, or a fault that only some versions of a library have."""
        return self not in (Limit.STALLS, Limit.NO_BODY_PIPELINING)


class Requirement(Frozen):
    """A program or file that a target requires, and how to install it."""

    program: str | None = Field(default=None, pattern=r"^[^/-][^/]*$")
    """Name of a program that must be in PATH. Null: ``file`` is required instead."""
    file: str | None = Field(default=None, pattern=r"^/")
    """Absolute path of a required file, such as a header or a library. The path can contain glob characters. Null: ``program`` is required
    instead."""
    version: str | None = Field(default=None, pattern=r"^[0-9]+(\.[0-9]+)*$")
    """Minimum version, as numbers separated by dots. Null: any version."""
    version_command: Argv | None = None
    """Command that prints the version, which is the first dotted number in its output. Default: ``PROGRAM --version``."""
    apt: tuple[Package, ...] = ()
    """Debian packages that contain the program or file."""
    install: str | None = None
    """Another way to install the program or file if Debian's package is missing or too old: a command or a web address. Null: none."""

    @model_validator(mode="after")
    def _names_one_thing(self) -> Requirement:
        if (self.program is None) == (self.file is None):
            raise ValueError("give either program or file")
        if self.version and not self.program:
            raise ValueError("version requires program")
        if not self.apt and not self.install:
            raise ValueError("give apt or install, so that a user knows how to install it")
        return self

    @property
    def label(self) -> str:
        """Requirement in words, e.g. ``ldc2 ≥ 1.30``."""
        thing = self.program or self.file or ""
        return f"{thing} ≥ {self.version}" if self.version else thing


class Build(Frozen):
    """How to build a target with commands in a copy of its folder."""

    commands: tuple[Argv, ...] = ()
    """Commands to run in order in a copy of the target's folder."""
    env: dict[str, str] = {}
    """Environment variables of the commands."""
    artifacts: tuple[Annotated[str, StringConstraints(pattern=r"^[^/]")], ...] = ()
    """Files that must exist after the build, relative to the build folder."""
    timeout_s: float = Field(default=1800, gt=0)
    """Time limit for all commands together, in seconds."""


class Variant(Frozen):
    """One way to run a framework, which is a separate target."""

    name: Name | None = None
    """Last part of the id. Omitted if the framework has only one variant."""
    run: Argv
    """Command line. Placeholders: ``{host} {port} {workers} {scratch}``; for proxies also ``{backend_host} {backend_port}``; for clients
    ``{url} {requests}``. ``{scratch}`` is an empty folder that exists for the duration of the trial."""
    env: dict[str, str] = {}
    """Environment variables, with the same placeholders as ``run``."""
    scaling: tuple[Scaling, ...] = (Scaling.SINGLE,)
    """Supported scalings."""
    build: Build | None = None
    """Build of this variant. Default: ``build`` of the file."""
    limits: tuple[Limit, ...] | None = None
    """Limits of this variant. Default: ``limits`` of the file."""
    tuning: Tuning | None = None
    """Tuning of this variant. Default: ``tuning`` of the file."""
    notes: str | None = None
    """Notes on this variant. Default: ``notes`` of the file."""

    @model_validator(mode="after")
    def _can_run(self) -> Variant:
        for text in (*self.run, *self.env.values()):
            for name in re.findall(r"\{([a-z_]+)\}", text):
                if name not in PLACEHOLDERS:
                    raise ValueError(f"run: unknown placeholder {{{name}}}; known placeholders: {', '.join(PLACEHOLDERS)}")
        if not self.scaling:
            raise ValueError("scaling: name at least one of single, multi, prefork")
        if Scaling.MULTI in self.scaling and Scaling.PREFORK in self.scaling:
            raise ValueError("scaling: multi and prefork are two ways to fill the cores: choose one")
        return self


class TargetFile(Frozen):
    """A ``target.toml``: one framework, with one ``[[variant]]`` per target."""

    kind: Kind
    """Kind of target."""
    language: Name
    """Programming language: the first part of the id."""
    framework: Name
    """Framework or library: the second part of the id."""
    category: Category
    """Category that the target declares."""
    tuning: Tuning = Tuning.DEFAULT
    """How the target is tuned."""
    upstream: str = Field(pattern=r"^https://")
    """Home page of the framework."""
    notes: str | None = None
    """Note for readers of the results, as a sentence. Null: none."""
    limits: tuple[Limit, ...] = ()
    """Things that the target can't do by design."""
    requires: tuple[Requirement, ...] = ()
    """Programs and files that must be on the machine."""
    build: Build = Build()
    """How to build the target."""
    version: Argv | None = None
    """Command that prints the version of the library, run in the build folder after each build. Null: none."""
    container: ContainerRecipe = ContainerRecipe()
    """How to build the image for ``--isolate docker`` and ``--isolate podman``."""
    paths: dict[Name, RequestPath] = {}
    """Path of each test, by the test's name, such as ``json``. Default: the target serves every workload at the workload's own path."""
    database: Database | None = None
    """Database that the target queries in workloads that require one. httpbench sets the environment variable
    ``DATABASE_URL`` to the database's address, but only in trials of these workloads. Null: none."""
    counter: RequestPath | None = None
    """Path of a page with the number of requests handled so far, in the format of nginx's ``stub_status``. If the target is a backend of
    proxies, this number shows whether every response came from the backend. Null: none."""
    variant: Annotated[tuple[Variant, ...], Field(min_length=1)]
    """Ways to run the framework. Each variant is a separate target."""

    @model_validator(mode="after")
    def _variants_differ(self) -> TargetFile:
        names = [variant.name for variant in self.variant]
        if len(set(names)) != len(names):
            raise ValueError("variant: two variants have the same name")
        if len(names) > 1 and None in names:
            raise ValueError("variant: each of several variants requires a name")
        return self


class Target(Frozen):
    """A program to measure, from a ``target.toml``, another project's catalog, or the command line."""

    id: Id
    """Id: ``language/framework[/variant]``."""
    kind: Kind
    """Kind of target."""
    language: Name
    """Programming language."""
    framework: Name
    """Framework or library."""
    variant: Name | None = None
    """Name of the variant. Null: the framework has only one variant."""
    category: Category | None
    """Category that the target declares. Null: the target is from the command line, or its catalog doesn't state a category."""
    tuning: Tuning
    """How the target is tuned."""
    upstream: str | None
    """Home page of the framework. Null: the target is from the command line, or its catalog doesn't state a home page."""
    notes: str | None = None
    """Note for readers of the results. Null: none."""
    limits: tuple[Limit, ...] = ()
    """Things that the target can't do by design."""
    requires: tuple[Requirement, ...] = ()
    """Programs and files that must be on the machine."""
    build: Build
    """How to build the target."""
    version: Argv | None = None
    """Command that prints the version of the library. Null: none."""
    run: tuple[str, ...]
    """Command line. Empty: the target has a ``url``."""
    url: str | None = None
    """Address ``http://HOST:PORT`` of a server that is already running. httpbench neither starts nor stops it, and its CPU time is unknown.
    Null: the harness starts the target."""
    prepare: tuple[str, ...] = ()
    """Command that runs to completion before each trial. Empty: none."""
    env: dict[str, str] = {}
    """Environment variables."""
    scaling: tuple[Scaling, ...]
    """Supported scalings."""
    folder: str
    """Absolute path of the folder with the target's ``target.toml`` and sources. For a target from the command line: its working folder."""
    container: ContainerRecipe = ContainerRecipe()
    """How to build the target's image."""
    isolation: Isolation | None = None
    """Container and limits. Null: the target runs as a process."""
    paths: dict[Name, RequestPath] = {}
    """Path of each test, by the test's name. Empty: the target serves every workload at the workload's own path."""
    database: Database | None = None
    """Database that the target uses. Null: none."""
    counter: RequestPath | None = None
    """Path of a page with the number of requests handled so far, in the format of nginx's ``stub_status``. Null: none."""
    mounts: dict[str, str] = {}
    """Files and folders of this machine that the target's container can read, by their absolute paths inside the container."""
    entry: Entry | None = None
    """Entry in the catalog of another project. Null: the target isn't from such a catalog."""

    @property
    def is_declared(self) -> bool:
        """Whether the target comes from a manifest or catalog instead of the command line."""
        return self.category is not None or self.entry is not None

    def at(self, path: str | None) -> Target:
        """Return the target. If the user specifies a path, the returned target declares no paths."""
        return self if path is None else self.model_copy(update={"paths": {}})

    @property
    def place(self) -> str:
        """Suffix of the target's id that shows where it runs, such as ``@docker`` or ``@docker-bridge``. Empty for a process."""
        if self.isolation is None:
            return ""
        network = "" if self.isolation.network is NetworkMode.HOST else f"-{self.isolation.network}"
        return f"@{self.isolation.engine}{network}"

    @property
    def title(self) -> str:
        """Name of the framework, followed by ``place``."""
        return f"{self.framework}{self.place}"
