"""Options of verbs that take commands and URLs: the servers to measure, and the request to send."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from httpbench.cli.options.fields import Options, group, option
from httpbench.cli.options.load import ShareOptions
from httpbench.cli.options.params import REQUEST_PATH, SERVER_URL
from httpbench.cli.options.shared import port_option, scaling_option, start_timeout_option
from httpbench.errors import SelectionError, UsageError

if TYPE_CHECKING:
    from httpbench.cli.options.isolation import IsolationOptions
    from httpbench.model import Isolation, Kind, Request, Scaling, Target, Workload
    from httpbench.run import RunPlan


class ServerOptions(Options):
    """Options for the URLs of running servers, and for starting servers from commands."""

    urls: tuple[str, ...] = option(
        "--url", type=SERVER_URL, multiple=True, metavar="URL", help="URL of a running server, or unix:PATH. It is never restarted."
    )
    prepare: tuple[str, ...] = option(
        "--prepare", multiple=True, metavar="CMD", help="Command to run before each trial: one for all servers, or one per server."
    )
    env: tuple[str, ...] = option(
        "--env",
        multiple=True,
        metavar="KEY[=VALUE]",
        help="Environment variable of every command; KEY alone passes on your own value. Values are not stored.",
    )
    env_all: bool = option(
        "--env-all", is_flag=True, help="Pass your whole environment to every command, instead of basic variables such as PATH and HOME."
    )
    cwd: Path = option(
        "--cwd",
        type=click.Path(exists=True, file_okay=False, path_type=Path),
        default=Path(),
        metavar="DIR",
        help="Working directory of commands.",
    )
    shell: bool = option("--shell", is_flag=True, help="Run commands with /bin/sh.")
    port: int | None = port_option(help="Port of a server whose command has no {port}, or that runs from an image.")
    start_timeout: float = start_timeout_option()
    scaling: str | None = scaling_option(help="Cores for the server: one (single) or its whole share (multi).")
    share: ShareOptions = group(ShareOptions)

    @property
    def chosen_scaling(self) -> Scaling:
        """Scaling of the servers. Raises :class:`UsageError` if the options contradict each other."""
        from httpbench.model import Scaling

        return self.share.scalings((self.scaling,) if self.scaling else (), (Scaling.SINGLE,))[0]

    def targets(
        self,
        commands: tuple[str, ...],
        names: tuple[str, ...] = (),
        images: tuple[str, ...] = (),
        isolation: Isolation | None = None,
    ) -> list[Target]:
        """Return the servers: commands, then URLs, then images. Raise :class:`UsageError` if one of them is invalid."""
        from httpbench.run import Servers, targets_of

        return targets_of(
            Servers(
                commands=commands,
                urls=self.urls,
                images=images,
                isolation=isolation,
                names=names,
                prepare=self.prepare,
                shell=self.shell,
                port=self.port,
                folder=self.cwd,
                env=self._environment(),
                scaling=self.chosen_scaling,
            )
        )

    def _environment(self) -> dict[str, str]:
        """Return the variables that commands get in addition to the basic ones."""
        from httpbench.host import inherited

        return {**(inherited.withheld() if self.env_all else {}), **dict(_variable(text) for text in self.env)}


class RequestOptions(Options):
    """Options for the request, and for the correct response."""

    workload: str | None = option(
        "--workload",
        metavar="NAME",
        default_text="none; the first responses count as correct",
        help="Use a built-in workload's request and expected response.",
    )
    path: str | None = option("--path", type=REQUEST_PATH, default_text="the URL's, or /", help="Request path.")
    method: str | None = option("-X", "--method", metavar="METHOD", default_text="GET, or POST with a body", help="Request method.")
    headers: tuple[str, ...] = option("-H", "--header", multiple=True, metavar="'NAME: VALUE'", help="Request header.")
    body: str | None = option("--body", metavar="TEXT|@FILE", help="Request body.")
    expect_status: int | None = option(
        "--expect-status",
        type=click.IntRange(100, 599),
        metavar="STATUS",
        default_text="learned",
        help="Expected status. If set, nothing is learned from the first responses.",
    )
    expect_body: str | None = option("--expect-body", metavar="TEXT|@FILE", default_text="any", help="Expected body.")

    def as_workload(self, urls: Sequence[str], default: str | None = None) -> Workload:
        """Return the workload that the user named, or else the workload ``default``, with the request options applied.

        If neither is given, the workload accepts any successful response.
        """
        from pydantic import ValidationError

        from httpbench import catalog
        from httpbench.model import Expectation, Request, Workload
        from httpbench.run import path_of

        name = self.workload or default
        base = (
            catalog.load(()).workload(name)
            if name
            else Workload(name="request", description="A request from the command line", expect=Expectation(status=None))
        )
        body = _text(self.body, "--body")
        headers = dict(_pair(text, ":", "-H", "'Name: value'") for text in self.headers) or None
        fields = _given(method=self.method or ("POST" if body else None), path=self.path or path_of(urls), headers=headers, body=body)
        try:
            request = Request.model_validate({**base.request.model_dump(), **fields})
        except ValidationError as error:
            raise UsageError("\n".join(catalog.sentences(Request, error))) from None
        expect = _given(status=self.expect_status, body=_text(self.expect_body, "--expect-body"))
        if base.parts:
            if request != base.request or expect:
                what = f"workload {base.name} has several requests, so request options cannot change it"
                raise UsageError(what, hint="remove the request options")
            return base
        return Workload(
            name=name or _name(request),
            description=base.description,
            request=request,
            expect=Expectation.model_validate({**base.expect.model_dump(), **expect}),
            test=base.test,
        )


def one_target(
    verb: str, server: str | None, options: ServerOptions, isolation: IsolationOptions, folders: Sequence[Path], kind: Kind | None
) -> Target:
    """Return the server for a verb that takes exactly one.

    If ``server`` contains ``{port}`` or more than one word, it is a command. Otherwise, it names a target.
    """
    from httpbench import catalog

    if server is None and not options.urls:
        raise UsageError("no server given", hint="name a target, or give a command with {port} or --url URL")
    if server is None or "{port}" in server or len(server.split()) > 1:
        found = options.targets(() if server is None else (server,))
    elif options.urls:
        raise UsageError(f"{server} and --url each name a server", hint="remove one of them")
    else:
        found = catalog.select(catalog.load(folders).targets.values(), (server,), kind=kind)
    found = isolation.applied(found)
    if len(found) != 1:
        names = ", ".join(target.id for target in found[:5]) + (", …" if len(found) > 5 else "")
        raise SelectionError(f"{verb} takes one server; {len(found)} match: {names}", hint="name one by its full id")
    return found[0]


def refuse_skipped(plan: RunPlan) -> None:
    """Raise :class:`SelectionError` for the first server that cannot run with these options."""
    for name, reason in plan.skipped.items():
        raise SelectionError(f"{name}: {reason}")


def _name(request: Request) -> str:
    """Return a name for a request, such as ``get-json`` for ``GET /json``. Titles of tables show it."""
    return re.sub(r"[^a-z0-9_.+]+", "-", f"{request.method}{request.path}".lower()).strip("-")


def _given(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _variable(text: str) -> tuple[str, str]:
    """Parse ``KEY=VALUE``, or ``KEY`` with its value from the environment."""
    if "=" in text:
        return _pair(text, "=", "--env", "KEY=VALUE")
    if text not in os.environ:
        raise UsageError(f"--env {text}: the environment has no such variable", hint="write it as KEY=VALUE")
    return text, os.environ[text]


def _pair(text: str, mark: str, option: str, form: str) -> tuple[str, str]:
    name, found, value = text.partition(mark)
    if not found or not name.strip():
        raise UsageError(f"{option} has no name before `{mark}`", hint=f"write it as {form}")  # don't print the text: it may be secret
    return name.strip(), value.strip() if mark == ":" else value


def _text(given: str | None, option: str) -> str | None:
    """Return the given text or, for ``@FILE``, the content of the file."""
    if given is None or not given.startswith("@"):
        return given
    try:
        return Path(given[1:]).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{option}: cannot read {given[1:]}: {getattr(error, 'strerror', None) or error}") from None
