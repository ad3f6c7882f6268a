"""Generated pages of the documentation: the command line from its definition, the targets from their manifests.

``python -m tools.pages DIR`` writes them; a test fails if those in ``docs`` are outdated. The state of each target depends on the
machine: it stands last in its page, below ``STATES``, and no test compares it.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from httpbench import catalog, host
from httpbench.cli.exit_codes import ExitCode
from httpbench.cli.main import cli
from httpbench.cli.options import foreign as foreign_options
from httpbench.report import render_targets
from httpbench.report.markdown.parts import pipe_table
from httpbench.run import TargetState, sources_of, states

STATES = "## State on one machine"

CLI_INTRO = """\
# Command line

This page lists every verb and option. `httpbench VERB --help` prints the same text.

- `TARGET` is an id (`c/epoll/level`), a part of one (`epoll`, `golang`) or a category (`micro`, `platform`, `fullstack`).
- `DURATION` is written as `500ms`, `10s` or `2m`, `COUNT` as `64`, `10k` or `1M`, `PERCENT` as `2%`.
- Data goes to standard output, everything else to standard error. `NO_COLOR` turns colour off.

## Exit codes

"""

COMPLETION = """\
## Completion

`httpbench completion` makes the tab key complete verbs, options and targets in bash, zsh or fish.
"""

TARGETS_INTRO = """\
# Targets

Each target has its upstream, and:

- its category: `micro` (an event loop that responds), `platform` (parser, router and response writer) or `fullstack`
- its tuning: `default` (as its documentation shows), `tuned` (the documented production settings) or `engine` (below the framework's
  public API)
- its scaling: `single` (one core), `multi` (all cores by itself) or `prefork` (one copy per core)
- its limits: what it cannot do by design; `httpbench verify` checks that this is true
- its proof: when, where and with which toolchain it last passed `httpbench verify`, from `targets/verified.toml`. A target that is *never
  built* was written without its toolchain; *before its sources changed* means that today's sources were not verified.
"""


FOREIGN = """\
## Options of other tools

An option that a verb does not have gets an error that names ours:

"""


def cli_page() -> str:
    """Return the page of every verb, argument and option."""
    root = click.Context(cli, info_name="httpbench")
    codes = pipe_table(("Code", "Meaning"), (True, False), [(str(code.value), code.meaning) for code in ExitCode])
    foreign = [f"- `{name}`: {hint}\n" for name, (_, hint) in foreign_options.OURS.items()]
    lines = [CLI_INTRO + "\n".join(codes) + "\n", COMPLETION, FOREIGN + "".join(foreign)]
    for name in cli.list_commands(root):
        command = cli.get_command(root, name)
        assert command is not None
        lines += _verb(command, click.Context(command, info_name=name, parent=root))
    return "\n".join(lines).rstrip() + "\n"


def targets_page() -> str:
    """Return the page of targets, which is the same on every machine."""
    targets = catalog.load().targets
    sources = {name: sources_of(target) for name, target in targets.items()}
    return f"{TARGETS_INTRO}\n{render_targets(targets.values(), catalog.read_proofs(), sources)}"


def states_section() -> str:
    """Return the state and version of every target on this machine."""
    targets = sorted(catalog.load().targets.values(), key=lambda target: target.id)
    lines = [(target.id, _state(state), state.version or "") for target, state in zip(targets, states(targets), strict=True)]
    where = host.read_environment(catalog.root(), {}).os
    table = "\n".join(pipe_table(("Target", "State", "Version"), (False, False, False), lines))
    return f"{STATES}\n\nOn the machine that generated this page ({where}). `httpbench list` shows the state on yours.\n\n{table}\n"


def write(folder: Path) -> None:
    """Write both pages."""
    (folder / "cli.md").write_text(cli_page(), encoding="utf-8")
    (folder / "targets.md").write_text(f"{targets_page()}\n{states_section()}", encoding="utf-8")


def _verb(command: click.Command, context: click.Context) -> Iterator[str]:
    yield f"## `{' '.join([context.command_path, *command.collect_usage_pieces(context)])}`"
    yield ""
    paragraphs = inspect.cleandoc(command.help or "").split("\n\n")
    for paragraph in paragraphs:
        kept = paragraph.removeprefix("\b\n")  # click's mark of lines that stay as they are
        yield f"{' '.join(paragraph.split())}\n" if kept == paragraph else f"```\n{kept}\n```\n"
    for parameter in command.get_params(context):
        if isinstance(parameter, click.Option) and "--help" not in parameter.opts:
            option, meaning = parameter.get_help_record(context) or (parameter.opts[0], "")
            yield f"- `{option}`: {' '.join(meaning.split())}"
    yield ""


def _state(state: TargetState) -> str:
    return f"{state.state} {state.reason}" if state.reason else str(state.state)


if __name__ == "__main__":
    write(Path(sys.argv[1]))
