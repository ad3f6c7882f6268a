"""``httpbench completion``: install tab completion."""

from __future__ import annotations

import os
from pathlib import Path

import click

from httpbench.cli.options.fields import Options, argument, command, option
from httpbench.cli.terminal import console
from httpbench.errors import UsageError
from httpbench.paths import base_folder

SHELLS = ("bash", "zsh", "fish")
DATA, CONFIG = ("XDG_DATA_HOME", ".local/share"), ("XDG_CONFIG_HOME", ".config")

BASH_LOADERS = ("/usr/share/bash-completion/bash_completion", "/usr/local/share/bash-completion/bash_completion")
"""Files of the bash-completion package. Bash loads the installed completion script only if one of these files exists."""


class CompletionOptions(Options):
    shell: str | None = argument(required=False, type=click.Choice(SHELLS), metavar="[SHELL]")
    only_print: bool = option("--print", is_flag=True, help="Print the script, and install nothing.")


@command(CompletionOptions)
def completion(options: CompletionOptions) -> None:
    """Install tab completion for your shell.

    Completes verbs, options and targets in new shells. SHELL is bash, zsh or fish; default: the one in the environment variable SHELL.
    For zsh, adds the folder of the completion script to fpath in .zshrc.

    \b
    httpbench completion               install for your shell
    httpbench completion fish          install for fish
    httpbench completion zsh --print   print the script
    """
    shell = options.shell or _own_shell()
    script = _script(shell)
    if options.only_print:
        console.write(script)
        return
    path = _place(shell)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        console.save(script, path)
        added = _add_to_zshrc(path.parent) if shell == "zsh" else None
    except OSError as error:
        hint = f"httpbench completion {shell} --print prints the script"
        raise UsageError(f"cannot write {error.filename}: {error.strerror}", hint=hint) from None
    console.echo(f"installed {path}; start a new {shell}", err=True)
    if added:
        console.echo(f"added its folder to {added}", err=True)
    if shell == "bash" and not any(Path(loader).exists() for loader in BASH_LOADERS):
        console.echo(f"bash loads it if the package bash-completion is installed; otherwise add to ~/.bashrc: source {path}", err=True)


def _own_shell() -> str:
    """Return the user's shell. Raise :class:`UsageError` if it is not supported."""
    name = Path(os.environ.get("SHELL", "")).name
    if name not in SHELLS:
        raise UsageError(f"there is no completion for {name or 'an unknown shell'}", hint=f"name one: {', '.join(SHELLS)}")
    return name


def _script(shell: str) -> str:
    from click.shell_completion import get_completion_class

    from httpbench.cli.main import cli

    kind = get_completion_class(shell)
    assert kind is not None
    return kind(cli, {}, "httpbench", "_HTTPBENCH_COMPLETE").source().strip() + "\n"


def _place(shell: str) -> Path:
    """Return the path of the installed script. By default, zsh doesn't search the script's folder."""
    if shell == "bash":
        named = os.environ.get("BASH_COMPLETION_USER_DIR", "").split(":")[0]
        return (Path(named) if named else base_folder(*DATA) / "bash-completion") / "completions" / "httpbench"
    if shell == "zsh":
        return base_folder(*DATA) / "zsh" / "site-functions" / "_httpbench"
    return base_folder(*CONFIG) / "fish" / "completions" / "httpbench.fish"


def _add_to_zshrc(folder: Path) -> Path | None:
    """Add the folder to ``fpath`` in .zshrc, and return the path of .zshrc.

    Return ``None`` if .zshrc already contains the folder.
    """
    path = Path(os.environ.get("ZDOTDIR") or Path.home()) / ".zshrc"
    before = path.read_text(encoding="utf-8", errors="surrogateescape") if path.exists() else ""
    if str(folder) in before:
        return None
    gap = "\n" if before and not before.endswith("\n") else ""
    lines = f'{gap}# Completion of httpbench.\nfpath=("{folder}" $fpath)\nautoload -Uz compinit && compinit\n'
    with path.open("a", encoding="utf-8") as file:
        file.write(lines)
    return path
