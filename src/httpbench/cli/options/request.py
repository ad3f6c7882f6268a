"""Options for what to send: one request, or the requests in a file."""

from __future__ import annotations

import errno
from collections.abc import Mapping, Sequence
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from httpbench.cli.options.fields import Options, option
from httpbench.cli.options.params import ORIGIN, REQUEST_PATH
from httpbench.cli.terminal import console
from httpbench.errors import UsageError
from httpbench.text import listed

if TYPE_CHECKING:
    from httpbench.model import ListedRequest, Request, Target, Workload

FILE = click.Path(path_type=Path)


class RequestOptions(Options):
    """Options for one request, and for the correct response."""

    workload: str | None = option(
        "--workload",
        metavar="NAME",
        default_text="none; the first responses count as correct",
        help="Use a built-in workload's request and expected response.",
    )
    request_file: Path | None = option(
        "--request", type=FILE, metavar="FILE", help="File with the request: output of curl -v, or a .http file of an editor."
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
    origin: str | None = option(
        "--origin",
        type=ORIGIN,
        metavar="ORIGIN",
        default_text="the server's",
        help="Origin of the requests in files, if it is another server.",
    )

    def as_workload(self, urls: Sequence[str], default: str | None = None) -> Workload:
        """Return the workload that the user named, or else the workload ``default``, with the request options applied.

        If neither is given, the workload accepts any successful response.
        """
        from httpbench import catalog
        from httpbench.load.requests import name_of
        from httpbench.model import Expectation, Workload

        refuse_together({"--workload": self.workload, "--request": self.request_file})
        self._check_origin(self.request_file)
        name = self.workload or (None if self.request_file else default)
        base = catalog.load(()).workload(name) if name else _any_request()
        request, expect = self._request(base.request, urls), self._expected()
        if base.parts:
            if request != base.request or expect:
                what = f"workload {base.name} has several requests, so request options cannot change it"
                raise UsageError(what, hint="remove the request options")
            return base
        return Workload(
            name=name or name_of(request),
            description=base.description,
            request=request,
            expect=Expectation.model_validate({**base.expect.model_dump(), **expect}),
            test=base.test,
        )

    def applied(self, target: Target) -> Target:
        """Return the target without its declared paths if the user specified what to request, else unchanged."""
        return target.at("/") if self._defines_path else target

    @property
    def _defines_path(self) -> bool:
        return self.path is not None or self.request_file is not None

    def _request(self, base: Request, urls: Sequence[str], *, is_template: bool = False) -> Request:
        """Return the request in the user's file, or else ``base``, with the request options applied."""
        from pydantic import ValidationError

        from httpbench import catalog
        from httpbench.load.request_files import read_request
        from httpbench.model import Request
        from httpbench.run import path_of

        body, headers = _text(self.body, "--body"), self._headers() or None
        method = self.method or ("POST" if body else None)
        if self.request_file:
            base = read_request(self.request_file, self._origins(urls), has_body=body is not None, is_template=is_template)
            method, headers = self.method, _merged(base.headers, headers or {})
        path = self.path or (None if self.request_file else path_of(urls))
        try:
            return Request.model_validate({**base.model_dump(), **_given(method=method, path=path, headers=headers, body=body)})
        except ValidationError as error:
            raise UsageError("\n".join(catalog.sentences(Request, error))) from None

    def _check_origin(self, file: Path | None) -> None:
        if self.origin and file is None:
            raise UsageError("--origin applies to URLs in files only", hint="remove it")

    def _headers(self) -> dict[str, str]:
        return dict(pair(text, ":", "-H", "'Name: value'") for text in self.headers)

    def _expected(self) -> dict[str, Any]:
        """Return the fields of the expectation that the user specified."""
        return _given(status=self.expect_status, body=_text(self.expect_body, "--expect-body"))

    def _origins(self, urls: Sequence[str]) -> set[str]:
        """Return the origins whose requests in files may be sent. Empty: any, because httpbench chooses the server's port."""
        from httpbench.load.text_file import origin_of

        return {self.origin} if self.origin else {origin for origin in map(origin_of, urls) if origin}


class RequestsOptions(RequestOptions):
    """Options for one request or many, and for the correct responses."""

    url_list: Path | None = option("--urls", type=FILE, metavar="FILE", help="File with a URL or path and, optionally, a weight per line.")
    data: Path | None = option(
        "--data", type=FILE, metavar="FILE", help="CSV or JSON Lines file: one request per row, with {column} in path, header or body."
    )
    har: Path | None = option("--har", type=FILE, metavar="FILE", help="HAR export of a browser: its requests to the server's origin.")

    def as_workload(self, urls: Sequence[str], default: str | None = None) -> Workload:
        """Return the workload of the requests in the user's file or, without such a file, of the one request."""
        from httpbench.load.requests import workload_of
        from httpbench.model import Expectation

        file = self.url_list or self.data or self.har
        if file is None:
            return super().as_workload(urls, default)
        self._check()
        template = self._request(_any_request().request, [] if file != self.data else urls, is_template=self.data is not None)
        requests, given = self._listed(template, self._origins(urls)), self._expected()
        if given:
            requests = [each.model_copy(update={"expect": None}) for each in requests]
        expect = Expectation.model_validate({"status": None, **given})
        return workload_of(file, requests, expect, template if self.data else None)

    @property
    def _defines_path(self) -> bool:
        return super()._defines_path or any((self.url_list, self.data, self.har))

    def _check(self) -> None:
        """Raise :class:`UsageError` if two options define the same part of the requests."""
        refuse_together({"--urls": self.url_list, "--data": self.data, "--har": self.har})
        self._check_origin(self.url_list or self.har or self.request_file)
        one = {"--workload": self.workload, "--request": self.request_file}
        refuse_together({"--data": self.data, "--workload": self.workload})
        for name, value in {**one, "--path": self.path}.items():
            refuse_together({"--urls": self.url_list, name: value})
        for name, value in {**one, "--path": self.path, "--method": self.method, "--body": self.body}.items():
            refuse_together({"--har": self.har, name: value})

    def _listed(self, template: Request, origins: set[str]) -> Sequence[ListedRequest]:
        """Return the requests in the user's file."""
        from httpbench.load.data_file import read_rows
        from httpbench.load.request_files import read_har, read_urls
        from httpbench.model import ListedRequest

        if self.url_list:
            weights = read_urls(self.url_list, origins)
            return [ListedRequest(weight=weight, request=template.model_copy(update={"path": path})) for path, weight in weights.items()]
        if self.data:
            return read_rows(self.data, template)
        assert self.har is not None, "the caller checks that there is a file"
        recording = read_har(self.har, origins)
        if recording.left_out:
            left_out = listed(f"{count:,} {reason}" for reason, count in recording.left_out.items())
            console.echo(f"{self.har}: sends {sum(each.weight for each in recording.requests):,} requests, without {left_out}", err=True)
        given = self._headers()
        return [
            each.model_copy(update={"request": each.request.model_copy(update={"headers": _merged(each.request.headers, given)})})
            for each in recording.requests
        ]


def refuse_together(options: Mapping[str, object]) -> None:
    """Raise :class:`UsageError` if more than one of the options is given."""
    names = [name for name, value in options.items() if value is not None]
    if len(names) > 1:
        raise UsageError(f"{names[0]} and {names[1]} both define the request", hint="remove one of them")


def _any_request() -> Workload:
    from httpbench.model import Expectation, Workload

    return Workload(name="request", description="A request from the command line", expect=Expectation(status=None))


def _merged(headers: Mapping[str, str], given: Mapping[str, str]) -> dict[str, str]:
    """Return the header fields of a file, with those that the user gave instead of fields of the same name."""
    names = {name.lower() for name in given}
    return {**{name: value for name, value in headers.items() if name.lower() not in names}, **given}


def _given(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def pair(text: str, mark: str, option: str, form: str) -> tuple[str, str]:
    """Split an option's value at ``mark`` into a name and a value. Raise :class:`UsageError` if it has no name."""
    name, found, value = text.partition(mark)
    if not found or not name.strip():
        raise UsageError(f"{option} has no name before `{mark}`", hint=f"write it as {form}")  # don't print the text: it may be secret
    return name.strip(), value.strip() if mark == ":" else value


def _text(given: str | None, option: str) -> str | None:
    """Return the given text or, for ``@FILE``, the content of the file."""
    if given is None or not given.startswith("@"):
        return given
    from httpbench.load.text_file import FILE_BYTES_MAX, content_of

    try:
        content = content_of(Path(given[1:]))
        if len(content) > FILE_BYTES_MAX:
            raise OSError(errno.EFBIG, f"it is larger than {FILE_BYTES_MAX >> 20} MB")
        return TextIOWrapper(BytesIO(content), encoding="utf-8").read()  # converts the ends of lines
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{option}: cannot read {given[1:]}: {getattr(error, 'strerror', None) or error}") from None
