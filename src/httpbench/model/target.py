"""Targets, and the ``target.toml`` files that describe them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Annotated

from pydantic import Field, StringConstraints, model_validator

from httpbench.model.container import ContainerRecipe, Isolation, NetworkMode
from httpbench.model.entry import Database, Entry
from httpbench.model.frozen import Argv, Frozen, Id, Name, RequestPath

_BACKENDS = ("backend_host", "backend_port", "second_host", "second_port")
PLACEHOLDERS = ("host", "port", "workers", "scratch", "cert", "key", *_BACKENDS, "url", "requests")
"""Names of the placeholders, written in braces, that the harness replaces in a target's command line and environment."""
PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")
"""A placeholder, with its name as the only group."""

Package = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9+.-]*[a-z0-9+]$")]
"""Name of a Debian package (Debian Policy, section 5.6.1). The pattern rejects options of apt-get. It also rejects names that end
with ``-``, because apt-get would remove the package."""


UNIX = "unix:"
"""Start of the address of a server on a Unix socket."""


class Kind(StrEnum):
    SERVER = "server"
    CLIENT = "client"
    PROXY = "proxy"

    @property
    def plural(self) -> str:
        return "proxies" if self is Kind.PROXY else f"{self}s"


class ProxyMode(StrEnum):
    """What a proxy relays."""

    TCP = "tcp"  # the bytes of each connection, over a connection of its own to the backend
    HTTP = "http"  # requests and responses, which it parses; connections to the backend can serve several clients


class Category(StrEnum):
    MICRO = "micro"  # only an event loop, without a parser or router
    PLATFORM = "platform"  # parser, router, response writer
    FULLSTACK = "fullstack"


class Tuning(StrEnum):
    DEFAULT = "default"  # as shown in the framework's documentation
    TUNED = "tuned"  # the documented production settings
    ENGINE = "engine"  # below the framework's public API


class Scaling(StrEnum):
    SINGLE = "single"  # one thread
    MULTI = "multi"  # fills its cores
    PREFORK = "prefork"  # one copy per core, started by the harness on one port with SO_REUSEPORT


class Limit(StrEnum):
    """A feature that a target lacks by design. ``target.toml`` declares the limit, ``verify`` checks it, and tables show it."""

    NO_ROUTER = "no-router"  # ignores the path
    NO_METHOD = "no-method"  # ignores the method, including HEAD
    NO_HEAD = "no-head"  # responds to HEAD with a body
    NO_CLOSE = "no-close"  # ignores `Connection: close`
    NO_PIPELINING = "no-pipelining"  # responds to only one of several requests that arrive together
    NO_SPLIT = "no-split"  # requires each request to arrive in one read
    NO_BODY = "no-body"  # treats the body of a request as another request
    NO_BODY_PIPELINING = "no-body-pipelining"  # can lose a request that is pipelined after a body, in some versions of the library
    NO_KEEPALIVE = "no-keepalive"  # a client that opens a new connection for each request
    NO_HALF_CLOSE = "no-half-close"  # a proxy that closes both directions as soon as one ends
    STALLS = "stalls"  # a proxy that sometimes withholds the last bytes after the sender has finished
    FORWARDS_HOP_BY_HOP = "forwards-hop-by-hop"  # an HTTP proxy that forwards fields that are meant only for the proxy itself
    NO_INTERIM = "no-interim"  # an HTTP proxy that fails if a response with status 103 precedes the final one, in some versions
    NO_EARLY_RESPONSE = "no-early-response"  # an HTTP proxy that withholds a response until the client has sent its whole request
    HIDES_TRUNCATION = "hides-truncation"  # an HTTP proxy that can present a truncated response as complete, in some versions

    @property
    def shows_always(self) -> bool:
        """Whether the clause for this limit fails every time on a target that has it.

        False for races, and for faults that only some versions of a library have.
        """
        return self not in (Limit.STALLS, Limit.NO_BODY_PIPELINING, Limit.NO_INTERIM, Limit.HIDES_TRUNCATION)


