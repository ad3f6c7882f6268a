"""Options that say which servers of one's own are measured, and what they are asked: for the verbs that take commands and URLs."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from httpbench.cli.options import Command
from httpbench.cli.params import DURATION, REQUEST_PATH
from httpbench.errors import UsageError

if TYPE_CHECKING:
    from httpbench.model import Request, Workload
    from httpbench.run import Asked

REQUEST_OPTIONS = (
    click.option("--workload", metavar="NAME", help="Ask as a built-in workload does, and expect its answer. [default: any 2xx]"),
    click.option("--path", type=REQUEST_PATH, help="What is asked for. [default: / or the path of the URL]"),
    click.option("-X", "--method", help="[default: GET, or POST with a body]"),
    click.option("-H", "--header", "headers", multiple=True, metavar="'NAME: VALUE'", help="A header to send; may be repeated."),
    click.option("--body", metavar="TEXT|@FILE", help="The body to send."),
    click.option("--expect-status", type=click.IntRange(100, 599), help="The only right status. [default: any 2xx]"),
    click.option("--expect-body", metavar="TEXT|@FILE", help="The only right body. [default: any]"),
)

SERVER_OPTIONS = (
    click.option("--url", "urls", multiple=True, metavar="URL", help="A server that runs already; it is not restarted. May be repeated."),
    click.option("--prepare", multiple=True, metavar="CMD", help="Run before each trial: one for all servers, or one for each."),
    click.option(
        "--env",
        multiple=True,
        metavar="KEY[=VALUE]",
        help="Environment variable of every command; KEY alone passes yours on. Repeatable. Values are never stored.",
    ),
    click.option(
        "--cwd", type=click.Path(exists=True, file_okay=False, path_type=Path), default=Path(), show_default=".", help="Where commands run."
    ),
    click.option("--shell", is_flag=True, help="Let /bin/sh run the commands. [default: split into words and started directly]"),
    click.option("--port", type=click.IntRange(1, 65_535), help="Where commands without {port} listen. [default: a free port]"),
    click.option("--start-timeout", type=DURATION, default=20.0, show_default="20s", help="How long a server may take to answer rightly."),
    click.option(
        "--scaling", type=click.Choice(["single", "multi"]), default="single", show_default=True, help="One core, or half of all cores."
    ),
)


def together(*groups: Sequence[Callable[[Any], Any]]) -> Callable[[Command], Command]:
    """One decorator of many options, shown in their order."""

    def decorate(command: Command) -> Command:
        for option in reversed([option for group in groups for option in group]):
            command = option(command)
        return command

    return decorate


def asked(commands: tuple[str, ...], options) -> Asked:  # type: ignore[no-untyped-def]
    """Which servers, as it was asked."""
    from httpbench.model import Scaling
    from httpbench.run import Asked

    env = dict(_variable(text) for text in options["env"])
    return Asked(
        commands=commands,
        urls=options["urls"],
        names=options.get("names", ()),
        prepare=options["prepare"],
        shell=options["shell"],
        port=options["port"],
        folder=options["cwd"],
        env=env,
        scaling=Scaling(options["scaling"]),
    )


def asked_workload(options) -> Workload:  # type: ignore[no-untyped-def]
    """What is asked: a built-in workload, or any success; with what the options say otherwise."""
    from pydantic import ValidationError

    from httpbench import catalog
    from httpbench.model import Expectation, Request, Workload
    from httpbench.run import path_of

    path = options["path"] or path_of(options["urls"])
    base = (
        catalog.load(()).workload(options["workload"])
        if options["workload"]
        else Workload(name="request", description="Asked for on the command line", expect=Expectation(status=None))
    )
    body = None if options["body"] is None else _text(options["body"], "--body")
    request = {
        "method": options["method"] or ("POST" if body else None),
        "path": path,
        "headers": dict(_pair(text, ":", "-H", "'Name: value'") for text in options["headers"]) or None,
        "body": body,
    }
    expect = {
        "status": options["expect_status"],
        "body": None if options["expect_body"] is None else _text(options["expect_body"], "--expect-body"),
    }
    try:
        asked = Request.model_validate({**base.request.model_dump(), **_given(request)})
    except ValidationError as error:
        raise UsageError("\n".join(catalog.sentences(Request, error))) from None
    return Workload(
        name=base.name if options["workload"] else _name(asked),
        description=base.description,
        request=asked,
        expect=Expectation.model_validate({**base.expect.model_dump(), **_given(expect)}),
    )


def _name(request: Request) -> str:
    """As a title of a table: ``get-json`` for ``GET /json``."""
    return re.sub(r"[^a-z0-9_.+]+", "-", f"{request.method}{request.path}".lower()).strip("-")


def _given(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _variable(text: str) -> tuple[str, str]:
    """``KEY=VALUE``; ``KEY`` alone has the value that it has here."""
    if "=" in text:
        return _pair(text, "=", "--env", "KEY=VALUE")
    if text not in os.environ:
        raise UsageError(f"--env {text}: the environment has no such variable", hint="write it as KEY=VALUE")
    return text, os.environ[text]


def _pair(text: str, mark: str, option: str, form: str) -> tuple[str, str]:
    name, found, value = text.partition(mark)
    if not found or not name.strip():
        raise UsageError(f"{option}: there is no name before «{mark}»", hint=f"write it as {form}")  # its value may be a secret
    return name.strip(), value.strip() if mark == ":" else value


def _text(given: str, option: str) -> str:
    """A text, or that of the file whose path stands after an @."""
    if not given.startswith("@"):
        return given
    try:
        return Path(given[1:]).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{option}: {given[1:]} cannot be read: {getattr(error, 'strerror', None) or error}") from None
