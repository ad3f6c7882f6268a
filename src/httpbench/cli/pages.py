"""Pages of the documentation that are generated: the command line from its definition, the targets from their manifests.

``python -m httpbench.cli.pages DIR`` writes them; tests fail when those in ``docs`` are not current. What depends on the machine, the
state of each row, stands last in its page, below ``STATES``, and no test compares it.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from httpbench import catalog, host
from httpbench.cli.main import cli
from httpbench.report import render_targets
from httpbench.report.markdown import pipe_table
from httpbench.run import TargetState, states

STATES = "## State on one machine"

CLI_INTRO = """\
# Command line

Data goes to standard output, everything else to standard error. Exit codes: 0 fine, 1 a run failed or something is missing, 2 wrong
usage or configuration, 3 a gate was breached, 130 interrupted. Durations are written as `500ms`, `10s` or `2m`, counts as `64`, `10k`
or `1M`. `NO_COLOR` turns colour off. `httpbench VERB --help` says the same as this page.

`ROW` is an id (`c/epoll/level`), a part of one (`epoll`, `golang`) or a category (`micro`, `platform`, `fullstack`). Without any,
`list` and `setup` are about all rows, and `bench` about those of its suite.

## Completion

Verbs, options and rows complete on the tab key once the shell has read what `httpbench` prints for it:

- bash: `eval "$(_HTTPBENCH_COMPLETE=bash_source httpbench)"` in `~/.bashrc`
- zsh: `eval "$(_HTTPBENCH_COMPLETE=zsh_source httpbench)"` in `~/.zshrc`
- fish: `_HTTPBENCH_COMPLETE=fish_source httpbench | source` in `~/.config/fish/config.fish`
"""

TARGETS_INTRO = """\
# Targets

Each row of `httpbench list`: its upstream, its category (`micro`: an event loop that answers; `platform`: parser, router, response
writer; `fullstack`), its tuning (`default`: as its documentation shows it; `tuned`: the documented production settings; `engine`:
below the framework's public surface), and how it fills cores (`single`: one core's worth; `multi`: all by itself; `prefork`: one copy
per core). Limits are what it cannot do by design; `httpbench verify` checks that it is so.
"""


def cli_page() -> str:
    """Every verb, argument and option."""
    root = click.Context(cli, info_name="httpbench")
    lines = [CLI_INTRO]
    for name in cli.list_commands(root):
        command = cli.get_command(root, name)
        assert command is not None
        lines += _verb(command, click.Context(command, info_name=name, parent=root))
    return "\n".join(lines).rstrip() + "\n"


def targets_page() -> str:
    """Every target; the part that is the same on every machine."""
    return f"{TARGETS_INTRO}\n{render_targets(catalog.load().targets.values())}"


def states_section() -> str:
    """Every row's state and version here."""
    targets = sorted(catalog.load().targets.values(), key=lambda target: target.id)
    rows = [(target.id, _state(state), state.version or "") for target, state in zip(targets, states(targets), strict=True)]
    where = host.read_environment(catalog.root(), {}).os
    table = "\n".join(pipe_table(("Row", "State", "Version"), (False, False, False), rows))
    return f"{STATES}\n\nOf the machine that this page was generated on ({where}); `httpbench list` says it of yours.\n\n{table}\n"


def write(folder: Path) -> None:
    (folder / "cli.md").write_text(cli_page(), encoding="utf-8")
    (folder / "targets.md").write_text(f"{targets_page()}\n{states_section()}", encoding="utf-8")


def _verb(command: click.Command, context: click.Context) -> Iterator[str]:
    yield f"## `{' '.join([context.command_path, *command.collect_usage_pieces(context)])}`"
    yield ""
    paragraphs = inspect.cleandoc(command.help or "").split("\n\n")
    for paragraph in paragraphs:
        kept = paragraph.removeprefix("\b\n")  # click's mark of lines that are not to be joined
        yield f"{' '.join(paragraph.split())}\n" if kept == paragraph else f"```\n{kept}\n```\n"
    for parameter in command.get_params(context):
        if isinstance(parameter, click.Option) and "--help" not in parameter.opts:
            option, meaning = parameter.get_help_record(context) or (parameter.opts[0], "")
            yield f"- `{option}`: {meaning}"
    yield ""


def _state(state: TargetState) -> str:
    return f"{state.state} {state.reason}" if state.reason else str(state.state)


if __name__ == "__main__":
    write(Path(sys.argv[1]))