class Requirement(Frozen):
    """A program or file that a target requires, and how to install it."""

    program: str | None = Field(default=None, pattern=r"^[^/-][^/]*$")
    """Name of a program that must be in PATH. Null: ``file`` is required instead."""
    file: str | None = Field(default=None, pattern=r"^/")
    """Absolute path of a required file, such as a header or a library. The path can contain one ``*``. Null: ``program`` is required
    instead."""
    version: str | None = Field(default=None, pattern=r"^[0-9]+(\.[0-9]+)*$")
    """Minimum version, as numbers separated by dots. Null: any version."""
    version_command: Argv | None = None
    """Command that prints the version. The first dotted number in the output counts. Default: ``PROGRAM --version``."""
    apt: tuple[Package, ...] = ()
    """Debian packages that contain the program or file."""
    install: str | None = None
    """Command or web address for installing the program or file if Debian has no package, or only one that is too old. Null: none."""

    @model_validator(mode="after")
    def _names_one_thing(self) -> Requirement:
        if (self.program is None) == (self.file is None):
            raise ValueError("give either program or file")
        if (self.file or "").count("*") > 1:
            raise ValueError('file can contain "*" only once, because more would search large parts of the disk')
        if self.version and not self.program:
            raise ValueError("version requires program")
        if not self.apt and not self.install:
            raise ValueError("give apt or install, so that a user knows how to install it")
        return self

    @property
    def label(self) -> str:
        """The requirement as text, such as ``ldc2 ≥ 1.30``."""
        thing = self.program or self.file or ""
        return f"{thing} ≥ {self.version}" if self.version else thing


class Feature(StrEnum):
    """An optional part of a target, which is compiled only for the loads that need it."""

    TLS = "tls"  # for loads with TLS
    HTTP2 = "http2"  # for loads with HTTP/2
    DATABASE = "database"  # for workloads that require a database


FEATURES = "{features}"
"""Placeholder for the features to compile, in the commands of a build."""


class Build(Frozen):
    """The commands that build a target in a copy of its folder."""

    commands: tuple[Argv, ...] = ()
    """Commands, in the order in which they run. ``{features}`` stands for the names of the features to compile, separated by commas."""
    features: tuple[Feature, ...] = ()
    """Optional parts of the target: ``tls``, ``http2`` and ``database``. A trial compiles only those that its load and workload need."""
    env: dict[str, str] = {}
    """Environment variables for the commands."""
    artifacts: tuple[Annotated[str, StringConstraints(pattern=r"^[^/]")], ...] = ()
    """Files that must exist after the build, relative to the build folder."""
    timeout_s: float = Field(default=1800, gt=0)
    """Time limit for all commands together, in seconds."""

    @model_validator(mode="after")
    def _passes_its_features(self) -> Build:
        if len(set(self.features)) != len(self.features):
            raise ValueError("features: a feature is named twice")
        is_passed = any(FEATURES in word for argv in self.commands for word in argv)
        if self.features and not is_passed:
            raise ValueError(f'features: no command passes them on; write "{FEATURES}" where they belong, such as after --features')
        if is_passed and not self.features:
            raise ValueError(f"commands: {FEATURES} requires features, a list of {', '.join(Feature)}")
        return self

    def of(self, features: Iterable[Feature]) -> Build:
        """Return the build with the commands that compile these features."""
        names = ",".join(features)
        return self.model_copy(update={"commands": tuple(tuple(word.replace(FEATURES, names) for word in argv) for argv in self.commands)})


class Http2(StrEnum):
    """A way to agree on HTTP/2, by its name in TLS handshakes and upgrades (RFC 7540, section 3.1)."""

    H2 = "h2"  # the TLS handshake selects HTTP/2
    H2C = "h2c"  # without TLS, the client begins with HTTP/2 (prior knowledge)


class Https(Frozen):
    """How a variant serves HTTPS."""

    run: Argv
    """Command line, with the same placeholders as that of the variant. ``{cert}`` and ``{key}`` are PEM files with a certificate and its
    key, which httpbench makes for each trial."""
    env: dict[str, str] = {}
    """Environment variables, with the same placeholders as ``run``, in addition to those of the variant."""

    @model_validator(mode="after")
    def _uses_the_certificate(self) -> Https:
        _require_known(self.run, self.env)
        if not uses_certificate(self.run, self.env):
            raise ValueError("https: its run or env must contain {cert} and {key}")
        return self


class TwoBackends(Frozen):
    """How a variant of a proxy balances requests between two backends and avoids one that fails."""

    run: Argv
    """Command line, with the same placeholders as that of the variant, and ``{second_host} {second_port}`` for the second backend."""
    env: dict[str, str] = {}
    """Environment variables, with the same placeholders as ``run``, in addition to those of the variant."""

    @model_validator(mode="after")
    def _uses_the_second_backend(self) -> TwoBackends:
        _require_known(self.run, self.env)
        if not any("{second_port}" in text for text in (*self.run, *self.env.values())):
            raise ValueError("two_backends: its run or env must contain {second_port}")
        return self


