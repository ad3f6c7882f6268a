"""Options of verbs that take commands and URLs: the servers to measure."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from httpbench.cli.options.fields import Options, group, option
from httpbench.cli.options.load import ShareOptions
from httpbench.cli.options.params import SERVER_URL
from httpbench.cli.options.request import pair
from httpbench.cli.options.shared import port_option, scaling_option, start_timeout_option
from httpbench.errors import SelectionError, UsageError

if TYPE_CHECKING:
    from httpbench.cli.options.isolation import IsolationOptions
    from httpbench.model import Isolation, Kind, Scaling, Target
    from httpbench.run import RunPlan, Servers


class CommandOptions(Options):
    """Options for starting servers from commands."""

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

    def target(self, command: str, name: str, folder: Path) -> Target:
        """Return the server that a command starts in a folder. Raise :class:`UsageError` if it is invalid."""
        from httpbench.run import targets_of

        return targets_of(replace(self._servers(), commands=(command,), names=(name,), folder=folder))[0]

    def _servers(self) -> Servers:
        """Return these options, without any server."""
        from httpbench.run import Servers

        return Servers(
            prepare=self.prepare,
            shell=self.shell,
            port=self.port,
            folder=self.cwd,
            env=self._environment(),
            scaling=self.chosen_scaling,
        )

    def _environment(self) -> dict[str, str]:
        """Return the variables that commands get in addition to the basic ones."""
        from httpbench.host import inherited

        return {**(inherited.withheld() if self.env_all else {}), **dict(_variable(text) for text in self.env)}


class ServerOptions(CommandOptions):
    """Options for starting servers from commands, and for the URLs of running servers."""

    urls: tuple[str, ...] = option(
        "--url", type=SERVER_URL, multiple=True, metavar="URL", help="URL of a running server, or unix:PATH. It is never restarted."
    )

    def targets(
        self,
        commands: tuple[str, ...],
        names: tuple[str, ...] = (),
        images: tuple[str, ...] = (),
        isolation: Isolation | None = None,
    ) -> list[Target]:
        """Return the servers: commands, then URLs, then images. Raise :class:`UsageError` if one of them is invalid."""
        from httpbench.run import targets_of

        return targets_of(replace(self._servers(), commands=commands, urls=self.urls, images=images, isolation=isolation, names=names))


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


def _variable(text: str) -> tuple[str, str]:
    """Parse ``KEY=VALUE``, or ``KEY`` with its value from the environment."""
    if "=" in text:
        return pair(text, "=", "--env", "KEY=VALUE")
    if text not in os.environ:
        raise UsageError(f"--env {text}: the environment has no such variable", hint="write it as KEY=VALUE")
    return text, os.environ[text]
