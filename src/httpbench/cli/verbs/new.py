"""``httpbench new``: create a target of your own."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from httpbench.cli.options.fields import Options, argument, command, option
from httpbench.cli.terminal import console


class NewOptions(Options):
    name: str = argument(metavar="NAME")
    language: str = option(
        "--language", type=click.Choice(("c", "go", "node", "python", "rust")), required=True, help="Language of the server."
    )
    folder: Path | None = option("--dir", metavar="DIR", type=click.Path(path_type=Path), default_text="NAME", help="Folder to create.")


@command(NewOptions)
def new(options: NewOptions) -> None:
    """Create a target of your own.

    Writes a folder with target.toml and a server in one file, which passes `verify`. Replace the server with yours.

    \b
    httpbench new mine --language go   ./mine/target.toml and ./mine/main.go
    """
    from httpbench.catalog.new_target import create

    folder = options.folder or Path(options.name)
    made = create(folder, options.name, options.language)
    for file in made.files:
        console.echo(f"created {file}", err=True)
    selected = f"--targets {shlex.quote(str(folder))} {made.id}"
    console.echo(f"check it: httpbench verify {selected}", err=True)
    console.echo(f"measure it: httpbench bench {selected} c/nginx -d 3s", err=True)