class Variant(Frozen):
    """One way to run a framework. Each variant is a separate target."""

    name: Name | None = None
    """Last part of the target's id. Optional if the framework has only one variant."""
    run: Argv
    """Command line. Placeholders: ``{host} {port} {workers} {scratch}``; for proxies also ``{backend_host} {backend_port}``; for clients
    ``{url} {requests}``. ``{scratch}`` is an empty folder that exists for the duration of the trial."""
    env: dict[str, str] = {}
    """Environment variables, with the same placeholders as ``run``."""
    https: Https | None = None
    """How the variant serves HTTPS. Null: it doesn't."""
    two_backends: TwoBackends | None = None
    """How the variant of a proxy uses two backends. Null: it has only one."""
    http2: tuple[Http2, ...] = ()
    """Ways in which the variant serves HTTP/2: ``h2`` (with TLS) and ``h2c`` (without TLS)."""
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
        _require_known(self.run, self.env)
        if uses_certificate(self.run, self.env):
            raise ValueError("run: {cert} and {key} belong into https.run")
        if Http2.H2 in self.http2 and self.https is None:
            raise ValueError('http2: "h2" requires https')
        if not self.scaling:
            raise ValueError("scaling: name at least one of single, multi, prefork")
        if Scaling.MULTI in self.scaling and Scaling.PREFORK in self.scaling:
            raise ValueError("scaling: multi and prefork are two ways to fill the cores: choose one")
        return self


def _require_known(run: Iterable[str], env: Mapping[str, str]) -> None:
    """Raise ``ValueError`` if a command or its environment contains an unknown placeholder."""
    for text in (*run, *env.values()):
        for name in PLACEHOLDER.findall(text):
            if name not in PLACEHOLDERS:
                raise ValueError(f"run: unknown placeholder {{{name}}}; known placeholders: {', '.join(PLACEHOLDERS)}")


def uses_certificate(run: Iterable[str], env: Mapping[str, str]) -> bool:
    """Return whether a command or its environment contains ``{cert}`` or ``{key}``."""
    return any("{cert}" in text or "{key}" in text for text in (*run, *env.values()))


class Trust(Frozen):
    """The certificates to accept from a server."""

    any_certificate: bool = False
    """Whether any certificate is accepted."""
    ca_file: str | None = None
    """Path of a PEM file with the roots that a certificate must chain to. Null: the system's roots."""


_DECLARED_AS = {Feature.TLS: "https", Feature.HTTP2: "http2", Feature.DATABASE: "database"}
"""Key of a ``target.toml`` without which no load needs the feature."""


class TargetFile(Frozen):
    """A ``target.toml``: one framework, with one ``[[variant]]`` per target."""

    kind: Kind
    """Kind of target."""
    mode: ProxyMode = ProxyMode.TCP
    """What a proxy relays. Determines the clauses of its contract. Only for proxies."""
    language: Name
    """Programming language: the first part of the id."""
    framework: Name
    """Framework or library: the second part of the id."""
    category: Category
    """Category that the target declares."""
    tuning: Tuning = Tuning.DEFAULT
    """Tuning of the target."""
    upstream: str = Field(pattern=r"^https://")
    """Home page of the framework."""
    notes: str | None = None
    """Note for readers of the results, as a sentence. Null: none."""
    limits: tuple[Limit, ...] = ()
    """Features that the target lacks by design."""
    requires: tuple[Requirement, ...] = ()
    """Programs and files that the target requires on the machine."""
    build: Build = Build()
    """Commands that build the target."""
    version: Argv | None = None
    """Command that prints the version of the library. httpbench runs it in the build folder after each build. Null: none."""
    container: ContainerRecipe = ContainerRecipe()
    """Recipe for building the image that ``--isolate docker`` and ``--isolate podman`` use."""
    paths: dict[Name, RequestPath] = {}
    """Request path of each test that the target serves, by test name, such as ``json``. Default: the target serves every workload at the
    workload's own path."""
    database: Database | None = None
    """Database that the target queries in workloads that require one. In trials of these workloads, httpbench sets the environment
    variable ``DATABASE_URL`` to the database's address. Null: none."""
    counter: RequestPath | None = None
    """Path of a page that reports the number of requests handled so far, in the format of nginx's ``stub_status``. If the target is a
    proxy's backend, this number shows whether the backend sent every response. Null: none."""
    variant: Annotated[tuple[Variant, ...], Field(min_length=1)]
    """Ways to run the framework. Each variant is a separate target."""

    @model_validator(mode="after")
    def _is_consistent(self) -> TargetFile:
        if self.mode is not ProxyMode.TCP and self.kind is not Kind.PROXY:
            raise ValueError(f"mode: only proxies have a mode, and this is a {self.kind}")
        names = [variant.name for variant in self.variant]
        if len(set(names)) != len(names):
            raise ValueError("variant: two variants have the same name")
        if len(names) > 1 and None in names:
            raise ValueError("variant: each of several variants requires a name")
        for variant in self.variant:
            for feature in (variant.build or self.build).features:
                if not self._has(feature, variant):
                    raise ValueError(f"build.features: {feature} is never needed, because the target declares no {_DECLARED_AS[feature]}")
        return self

    def _has(self, feature: Feature, variant: Variant) -> bool:
        """Return whether a load can need the feature."""
        return bool({Feature.TLS: variant.https, Feature.HTTP2: variant.http2, Feature.DATABASE: self.database}[feature])


