"""``httpbench serve``: a dashboard of all stored runs, or a static copy of it."""

from __future__ import annotations

import os
from pathlib import Path

import click

from httpbench.cli.options.fields import Options, command, option
from httpbench.cli.options.output import db_option
from httpbench.cli.terminal import console

HOST = "127.0.0.1"
PORT = 8420
RUNS = 100
NICENESS = 10
"""Niceness of the dashboard. It gives measurements on the same machine priority over the dashboard."""


class ServeOptions(Options):
    host: str = option("--host", default=HOST, metavar="ADDRESS", help="Address to listen on. Any other than loopback requires a token.")
    port: int = option("--port", type=click.IntRange(0, 65535), default=PORT, metavar="N", help="Port to listen on. 0: any free port.")
    token: bool = option("--token", is_flag=True, help="Require a token on loopback too.")
    allow_host: tuple[str, ...] = option(
        "--allow-host", multiple=True, metavar="NAME", help="Also serve requests with this name in the Host header."
    )
    export: Path | None = option(
        "--export", type=click.Path(file_okay=False, path_type=Path), metavar="DIR", help="Write the pages to DIR as files, and exit."
    )
    runs: int = option("-n", "--runs", type=click.IntRange(1), default=RUNS, metavar="N", help="Newest runs that --export writes.")
    db: Path = db_option()


@command(ServeOptions)
def serve(options: ServeOptions) -> None:
    """Show all stored runs in a browser, including runs in progress.

    Prints the address, and serves until Ctrl-C. Never writes to the results database.

    \b
    httpbench serve                            on loopback
    httpbench serve --host 0.0.0.0             for other hosts, with a token
    httpbench serve --export public --runs 20  the same pages as files
    """
    from httpbench.web import check_dashboard

    check_dashboard()
    if options.export is not None:
        from httpbench.web.export import export

        count = export(options.db, options.export, options.runs, lambda path: console.echo(path, err=True))
        console.echo(f"wrote {count:,} files; open {options.export / 'index.html'}")
        return
    from httpbench.web.server import serve as run

    os.nice(NICENESS)
    try:
        run(
            options.db,
            options.host,
            options.port,
            names=options.allow_host,
            wants_token=options.token,
            started=_introduce,
            say=lambda text: console.echo(text, err=True),
        )
    except KeyboardInterrupt:
        console.echo("stopped", err=True)


def _introduce(address: str) -> None:
    console.echo(address)
    console.echo("the dashboard; Ctrl-C stops it", err=True)