class Target(Frozen):
    """A program to measure, from a ``target.toml``, another project's catalog, or the command line."""

    id: Id
    """Id: ``language/framework[/variant]``, with a prefix for clients and proxies."""
    kind: Kind
    """Kind of target."""
    mode: ProxyMode = ProxyMode.TCP
    """What the target relays, if it is a proxy."""
    language: Name
    """Programming language."""
    framework: Name
    """Framework or library."""
    variant: Name | None = None
    """Name of the variant. Null: the framework has only one variant."""
    category: Category | None
    """Category that the target declares. Null: the target is from the command line, or its catalog doesn't state a category."""
    tuning: Tuning
    """Tuning of the target."""
    upstream: str | None
    """Home page of the framework. Null: the target is from the command line, or its catalog doesn't state a home page."""
    notes: str | None = None
    """Note for readers of the results. Null: none."""
    limits: tuple[Limit, ...] = ()
    """Features that the target lacks by design."""
    requires: tuple[Requirement, ...] = ()
    """Programs and files that the target requires on the machine."""
    build: Build
    """Commands that build the target."""
    features: tuple[Feature, ...] = ()
    """Features that the build compiles: those that a trial needs. Empty: none, or not chosen yet."""
    version: Argv | None = None
    """Command that prints the version of the library. Null: none."""
    run: tuple[str, ...]
    """Command line. Empty: the target has a ``url``, or runs the default command of its image."""
    url: str | None = None
    """Address ``http://HOST:PORT``, ``https://HOST:PORT`` or ``unix:PATH`` of a server that is already running. httpbench doesn't start or
    stop this server, and can't measure its CPU time. Null: the harness starts the target."""
    trust: Trust = Trust()
    """The certificates to accept from the target if a load uses TLS."""
    prepare: tuple[str, ...] = ()
    """Command that runs to completion before each trial. Empty: none."""
    env: dict[str, str] = {}
    """Environment variables."""
    https: Https | None = None
    """How the target serves HTTPS. Null: ``run`` does, if the load uses TLS and the target is from the command line."""
    two_backends: TwoBackends | None = None
    """How the proxy uses two backends. Null: it has only one."""
    http2: tuple[Http2, ...] = ()
    """Ways in which the target serves HTTP/2, if it declares any."""
    scaling: tuple[Scaling, ...]
    """Supported scalings."""
    folder: str
    """Absolute path of the folder with the target's ``target.toml`` and sources. For a target from the command line: its working folder."""
    container: ContainerRecipe = ContainerRecipe()
    """Recipe for building the target's image."""
    isolation: Isolation | None = None
    """Settings of the target's container. Null: the target runs as a process."""
    paths: dict[Name, RequestPath] = {}
    """Request path of each test that the target serves, by test name. Empty: the target serves every workload at the workload's own
    path."""
    database: Database | None = None
    """Database that the target uses. Null: none."""
    counter: RequestPath | None = None
    """Path of a page that reports the number of requests handled so far, in the format of nginx's ``stub_status``. Null: none."""
    mounts: dict[str, str] = {}
    """Files and folders on this machine that are mounted in the target's container, by their absolute paths inside the container."""
    entry: Entry | None = None
    """Entry in the catalog of another project. Null: the target isn't from such a catalog."""

    @property
    def is_declared(self) -> bool:
        """Whether the target comes from a ``target.toml`` or a catalog, rather than from the command line."""
        return self.category is not None or self.entry is not None

    @property
    def unix_socket(self) -> str | None:
        """Path of the Unix socket on which the server is already running, or ``None``."""
        return self.url.removeprefix(UNIX) if self.url is not None and self.url.startswith(UNIX) else None

    def at(self, path: str | None) -> Target:
        """Return the target without its declared paths if the user specified a path, else unchanged."""
        return self if path is None else self.model_copy(update={"paths": {}})

    @property
    def recipe(self) -> Build:
        """The build, with the commands that compile ``features``."""
        return self.build.of(self.features)

    @property
    def build_name(self) -> str:
        """Name of the build: the target's id, followed by its features, as in ``rust/hyper (tls)``."""
        return f"{self.id} ({', '.join(self.features)})" if self.features else self.id

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
